"""A twin of Philox4x32-10 in NumPy, written apart from the shader, and how its words lie in a tensor."""

import numpy as np


def philox(counters: list[int], key: int) -> np.ndarray:
    """Philox4x32-10's four words of each 128-bit counter, (N, 4) uint32, in 64-bit integers."""
    low = np.uint64(0xFFFFFFFF)
    c = np.array([[(n >> (32 * i)) & 0xFFFFFFFF for n in counters] for i in range(4)], np.uint64)
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = np.array(
            [
                (second >> np.uint64(32)) ^ c[1] ^ np.uint64(k0),
                second & low,
                (first >> np.uint64(32)) ^ c[3] ^ np.uint64(k1),
                first & low,
            ]
        )
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c.T.astype(np.uint32)


def words(shape: tuple[int, ...], key: int, counter: int) -> np.ndarray:
    """The words of a tensor: four to a texel, each row starts a texel."""
    last = shape[-1] if shape else 1
    rows, columns = int(np.prod(shape[:-1])), -(-last // 4)
    found = philox([(counter + i) % 2**128 for i in range(rows * columns)], key)
    return found.reshape(rows, columns * 4)[:, :last].reshape(shape)
