# `make` lists the targets. All that is installed lands in .venv; a second run does nothing and needs no network.

PYTHON ?= python3
BIN := .venv/bin
EVENTS ?= 1000000
PIP := $(BIN)/pip --disable-pip-version-check

.PHONY: help setup demo test test-cluster faults bench bench-emit lint types lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: .venv/jars.stamp ## Install into .venv and fetch the JARs (PYTHON=python3.11 chooses a Python)

demo: setup ## See it work: a broker, sample events, the job, the tables
	@$(BIN)/lineproof demo

# Two workers: the tests that share a Spark session, and those that start processes (tests/conftest.py).
test: setup lint types ## Lint, check the types and run all tests
	@$(BIN)/pytest --numprocesses 2 --dist each -o console_output_style=classic

test-cluster: setup ## Run the job on a Spark master with two workers (minutes on two cores)
	@$(BIN)/pytest -m cluster

faults: setup ## Kill job, brokers and services, 50 jobs and more (in short: as .ci/run does)
	@$(BIN)/pytest -m faults

bench: setup ## Measure the job against a plain copy from Kafka to Delta, into docs/benchmark.* (EVENTS=100000: in short)
	@$(BIN)/lineproof bench --events $(EVENTS) --table docs/benchmark.md --json docs/benchmark.json

bench-emit: setup ## What one emission costs its caller, with the broker up, stopped and killed
	@$(BIN)/python bench/emit.py

lint: .venv/package.stamp ## Check style and formatting
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

# mypy does not follow an editable install, so it gets the package as it will be installed, made of links.
types: .venv/package.stamp ## Check the types
	@rm -rf build/types && mkdir -p build/types/lineproof
	@ln -s $(addprefix ../../../,$(wildcard lineproof/*.py) lineproof/cli lineproof/local lineproof/settings bench conf producers quality schemas serving streaming topics) build/types/lineproof
	@MYPYPATH=build/types $(BIN)/mypy -p lineproof
	@MYPYPATH=build/types $(BIN)/mypy tests

lock: ## Choose the versions in conf/requirements.lock anew
	@$(PYTHON) -m venv --clear build/uv && build/uv/bin/pip install --quiet uv
	@echo 'setuptools>=77' | build/uv/bin/uv pip compile --quiet --upgrade pyproject.toml - --extra streaming --extra quality --extra dev \
	    --universal --python-version 3.10 --no-emit-index-url --no-header --output-file conf/requirements.lock

clean: ## Remove all that make made; your data in .lineproof stays
	@rm -rf .venv build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache

.venv/packages.stamp: conf/requirements.lock
	@sh conf/preflight.sh '$(PYTHON)'
	@test -x $(BIN)/python || { echo "Creating .venv ..."; '$(PYTHON)' -m venv .venv; }
	@printf 'Installing Python packages (about 500 MB, a minute or two) '
	@{ $(PIP) install --use-pep517 --requirement conf/requirements.lock || echo FAILED; } \
	    | awk '/^Collecting|^Building|^Installing/ { printf "."; fflush() } /^FAILED/ { bad = 1 } END { print ""; exit bad }'
	@touch $@

.venv/package.stamp: .venv/packages.stamp pyproject.toml
	@echo 'Installing lineproof ...'
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

.venv/jars.stamp: .venv/package.stamp conf/ivy.xml
	@echo 'Fetching JARs (about 70 MB, about a minute) ...'
	@$(BIN)/lineproof jars
	@touch $@
