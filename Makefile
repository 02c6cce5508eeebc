# Every target sets itself up; the second run is quick. `make help` lists them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DIR    ?= docs
ASK    ?= what happens when the power fails while indexing?
# The judged collections and the folder of files that `make bench` measures.
EVAL   ?= ../shared/eval
TREE   ?= $(EVAL)/trees/rust-book
# For each target of `make fuzz`.
SECONDS ?= 60
STAMP  := $(VENV)/.ready
# Everything that `make run` and the tests create stays below the checkout.
export DOWSE_TEST_CACHE ?= $(CURDIR)/.dowse/cache

.PHONY: help setup run demo test test-slow fuzz lint coverage bench docs bundle dist figures test-clients test-cluster test-deploy screenshots clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP)  ## install everything into .venv

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: Python 3.11 or newer is needed: make PYTHON=python3.12 ..." >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable ".[code,opensearch]" --group dev
	@$(BIN)/python scripts/browser.py
	@touch $@

run: setup  ## index DIR (default: the project's own docs) and serve it to agents over HTTP until Ctrl-C
	@$(BIN)/python scripts/run.py --dir "$(DIR)"

demo: setup  ## index DIR, answer the question ASK, say what to type next, end
	@$(BIN)/python scripts/run.py --dir "$(DIR)" --ask "$(ASK)"

test: setup  ## every test but the slow ones
	@$(BIN)/python -m pytest -n auto -m "not slow and not cluster and not clients" $(ARGS)

test-slow: setup  ## the slow end: storms, large folders, thorough properties
	@HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n auto -m "slow and not cluster" $(ARGS)
	@HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest tests/property $(ARGS)

figures: setup  ## the figures of docs/concepts/reliability.md: storms, power failures, faults, sizes (an hour)
	@DOWSE_TEST_FIGURES=benchmarks/results/reliability $(BIN)/python -m pytest -n auto -m slow \
		tests/test_storms.py tests/test_power_loss.py tests/test_faults.py tests/test_compaction.py tests/test_memory.py \
		tests/test_many_processes.py $(ARGS)
	@DOWSE_TEST_FIGURES=benchmarks/results/reliability $(BIN)/python -m pytest -n auto tests/security $(ARGS)
	@$(BIN)/python scripts/reference.py

test-cluster: setup  ## the same store suite on three OpenSearch nodes started here, then nodes are killed (needs a JDK and Maven)
	@if test -n "$(DOWSE_TEST_CLUSTER)"; then $(BIN)/python -m pytest -m cluster $(ARGS); else $(BIN)/python tests/cluster/nodes.py $(BIN)/python -m pytest -m cluster $(ARGS); fi

test-deploy: setup  ## the files of deploy/ against the schemas of Kubernetes (a package of 22 MB)
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --group deploy
	@$(BIN)/python -m pytest tests/test_deploy.py $(ARGS)

test-clients: setup  ## other people's MCP clients, from npm, talk to Dowse; skipped where npm is out of reach
	@$(BIN)/python scripts/clients.py $(ARGS)

fuzz: setup  ## spoiled inputs for every parser and reader, SECONDS (60) for each target; TARGETS="query read-pdf" for some, TALLY=FILE to count
	@$(BIN)/python tests/fuzz/fuzzing.py --seconds $(SECONDS) $(if $(TALLY),--tally $(TALLY)) $(TARGETS)

lint: setup  ## ruff with every rule, mypy strict, known vulnerabilities of dependencies where that can be looked up
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python scripts/audit.py

coverage: setup  ## tests with branch coverage
	@$(BIN)/python -m pytest -n auto -m "not slow and not cluster and not clients" --cov --cov-report=term $(ARGS)

bench: setup  ## quality and speed tables, JSON under benchmarks/results (EVAL=folder of judged collections, TREE=files)
	@$(BIN)/python benchmarks/quality.py "$(EVAL)" --keep .dowse/bench
	@$(BIN)/python benchmarks/ablation.py "$(EVAL)" --keep .dowse/bench
	@$(BIN)/python benchmarks/calibrate.py "$(EVAL)" --keep .dowse/bench
	@$(BIN)/python benchmarks/latency.py "$(EVAL)"
	@$(BIN)/python benchmarks/speed.py "$(TREE)" --embed
	@$(BIN)/python benchmarks/records.py
	@$(BIN)/python benchmarks/chunking.py "$(EVAL)/chunking-eval" --keep .dowse/bench/chunking
	@$(BIN)/python benchmarks/scale.py "$(EVAL)"
	@$(BIN)/python benchmarks/watch.py
	@$(BIN)/python benchmarks/serving.py
	@$(BIN)/python benchmarks/daemon.py
	@$(BIN)/python benchmarks/budget.py "$(TREE)"
	@$(BIN)/python benchmarks/load.py "$(EVAL)" --keep .dowse/bench/load
	@$(BIN)/python benchmarks/page.py "$(TREE)" --keep .dowse/bench/page

screenshots: setup  ## take docs/images anew, from the project's own documents
	@$(BIN)/python scripts/screenshots.py --keep .dowse/screenshots

docs: setup  ## generate docs/reference from the code
	@$(BIN)/python scripts/reference.py

bundle: setup  ## write what clients and registries read, and pack the .mcpb bundle into dist/
	@$(BIN)/python scripts/bundle.py

dist: setup  ## build the wheel and the source archive into dist/
	@$(BIN)/python -m build --no-isolation --outdir dist .

clean:  ## remove what the targets made
	rm -rf $(VENV) .dowse dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
