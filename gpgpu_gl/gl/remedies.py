"""What to install or set, on this system, when OpenGL does not start. Standard library only, Python 3.10+."""

from __future__ import annotations


def no_opengl() -> str:
    """What mends a system on which no OpenGL context can be created."""
    return "On Debian or Ubuntu: apt-get install libegl1 libgl1 libgl1-mesa-dri"
