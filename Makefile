# Two commands do all the set-up on a fresh machine: `make demo` runs the main job, `make test` passes the tests.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test environments lint

demo: .venv/ready
	$(BIN)/minrepro env create torch
	@# Exit status 1 says that a divergence was found and its script verified.
	$(BIN)/minrepro shrink --model mixer; test $$? -eq 1

test: .venv/ready environments
	$(BIN)/ruff check minrepro tests
	$(BIN)/python -m pytest -q tests

environments: .venv/ready
	$(BIN)/minrepro env create torch
	$(BIN)/minrepro env create paddle
	@# The release of a founding case: a call that it refuses is found, reduced and verified there.
	$(BIN)/minrepro env create paddle==3.0.0
	$(BIN)/minrepro env create oneflow

.venv/ready: pyproject.toml .ci/constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "minrepro needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -qq --constraint .ci/constraints.txt --editable '.[test]'
	touch $@
