"""What a model's file may read: files of its own folder, and nothing else."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from PIL import Image

from gpgpu_gl.errors import FileError
from gpgpu_gl.render.texture import Texture, read_picture


class Folder:
    """The folder of a model; its parts are read by relative names that stay inside."""

    def __init__(self, model: str | os.PathLike[str]) -> None:
        self.model = Path(model)
        if not self.model.is_file():
            raise FileError(f"{model}: there is no such file")
        self.root = self.model.resolve().parent

    def path(self, name: str) -> Path:
        """The path of a part. Raises FileError for one outside of the folder, links followed, and for a missing one."""
        clean = unquote(name).replace("\\", "/")
        found = (self.root / clean).resolve()
        if ":" in clean.split("/")[0] or not found.is_relative_to(self.root):
            raise FileError(f"{self.model}: refers to {name!r}, which is outside of the model's folder; put it beside the model")
        if not found.is_file():
            raise FileError(f"{self.model}: refers to {name!r}, and there is no such file in the model's folder")
        return found

    def read(self, name: str) -> bytes:
        return self.path(name).read_bytes()

    def texture(self, name: str, data: bytes | None = None, **options: Any) -> Texture:
        """A part, or given bytes, as a texture: a magenta checkerboard and a warning where it cannot be read."""
        try:
            if data is None:
                return Texture(read_picture(self.path(name)), **options)
            with Image.open(io.BytesIO(data)) as picture:
                picture.load()
                return Texture(picture, **options)
        except (FileError, OSError, SyntaxError, ValueError) as error:
            said = str(error) if isinstance(error, FileError) else f"{self.model}: the picture {name!r} cannot be read ({error})"
            warnings.warn(f"{said}. A magenta checkerboard takes its place", RuntimeWarning, stacklevel=3)
            return Texture.broken()
