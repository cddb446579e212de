# Everything runs in a virtual environment inside the project folder.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_WORKERS ?= 2

.PHONY: help demo test test-engines test-experiments lint docs bench kernels clean

help:
	@echo "make demo   train a model on the bundled loan data and explain its refusals"
	@echo "make test   linters, type checks and all tests"
	@echo "make test-engines   install Dask, Ray and Spark and test batches on them"
	@echo "make test-experiments   a quick run of the whole paper, minutes on two cores"
	@echo "make lint   linters and type checks only"
	@echo "make docs   run the examples and the code in the documentation"
	@echo "make bench  run the benchmarks"
	@echo "make kernels   build the archives of kernels, after a change to one"

# The extension is built again when one of these changes, and only then.
NATIVE := CMakeLists.txt $(shell find src/sev/_native -name '*.?pp')
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Two stamps, so that the demo does not wait for the test tools; the second covers the first.
$(VENV)/.demo-installed: pyproject.toml constraints.txt $(NATIVE) | $(BIN)/python
	$(PIP_INSTALL) -e ".[plots]"
	touch $@

$(VENV)/.dev-installed: pyproject.toml constraints.txt $(NATIVE) | $(BIN)/python
	$(PIP_INSTALL) -e ".[dev]"
	touch $(VENV)/.demo-installed $@

demo: $(VENV)/.demo-installed
	$(BIN)/python -m sev.demo

lint: $(VENV)/.dev-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS)

# A third stamp: the engines are large. Their traffic stays on this machine.
$(VENV)/.engines-installed: $(VENV)/.dev-installed
	$(PIP_INSTALL) -e ".[engines]"
	touch $@

test-engines: $(VENV)/.engines-installed
	SEV_ENGINE_ROWS=200000 RAY_USAGE_STATS_ENABLED=0 SPARK_LOCAL_IP=127.0.0.1 $(BIN)/python -m pytest tests/batch/test_engines.py

# Without SEV_DATA_HOME only the bundled German Credit is used.
$(VENV)/.compare-installed: $(VENV)/.dev-installed
	$(PIP_INSTALL) -e ".[compare]"
	touch $@

test-experiments: $(VENV)/.compare-installed
	SEV_QUICK_RUN=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/experiments

docs: $(VENV)/.dev-installed
	for example in examples/*.py; do echo "== $$example"; MPLBACKEND=agg $(BIN)/python $$example || exit 1; done
	MPLBACKEND=agg $(BIN)/python docs/make_gallery.py

bench: $(VENV)/.dev-installed
	for benchmark in benchmarks/*.py; do echo "== $$benchmark"; $(BIN)/python $$benchmark || exit 1; done

kernels: $(VENV)/.dev-installed
	$(BIN)/python -m sev.kernels.build

clean:
	rm -rf $(VENV) build dist src/sev/_native*.so .mypy_cache .ruff_cache .pytest_cache .hypothesis
