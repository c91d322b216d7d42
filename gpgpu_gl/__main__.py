"""`python -m gpgpu_gl` is the command gpgpu-gl."""

import sys

from gpgpu_gl.cli import main

if __name__ == "__main__":
    sys.exit(main())
