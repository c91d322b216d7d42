"""`python -m gpgpu_gl.cli`: the command gpgpu-gl where its script is not installed."""

import sys

from gpgpu_gl.cli import main

sys.exit(main())
