# `make` lists the targets. Everything is installed into .venv; a second run installs nothing and needs no network.

PYTHON ?= python3
BIN := .venv/bin
EVENTS ?= 1000000
PIP := $(BIN)/pip --disable-pip-version-check
# pip's output as a dot for each package. It fails if pip, followed by `|| echo FAILED`, fails.
DOTS := awk '/^Collecting|^Building|^Installing/ { printf "."; fflush() } /^FAILED/ { bad = 1 } END { print ""; exit bad }'

.PHONY: help setup demo check test test-browser screenshots test-cluster test-integrations faults bench bench-emit lint types types-web reference lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' Makefile

setup: .venv/jars.stamp ## Install into .venv and fetch the JARs (PYTHON=python3.11 chooses a Python)

demo: setup ## Start a broker, emit sample events, run the job, query the tables
	@$(BIN)/lineproof demo

check: lint types ## Fast checks before a commit: lint, types and unit tests, no JVM, under two minutes
	@$(BIN)/pytest -q --numprocesses 2 tests/unit

# Two workers: one starts with the tests that share a Spark session, the other with those that start processes
# (tests/conftest.py).
test: setup lint types ## All checks: lint, types and every test but those of the next three targets
	@$(BIN)/pytest --numprocesses 2

test-browser: setup build/node/packages.stamp build/chromium.stamp ## Show every view of the page in Chromium; pictures in build/screenshots
	@rm -rf build/demo && mkdir -p build
	@$(BIN)/lineproof demo --set=home=$(CURDIR)/build/demo > build/demo.log || { cat build/demo.log; exit 1; }
	@DEMO_HOME=$(CURDIR)/build/demo $(BIN)/pytest -m browser --numprocesses 2 tests/browser

screenshots: test-browser ## Make the README's pictures of the page
	@mkdir -p docs/images
	@cp build/screenshots/overview-light-window.png docs/images/overview.png
	@cp build/screenshots/lineage-dark-window.png docs/images/lineage.png

test-cluster: setup ## Test the job on a Spark master with two workers
	@$(BIN)/pytest -m cluster

test-integrations: setup build/dbt/packages.stamp build/airflow/packages.stamp build/dagster/packages.stamp ## Test with OpenLineage clients of others: Spark, Airflow, dbt, ... (the first run downloads 400 MB)
	@$(BIN)/pytest -m integrations

faults: setup ## Test that nothing is lost when jobs, brokers and services are killed (shorter: see .ci/run)
	@$(BIN)/pytest -m faults

bench: setup ## Compare the job with a plain copy from Kafka to Delta; writes docs/benchmark.* (EVENTS=100000: shorter)
	@$(BIN)/lineproof bench --events $(EVENTS) --table docs/benchmark.md --json docs/benchmark.json

bench-emit: setup ## Measure what one emitted event costs the caller, with the broker up, stopped and killed
	@$(BIN)/python bench/emit.py

lint: .venv/package.stamp ## Check style and formatting
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

# mypy does not follow an editable install, so it reads the package from links in the layout of an installation.
types: .venv/package.stamp types-web ## Check types (mypy, strict; tsc for the page)
	@rm -rf build/types && mkdir -p build/types/lineproof
	@ln -s $(addprefix ../../../,$(wildcard lineproof/*.py) lineproof/cli lineproof/local lineproof/settings bench conf producers quality schemas serving streaming topics) build/types/lineproof
	@MYPYPATH=build/types $(BIN)/mypy -p lineproof
	@MYPYPATH=build/types $(BIN)/mypy tests
	@MYPYPATH=build/types:docs/make_reference $(BIN)/mypy docs/make_reference

types-web: build/node/packages.stamp ## Check the types of the page (tsc, strict)
	@build/node/node_modules/.bin/tsc --project serving/web

reference: .venv/package.stamp ## Write docs/reference from the code
	@$(BIN)/python docs/make_reference

lock: ## Upgrade the versions in conf/requirements.lock and tests/integrations/requirements-*.txt
	@$(PYTHON) -m venv --clear build/uv && build/uv/bin/pip install --quiet uv
	@echo 'setuptools>=77' | build/uv/bin/uv pip compile --quiet --upgrade pyproject.toml - --extra streaming --extra quality --extra server --extra dev \
	    --universal --python-version 3.10 --no-emit-index-url --no-header --output-file conf/requirements.lock
	@printf 'setuptools>=77\ndbt-core<1.12\ndbt-duckdb==1.11.*\nopenlineage-dbt==1.54.*\n' \
	    | build/uv/bin/uv pip compile --quiet --upgrade pyproject.toml - \
	    --universal --python-version 3.10 --no-emit-index-url --no-header --output-file tests/integrations/requirements-dbt.txt
	@printf 'apache-airflow==3.3.*\napache-airflow-providers-openlineage==2.20.*\n' \
	    | build/uv/bin/uv pip compile --quiet --upgrade - \
	    --universal --python-version 3.10 --no-emit-index-url --no-header --output-file tests/integrations/requirements-airflow.txt
	@printf 'dagster==1.13.*\ndagster-openlineage==0.2.*\n' \
	    | build/uv/bin/uv pip compile --quiet --upgrade - \
	    --universal --python-version 3.10 --no-emit-index-url --no-header --output-file tests/integrations/requirements-dagster.txt

clean: ## Remove everything that make created; your data in .lineproof stays
	@rm -rf .venv build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache

.venv/packages.stamp: conf/requirements.lock
	@sh conf/preflight.sh '$(PYTHON)'
	@test -x $(BIN)/python || { echo "Creating .venv ..."; '$(PYTHON)' -m venv .venv; }
	@printf 'Installing Python packages (about 500 MB, a minute or two) '
	@{ $(PIP) install --use-pep517 --requirement conf/requirements.lock || echo FAILED; } | $(DOTS)
	@touch $@

.venv/package.stamp: .venv/packages.stamp pyproject.toml
	@echo 'Installing lineproof ...'
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

.venv/jars.stamp: .venv/package.stamp conf/ivy.xml
	@echo 'Fetching JARs (about 70 MB, about a minute) ...'
	@$(BIN)/lineproof jars
	@touch $@

# dbt in an environment of its own, as its users have it, with lineproof but without lineproof's extras.
build/dbt/packages.stamp: tests/integrations/requirements-dbt.txt pyproject.toml
	@'$(PYTHON)' -m venv --clear build/dbt
	@printf 'Installing dbt and lineproof into build/dbt (about 90 packages, a minute or two) '
	@{ build/dbt/bin/pip --disable-pip-version-check install --requirement $< || echo FAILED; } | $(DOTS)
	@build/dbt/bin/pip --disable-pip-version-check install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# Airflow and Dagster, each in an environment of its own, without anything of lineproof: they know the URL of the gateway.
build/%/packages.stamp: tests/integrations/requirements-%.txt
	@'$(PYTHON)' -m venv --clear build/$*
	@printf 'Installing $* into build/$* (a minute or two) '
	@{ build/$*/bin/pip --disable-pip-version-check install --requirement $< || echo FAILED; } | $(DOTS)
	@touch $@

# The compiler that checks the types of the page, the types of its libraries, and what checks that everyone can use it.
build/node/packages.stamp: tests/browser/package.json
	@sh conf/system_package.sh npm nodejs npm
	@mkdir -p build/node && cp $< build/node/
	@npm install --prefix build/node --no-package-lock --no-audit --no-fund --silent
	@touch $@

build/chromium.stamp:
	@sh conf/system_package.sh chromium chromium fonts-dejavu-core fonts-noto-color-emoji
	@mkdir -p build && touch $@
