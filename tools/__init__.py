"""Tools for people who work on gpgpu_gl; not part of the package."""
