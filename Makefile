# `make demo` and `make test` each set up everything they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BLENDER := .venv-blender
BPY := bpy>=4.2,<4.3
# Tests start hundreds of short processes: compiled files are kept whatever the machine's default is.
unexport PYTHONDONTWRITEBYTECODE
BLENDER_PYTHON ?= $(shell command -v python3.11 || echo $(PYTHON))

# Neighbouring tests go to one worker (worksteal): what a module's tests share is made once, not once a worker.
# Tests run a process a core. NumPy's BLAS would start as many threads in each, which spin while they wait for work.
test test-slow test-studio: export OPENBLAS_NUM_THREADS := 1

.PHONY: demo test test-slow test-blender extension test-studio lint types docs verification clean

demo: $(READY)
	$(BIN)/bunraku demo

test: $(READY) lint
	$(BIN)/python tests/compile_kernels.py
	$(BIN)/pytest -n auto --maxprocesses 4 --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/pyright --pythonpath $(BIN)/python --threads 2

test-slow: $(READY)
	$(BIN)/python tests/compile_kernels.py
	$(BIN)/pytest -m slow -n auto --maxprocesses 4 --dist worksteal

test-blender: $(READY) $(BLENDER)/.ready
	BUNRAKU_BLENDER_PYTHON=$(BLENDER)/bin/python $(BIN)/pytest -m blender

# The Blender extension, built by Blender's own program.
extension: $(BLENDER)/.ready
	mkdir -p dist
	$(BLENDER)/bin/python $(BLENDER)/lib/python3*/site-packages/bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py build --source-dir blender --output-dir dist

# Needs Chromium on the machine (Debian: chromium; elsewhere BUNRAKU_CHROMIUM=/path/to/it); npm, where the page is built.
test-studio: $(VENV)/.studio
	$(BIN)/pytest -m studio

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

verification: $(READY)
	$(BIN)/python -m tests.verification.report docs/verification.md

$(READY): pyproject.toml
	$(PYTHON) -c "import sys; sys.exit(0 if sys.version_info >= (3, 11) else 'bunraku needs Python 3.11 or newer (got %d.%d); try: make demo PYTHON=python3.12' % sys.version_info[:2])"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

$(VENV)/.studio: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[studio-test]'
	touch $@

# Blender 4.2 as a Python module; it needs Python 3.11. A later one: make test-blender BLENDER=.venv-blender-5 BPY='bpy>=5.0,<5.1'.
# The system's libraries of a headless machine may lack some.
$(BLENDER)/.ready:
	$(BLENDER_PYTHON) -c "import sys; sys.exit(0 if sys.version_info[:2] == (3, 11) else 'Blender 4.2 needs Python 3.11 (got %d.%d); try: make test-blender BLENDER_PYTHON=python3.11' % sys.version_info[:2])"
	test -x $(BLENDER)/bin/python || $(BLENDER_PYTHON) -m venv $(BLENDER)
	$(BLENDER)/bin/python -m pip install --quiet --disable-pip-version-check '$(BPY)'
	$(BLENDER)/bin/python -c 'import bpy'
	touch $@

clean:
	rm -rf $(VENV) $(BLENDER) build dist site .pytest_cache .ruff_cache
