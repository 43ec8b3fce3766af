# Two commands do all the set-up: `make demo` converts a sample, `make test` runs the tests.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FILE ?= samples/letter.pdf

.PHONY: demo test lint bench mini clean

demo: $(VENV)/.ready
	$(BIN)/docparse $(FILE)

test: $(VENV)/.ready
	OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -n auto --dist loadfile

lint: $(VENV)/.ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(VENV)/.ready
	$(BIN)/python -m benchmarks.hsd samples/*.pdf

mini: $(VENV)/.ready
	$(BIN)/pip install --quiet --editable ".[train]"
	$(BIN)/python -m models.train models/data

# The CPU build of torch: everyone else may have any from 2.6 on.
$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV)
