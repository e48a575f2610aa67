# Rank Zero. `make` lists what there is to do; the first `make book` or `make test` prepares the machine by itself.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
RUN := .venv/bin/python

.PHONY: help ready python book test unit lint format types stubs serve bench corpus mutants luck clauses text notebook screenshot vendor debian clean distclean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

book: ready .stamps/vendor ## execute the notebooks and build the book into _build/html
	@$(RUN) -m tools.build_book

test: ready .stamps/vendor ## everything: lint, types, unit tests, notebooks run twice, book, browser
	@$(RUN) -m tools.check

unit: ready ## the unit tests alone
	@$(RUN) -m pytest -n 2 --dist loadgroup -m "not browser"

lint: ready ## ruff: lint and format, checking only
	@$(RUN) -m ruff check . && $(RUN) -m ruff format --check .

format: ready ## ruff: mend what it can
	@$(RUN) -m ruff check --fix . && $(RUN) -m ruff format .

types: ready ## mypy on the public packages
	@$(RUN) -m mypy

stubs: ready ## write labs/ from solutions/, the generated cells of the notebooks, and the titles of sections
	@$(RUN) -m tools.stubs && $(RUN) -m tools.install_cells && $(RUN) -m tools.sections

serve: book ## build the book and serve it on this machine, with live explorers
	@$(RUN) -m tools.serve

bench: ready ## the benchmarks, as ratios within one run
	@for b in benchmarks/[!_]*.py; do echo "$$b"; $(RUN) "$$b" || exit 1; done

corpus: ready ## the hostile corpus, every file in every configuration (hours)
	@$(RUN) tests/autograder/corpus_runs.py

mutants: ready ## ITEM=05-zero-memory, or every item: small changes to a reference that its cases do not notice (MESSAGES=1: what is said of each)
	@$(RUN) -m tools.mutants $(if $(MESSAGES),--messages) $(ITEM)

luck: ready ## ITEM=05-zero-memory, or every item: right programs in other formulations, graded with 200 keys
	@$(RUN) -m tools.luck $(if $(ITEM),--only $(ITEM))

clauses: ready ## ITEM=05-zero-memory, or every item: what docstrings say against what cases try
	@$(RUN) -m tools.clauses $(if $(ITEM),--only $(ITEM))

text: ready ## NOTEBOOK=book/03-collectives.ipynb: write it as text to edit
	@$(RUN) -m tools.edit text "$(NOTEBOOK)"

notebook: ready ## NOTEBOOK=book/03-collectives.ipynb: take the edited text back
	@$(RUN) -m tools.edit notebook "$(NOTEBOOK)"

screenshot: book ## the picture of a page for the README
	@$(RUN) -m tools.screenshot

clean: ## remove what was built, keep what was installed
	@rm -rf _build .cache/notebooks .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## remove what was installed too
	@rm -rf .venv .stamps .cache *.egg-info

# Set-up. A stamp per step, so that each runs once, and again when its list changes.
ready: .stamps/environment

python:
	@test -n "$(PYTHON)" || { echo "Rank Zero needs Python 3.11 or later: install it, or name it: make book PYTHON=python3.12" >&2; exit 1; }

debian: | python ## install the Debian packages that are missing (browser, sandbox, npm)
	@rm -f .stamps/debian && $(MAKE) .stamps/debian

.stamps/debian: tools/prepare.py | python
	@$(PYTHON) tools/prepare.py debian
	@mkdir -p .stamps && touch $@

.stamps/environment: pyproject.toml constraints.txt tools/prepare.py | python .stamps/debian
	@$(PYTHON) tools/prepare.py environment
	@touch $@

vendor: .stamps/vendor ## bring the scripts of the book (charts, mathematics, Python in the browser)

# Without npm the book builds all the same, with still explorers: no stamp then, and the next build tries again.
.stamps/vendor: package.json tools/vendor.py | .stamps/environment
	@$(RUN) -m tools.vendor && touch $@ || true
