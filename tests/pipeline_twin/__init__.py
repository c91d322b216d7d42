"""A reference of the emulated pipeline in plain NumPy and Python numbers: one short function a stage.

Written from OpenGL 4.6's text, one primitive, one pixel, one fragment at a time; nothing of it is fast.
"""
