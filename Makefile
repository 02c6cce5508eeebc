# Every target sets itself up; the second run is quick. `make help` lists them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DIR    ?= docs
ASK    ?= how does dowse rank results?
# The judged collections and the folder of files that `make bench` measures.
EVAL   ?= ../shared/eval
TREE   ?= $(EVAL)/trees/rust-book
STAMP  := $(VENV)/.ready
# Everything that `make run` and the tests create stays below the checkout.
export DOWSE_TEST_CACHE ?= $(CURDIR)/.dowse/cache

.PHONY: help setup run demo test test-slow lint coverage bench docs dist clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP)  ## install everything into .venv

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: Python 3.11 or newer is needed: make PYTHON=python3.12 ..." >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable ".[code]" --group dev
	@touch $@

run: setup  ## index DIR (default: the project's own docs), answer an example question, say what to type next
	@$(BIN)/python scripts/run.py --dir "$(DIR)" --ask "$(ASK)"

demo: run  ## the same: one question, then it ends

test: setup  ## every test but the slow ones
	@$(BIN)/python -m pytest -n auto -m "not slow" $(ARGS)

test-slow: setup  ## the slow end: storms, large folders, thorough properties
	@HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n auto -m slow $(ARGS)
	@HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest tests/property $(ARGS)

lint: setup  ## ruff with every rule, mypy strict
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

coverage: setup  ## tests with branch coverage
	@$(BIN)/python -m pytest -n auto -m "not slow" --cov --cov-report=term $(ARGS)

bench: setup  ## quality and speed tables, JSON under benchmarks/results (EVAL=folder of judged collections, TREE=files)
	@$(BIN)/python benchmarks/quality.py "$(EVAL)" --keep .dowse/bench
	@$(BIN)/python benchmarks/ablation.py "$(EVAL)" --keep .dowse/bench
	@$(BIN)/python benchmarks/calibrate.py "$(EVAL)" --keep .dowse/bench
	@$(BIN)/python benchmarks/latency.py "$(EVAL)"
	@$(BIN)/python benchmarks/speed.py "$(TREE)" --embed
	@$(BIN)/python benchmarks/chunking.py "$(EVAL)/chunking-eval" --keep .dowse/bench/chunking
	@$(BIN)/python benchmarks/scale.py "$(EVAL)"
	@$(BIN)/python benchmarks/watch.py
	@$(BIN)/python benchmarks/budget.py "$(TREE)"

docs: setup  ## generate docs/reference from the code
	@$(BIN)/python scripts/reference.py

dist: setup  ## build the wheel and the source archive into dist/
	@$(BIN)/python -m build --no-isolation --outdir dist .

clean:  ## remove what the targets made
	rm -rf $(VENV) .dowse dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
