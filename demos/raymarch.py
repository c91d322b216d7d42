"""A scene without triangles: distance functions, marched along each pixel's ray."""

import numpy as np

from gpgpu_gl import render as gr


def main(argv: list[str] | None = None) -> None:
    app = gr.App(__doc__ or "", size=(480, 360), argv=argv)

    def frame(t: float) -> object:
        size = app.window.size if app.window else app.size
        eye = (4.6 * np.cos(0.3 * t + 0.9), 2.4, 4.6 * np.sin(0.3 * t + 0.9))
        return gr.paint("raymarch", size, eye=eye, target=(0.0, 0.65, 0.0), time=t)

    app.run(frame)


if __name__ == "__main__":
    main()
