# `make train` or `make test` on a fresh clone sets everything up: .venv, the package, OpenGL.
# Another Python: make PYTHON=python3.12 test        More options for training: make train ARGS="--epochs 5"

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -q
ARGS ?=
# Most of a test's time is one core's, which compiles. Measured on two cores: 8 min 1 s for 13 min 19 s.
PARALLEL := -n auto --maxprocesses 4 --dist loadfile
LAYERS := tests/test_layers.py
# Limits Mesa to the oldest OpenGL that the library supports, where only the fragment path exists.
GL33 := MESA_GL_VERSION_OVERRIDE=3.3 MESA_GLSL_VERSION_OVERRIDE=330

.PHONY: train test test-all check bench gallery clean

train: $(VENV)/.ready
	$(BIN)/gpgpu-gl train $(ARGS)

test: check
	$(PYTEST) $(PARALLEL) -m "not slow" --ignore=$(LAYERS)
	@if $(BIN)/python -m tools.on_mesa; then set -x; $(GL33) $(PYTEST) $(PARALLEL) -m "gl33 and not slow"; fi

test-all: check
	$(PYTEST) --ignore=$(LAYERS)
	@if $(BIN)/python -m tools.on_mesa; then set -x; $(GL33) $(PYTEST); fi

check: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST) $(LAYERS)
	$(BIN)/python -m tools.check_shaders

bench: $(VENV)/.ready
	$(BIN)/gpgpu-gl bench $(ARGS)

gallery: $(VENV)/.ready
	$(BIN)/python -m tools.gallery $(ARGS)

clean:
	rm -rf $(VENV) build dist runs *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.ready: pyproject.toml tools/bootstrap.py
	$(PYTHON) tools/bootstrap.py

$(VENV)/.ready-dev: pyproject.toml tools/bootstrap.py
	$(PYTHON) tools/bootstrap.py --dev
