"""Tensors as float textures, neural networks as OpenGL passes, and the pipeline that runs both."""
