"""Programs that helper processes compile: the same results with them, without them, and when they are killed."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import gpgpu_gl as gg
from gpgpu_gl.gl.ahead import Ahead, _Helper, _job, _state
from gpgpu_gl.gl.passes import Engine
from gpgpu_gl.ops.pointwise import pointwise

CHECKOUT = Path(__file__).parents[1]
# A recording of ten programs, in a process whose driver has an empty cache. Prints what the helpers did.
SCRIPT = """
import sys
import numpy as np
import gpgpu_gl as gg
from gpgpu_gl.gl import ahead
gg.device(sys.argv[1])
ahead.COLD = 0.0
sent, begun, compiled = [], [], []
send, close = ahead._Helper.send, ahead._Helper.close
def sending(self, jobs):
    if "kill" in sys.argv and self.process is not None:
        self.process.kill()
    sent.append(len(jobs))
    send(self, jobs)
def closing(self):
    if self.process is not None:
        self._listen(0.0) if "kill" not in sys.argv else None
        compiled.append(len(self.done))
        begun.append(self.process)
    close(self)
ahead._Helper.send, ahead._Helper.close = sending, closing
def f(x, w):
    y = gg.softmax(x @ w)
    return (gg.sum(y, axis=0), gg.argmax(y, axis=1), gg.max(x, axis=0), gg.logsumexp(x, axis=0), gg.permute_dims(x, (1, 0)) @ y,
            gg.concat([x, x]), gg.max_pool2d(gg.reshape(x, (1, 4, 4, 4)), 2), gg.avg_pool2d(gg.reshape(x, (1, 4, 4, 4)), 2),
            gg.pad(x, 1), gg.take(x, gg.tensor([1, 0]), axis=0))
x, w = (gg.tensor(np.random.default_rng(s).random((16, 4), np.float32)) for s in (0, 1))
w = gg.permute_dims(w, (1, 0))
for t in gg.compile(f)(x, w):
    print(repr(t.numpy().tolist()))
print(f"sent {sent and sent[0]}, compiled {sum(compiled)}, left {sum(p.poll() is None for p in begun)}", file=sys.stderr)
"""


def ran(cache: Path, *args: str, **variables: str) -> tuple[str, list[int]]:
    """Standard output of the script, and its counts."""
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT, *args],
        capture_output=True,
        text=True,
        cwd=cache,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT), "MESA_SHADER_CACHE_DIR": str(cache), "TMPDIR": str(cache)} | variables,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout, [int(word) for word in found.stderr.replace(",", "").split() if word.isdigit()]


@pytest.fixture(scope="module")
def usable():
    if not gg.device().software or gg.device().how != "egl" or Ahead(gg.device()).most == 0:
        pytest.skip("helpers compile for Mesa's software rasteriser on EGL with a second core and a cache only")


@pytest.mark.usefixtures("usable")
def test_helpers_change_no_result_even_when_killed(tmp_path, path):
    results = {}
    for name, args, variables in (
        ("alone", [], {"GPGPU_GL_AHEAD": "0"}),
        ("helped", [], {}),
        ("killed", ["kill"], {}),
    ):
        cache = tmp_path / name
        cache.mkdir()
        results[name], counts = ran(cache, path, *args, **variables)
        assert not list(cache.glob("*.jobs")), "a file of jobs was left behind"
        if name == "alone":
            assert counts == [0, 0]  # "sent []" has no number
        else:
            sent, compiled, left = counts
            assert sent >= 8
            assert left == 0
            assert (compiled > 0) == (name == "helped")
    assert results["alone"] == results["helped"] == results["killed"]


def test_each_state_of_a_program_is_a_job_of_its_own(path, monkeypatch):
    """A driver compiles a program again where the textures' sides are powers of two and were not before."""
    ahead = Ahead(gg.device())
    monkeypatch.setattr(ahead, "most", 1)
    commands = []
    monkeypatch.setattr(Engine, "issue", lambda self, command: commands.append(command))
    shapes = [(3, 12), (4, 16), (5, 20), (4, 12), (3, 16), (7, 12)]  # sides in texels: 3 3, 4 4, 5 5, 3 4, 4 3, 3 7
    for shape in shapes:
        pointwise("x0 * 0.123", (gg.tensor(np.ones(shape, np.float32)),), np.dtype(np.float32), ("float",))
    made = [c for c in commands if c.program is commands[-1].program]
    monkeypatch.setattr("gpgpu_gl.gl.ahead.LEAST", 1)
    ahead.plan(made)
    assert len(made) == 6
    assert len(ahead.planned) == 4
    assert [ahead.planned[_state(c)]["number"] for c in made] == [0, 1, 0, 2, 3, 0]
    monkeypatch.undo()
    for command in commands:
        gg.device().engine.issue(command)  # which links the program


@pytest.mark.usefixtures("usable")
def test_a_helper_compiles_what_it_is_given(path, monkeypatch):
    jobs = []
    first = Engine._first
    monkeypatch.setattr(Engine, "_first", lambda self, command: (jobs.append(_job(_state(command), 7)), first(self, command)))
    pointwise("x0 * 2.0 + 17.25", (gg.tensor([1.0, 2.0]),), np.dtype(np.float32), ("float",))
    (job,) = jobs
    broken = dict(job, number=8, stages=dict.fromkeys(job["stages"], "#version 330\nnot GLSL"))
    helper = _Helper(gg.device())
    try:
        helper.send([job, broken])
        until = time.monotonic() + 20
        while 7 not in helper.done and helper.process is not None and time.monotonic() < until:
            helper._listen(0.1)
        assert helper.done == {7}
        helper.wait(8)  # which ends it: it is begun and never done
        helper.wait(8)
        assert helper.process is None or 8 not in helper.done
    finally:
        helper.close()
    assert helper.process is None


@pytest.mark.parametrize("variable", ["GPGPU_GL_AHEAD", "MESA_SHADER_CACHE_DISABLE", "MESA_GLSL_CACHE_DISABLE"])
def test_helpers_can_be_switched_off(monkeypatch, variable):
    monkeypatch.setenv(variable, "0" if variable == "GPGPU_GL_AHEAD" else "true")
    assert Ahead(gg.device()).most == 0
