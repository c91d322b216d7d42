"""A zoom into the Mandelbrot set, every pixel computed in a shader."""

from gpgpu_gl import render as gr

CENTRE = (-0.74543, 0.11301)  # the valley of seahorses
DEEPEST = 2e-4  # float32 tells no more points apart below


def main(argv: list[str] | None = None) -> None:
    app = gr.App(__doc__ or "", size=(640, 480), argv=argv)

    def frame(t: float) -> object:
        size = app.window.size if app.window else app.size
        depth = 0.5 - 0.5 * abs(1 - (0.25 * t + 0.5) % 2) * 2 + 0.5  # 0 far away, 1 deepest, and back
        span = 2.6 * (DEEPEST / 2.6) ** max(0.0, min(depth, 1.0))
        return gr.paint("mandelbrot", size, centre=CENTRE, span=span, steps=120 + int(260 * depth))

    app.run(frame)


if __name__ == "__main__":
    main()
