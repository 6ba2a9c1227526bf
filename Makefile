# Needs Python 3.11 or newer and make; everything else is installed into .venv from the lock.

PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$name -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$name; break; }; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
SOURCES := optimizer models tests

.PHONY: help demo install test check lint types contracts bench lock wheel clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: .venv/.installed ## make .venv from the lock, with the project in place

.venv/.installed: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "gpuladder needs Python 3.11 or newer with venv" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) install --quiet --require-hashes -r requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: install ## solve scenarios/quickstart.yaml and write its report
	$(BIN)/gpuladder solve scenarios/quickstart.yaml

test: install ## run the tests
	$(BIN)/python -m pytest -q -n auto

check: lint types contracts test ## everything a change has to pass

lint: install ## style and layout
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install ## static types
	$(BIN)/mypy

contracts: install ## which part may import which
	$(BIN)/lint-imports

bench: install ## measure time and memory
	$(BIN)/python -m benchmarks

wheel: install ## build dist/gpuladder-*.whl
	$(BIN)/python -m build --wheel --no-isolation --outdir dist

lock: ## renew requirements.lock (needs uv)
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes \
		--no-header --no-emit-index-url --quiet --upgrade --output-file requirements.lock

clean: ## remove what the other targets made
	rm -rf .venv dist build .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
