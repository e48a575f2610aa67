# Rank Zero. `make` lists the targets; the first `make book` or `make test` sets up the machine.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
RUN := .venv/bin/python
# Every step starts many processes: compiled modules are kept, also where the shell says otherwise.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help ready python book test proof chapter quick unit lint format types stubs serve site slides pdf bench corpus mutants luck promises pages release-check text notebook screenshot vendor debian clean distclean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

book: ready .stamps/vendor ## execute the notebooks and build the book into _build/html
	@$(RUN) -m tools.build_book

test: ready .stamps/vendor ## what a change can break, in a quarter of an hour: lint, types, unit tests, notebooks, book, browser
	@$(RUN) -m tools.gates.check

proof: ready .stamps/vendor ## what make test leaves out, in an hour, or PART=corpus: keys, adversaries, all pages; goes on where it was
	@$(RUN) -m tools.gates.proof $(PART)

chapter: ready .stamps/vendor ## N=07, or N=cap: everything for one chapter: lint, types, tests, page run twice, browser
	@$(RUN) -m tools.gates.chapter $(N)

quick: ready ## check a change in a minute and a half: lint, types, the tests nearest to it
	@$(RUN) -m tools.gates.quick

unit: ready ## only the unit tests of make test
	@$(RUN) -m pytest -n 2 --dist loadgroup --no-loadscope-reorder -m "not browser and not proof"

lint: ready ## ruff: lint and format, checking only
	@$(RUN) -m ruff check . && $(RUN) -m ruff format --check .

format: ready ## ruff: fix and format what it can
	@$(RUN) -m ruff check --fix-only --quiet . && $(RUN) -m ruff format --quiet . && $(RUN) -m ruff check .

types: ready ## pyrefly on the public packages
	@$(RUN) -m pyrefly check

stubs: ready ## generate labs/ from solutions/, cells and summaries of the notebooks, and the titles of sections: over what was filled in
	@$(RUN) -m tools.stubs && $(RUN) -m tools.install_cells && $(RUN) -m tools.sections && $(RUN) -m tools.takeaways

serve: book ## build the book and serve it on this machine, with live explorers
	@$(RUN) -m tools.serve

site: book ## the book as a folder for any static host, in _build/site
	@$(RUN) -m tools.site

slides: book ## slides of the chapters for a class, a file each, in _build/slides
	@$(RUN) -m tools.handouts.slides

pdf: book ## the whole book as one PDF with its contents as bookmarks, in _build/rank-zero.pdf
	@$(RUN) -m tools.handouts.pdf

bench: ready .stamps/vendor ## measure everything and write RESULTS.md, or ONLY=server (FULL=1: other graders with 2,000 submissions)
	@$(RUN) -m benchmarks $(if $(FULL),--full) $(ONLY)

corpus: ready ## the hostile corpus, every file in every configuration (hours)
	@$(RUN) tests/autograder/corpus_runs.py

mutants: ready ## ITEM=05-zero-memory, or every item of plain calls (WORLDS=1: the others): small changes to a reference that its cases do not catch (MESSAGES=1: what the report says of each)
	@$(RUN) -m tools.mutants $(if $(MESSAGES),--messages) $(if $(WORLDS),--worlds) $(ITEM)

luck: ready ## ITEM=05-zero-memory, or every item: right programs in other formulations, graded with 200 keys
	@$(RUN) -m tools.luck $(if $(ITEM),--only $(ITEM))

promises: ready ## ITEM=05-zero-memory, or every item: check docstrings against cases
	@$(RUN) -m tools.promises $(if $(ITEM),--only $(ITEM))

pages: ready ## N=03, or every page: what each section asks of its reader, and the limits that it breaks
	@$(RUN) -m tools.pages $(N)

release-check: ready ## N=03, or every page: the wheel in fresh environments, each page alone in an empty folder; goes on where it was
	@$(RUN) -m tools.release.check $(if $(N),--pages "$(N)") $(if $(ON),--python $(ON)) $(if $(TAG),--tag "$(TAG)")

text: ready ## NOTEBOOK=book/03-collectives.ipynb: write it as text to edit
	@$(RUN) -m tools.edit text "$(NOTEBOOK)"

notebook: ready ## NOTEBOOK=book/03-collectives.ipynb: write the edited text back into the notebook
	@$(RUN) -m tools.edit notebook "$(NOTEBOOK)"

screenshot: book ## take the three pictures of the README from the built book
	@$(RUN) -m tools.handouts.screenshot

clean: ## remove what was built, keep what was installed
	@rm -rf _build .cache/notebooks .cache/proof .cache/release .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## remove what was installed too
	@rm -rf .venv .stamps .cache *.egg-info

# Set-up. Each step has a stamp, so that it runs once, and again when its list changes. Debian's packages and pip's are
# installed side by side, but where pip itself comes with one of Debian's.
ready: | python
	@$(MAKE) --silent --jobs=2 .stamps/debian .stamps/environment

FIRST := $(shell $(PYTHON) -c 'import ensurepip' 2>/dev/null || echo .stamps/debian)

python:
	@python="$(PYTHON)"; $${python:-false} -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Rank Zero needs Python 3.11 or later$${python:+, which $$python is not}: install it, or name it: make book PYTHON=python3.12" >&2; exit 1; }

debian: | python ## install the Debian packages that are missing (browser, sandbox, npm)
	@rm -f .stamps/debian && $(MAKE) .stamps/debian

.stamps/debian: tools/prepare.py | python
	@$(PYTHON) tools/prepare.py debian
	@mkdir -p .stamps && touch $@

.stamps/environment: pyproject.toml constraints.txt tools/prepare.py | python $(FIRST)
	@$(PYTHON) tools/prepare.py environment
	@mkdir -p .stamps && touch $@

vendor: .stamps/vendor ## fetch the scripts of the book (charts, mathematics, Python in the browser)

# Without npm the book still builds, with static explorers; no stamp is written, so the next build tries again.
.stamps/vendor: package.json tools/vendor.py tools/vendor_editor.py tools/editor.mjs | .stamps/debian .stamps/environment
	@$(RUN) -m tools.vendor && touch $@ || true
