"""Exits with 0 where OpenGL is Mesa's, whose version can be limited by MESA_GL_VERSION_OVERRIDE, else with 1."""

import sys

from gpgpu_gl.gl.context import device

if __name__ == "__main__":
    sys.exit("Mesa" not in device().version)
