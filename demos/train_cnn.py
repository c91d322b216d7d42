"""Trains a small convolutional network on MNIST through shader passes, in plain library calls."""

import argparse
import time

import gpgpu_gl as gg
from gpgpu_gl import nn, optim
from gpgpu_gl.data import Batches, load, normalise


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding="same"),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5, padding="same"),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(7 * 7 * 32, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def accuracy(model: nn.Module, images, labels, batch: int = 500) -> float:
    right = 0
    with gg.no_grad():
        for i in range(0, len(images), batch):
            logits = model(gg.tensor(normalise(images[i : i + batch])))
            right += int((logits.argmax(axis=1).numpy() == labels[i : i + batch]).sum())
    return right / len(images)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--steps", type=int, help="stop after so many steps")
    parser.add_argument("--path", default="auto", choices=("auto", "fragment", "compute"))
    arguments = parser.parse_args()

    print(gg.device(arguments.path))
    gg.manual_seed(0)
    mnist = load("mnist")
    model = network()
    batches = Batches(mnist.train_images, mnist.train_labels, batch_size=128, seed=0)
    steps = arguments.steps or arguments.epochs * len(batches)
    optimizer = optim.Adam(model.parameters(), lr=1.5e-3)
    schedule = optim.warmup_cosine(optimizer, warmup_steps=min(400, steps // 2), total_steps=steps)

    step, start = 0, time.perf_counter()
    while step < steps:
        for images, labels in batches:
            loss = gg.cross_entropy(model(gg.tensor(images)), gg.tensor(labels))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            step += 1
            if step % 50 == 0 or step == steps:
                rate = step * 128 / (time.perf_counter() - start)
                print(f"step {step}/{steps}: loss {loss.item():.4f}, {rate:.0f} images/s")
            if step == steps:
                break
    print(f"test accuracy {accuracy(model, mnist.test_images, mnist.test_labels):.2%}")


if __name__ == "__main__":
    main()
