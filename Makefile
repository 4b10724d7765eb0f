# Everything lives in .venv, and every target makes what it needs there: a bare clone with Python
# and make is enough. Set-up output goes to standard error, so that only the gateway speaks on
# standard output; set-up steps never read standard input, so that a pipe reaches the gateway.

PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --no-input --no-compile
#: two workers; a slow machine is given time, a test that hangs is not given the night
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadgroup --timeout=300
SUITES := tests/unit tests/contract tests/integration tests/browser tests/crash tests/architecture
#: held to 95 % branch coverage: what decides, what queues, what cuts text
GUARDED := policy mailbox text

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help run test thorough check fmt lint types budgets coverage bench eval stress conformance lock clean

help: ## this text
	@echo 'Hermes Gateway: one agent on many chat platforms, knowing each person.'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo '  NO_MODEL=1 make run          start without fetching the small local model'
	@echo '  make test ARGS="-k split"    hand arguments to pytest'
	@echo '  make run PYTHON=python3.12   use another Python (3.11 or newer)'

run: .venv/runtime ## start the gateway with a chat on this terminal; no key needed
	@[ -n "$(NO_MODEL)" ] || $(BIN)/hermes-gateway model install --if-needed </dev/null >&2 \
	  || echo 'No local model could be installed: the gateway starts with set-up replies.' >&2
	@exec $(BIN)/hermes-gateway run

test: .venv/dev ## all suites, two at a time
	@$(PYTEST) $(SUITES) $(ARGS)

thorough: .venv/dev ## all suites with all that is long: every example, every kill, a whole month
	@THOROUGH=1 $(PYTEST) $(SUITES) $(ARGS)

check: lint types budgets coverage ## what a change must pass: format, lint, types, layers, all suites, coverage

check-web: .venv/dev ## the operator's page in Chromium: every page, size and colour; its API at length
	@CHECK_WEB=full $(PYTEST) tests/browser tests/integration/web $(ARGS)

fmt: .venv/dev ## format the code and repair what ruff can
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lint: .venv/dev ## format and lint, changing nothing
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: .venv/dev ## mypy, strict, tests included
	@$(BIN)/mypy

budgets: .venv/dev ## sizes of files and functions beside their budgets
	@$(BIN)/python -m tests.architecture.budgets

coverage: .venv/dev ## all suites, then 95 % of the branches of the guarded packages
	@$(PYTEST) $(GUARDED:%=--cov=gateway/%) --cov-report= $(SUITES) $(ARGS)
	@for part in $(GUARDED); do \
	  $(BIN)/coverage report --precision=1 --skip-covered --show-missing \
	    --include="gateway/$$part/*" --fail-under=95 || exit 1; \
	done

bench: .venv/dev ## time, memory and start beside a bare bot; search at size; what a turn weighs
	@$(BIN)/python -m tests.bench.turns $(ARGS)
	@$(BIN)/python -m tests.bench.search
	@$(BIN)/python -m tests.bench.weight

eval: .venv/dev ## how well the memory knows 12 invented people: ARGS="--by configured", "--by rule", "--memory-url …"
	@$(BIN)/python -m tests.eval --least 0.9 $(ARGS)

stress: .venv/dev ## 1,000 messages on each of three platforms in one process, and everything goes wrong
	@$(BIN)/python -m tests.stress.run $(ARGS)

lock: .venv/dev ## write both lock files anew from pyproject.toml (ARGS=--upgrade: newest versions)
	@printf 'hatchling\neditables\n' | $(BIN)/uv pip compile $(ARGS) $(LOCK) --extra all pyproject.toml - \
	  -o requirements.lock
	@$(BIN)/uv pip compile $(ARGS) $(LOCK) --extra all --extra dev -c requirements.lock \
	  pyproject.toml -o requirements-dev.lock

LOCK := --quiet --universal --generate-hashes --no-annotate --python-version 3.11 \
  --custom-compile-command 'make lock'

clean: ## remove .venv and every cache
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage* dist build
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps. Progress is shown on a terminal only; the lines said before it are for everyone.

.venv/python:
	@command -v $(PYTHON) >/dev/null || { \
	  echo '$(PYTHON) was not found: install Python 3.11 or newer, or name one: make run PYTHON=python3.12' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' </dev/null || { \
	  echo "Python 3.11 or newer is needed, $$($(PYTHON) -V 2>&1) was found; name another: make run PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv .venv </dev/null >&2
	@touch $@

.venv/runtime: requirements.lock pyproject.toml | .venv/python
	@echo 'Preparing .venv: the packages of requirements.lock, checked by hash ...' >&2
	@[ -t 2 ] || quiet=-q; $(PIP) $$quiet --require-hashes -r requirements.lock </dev/null >&2
	@$(PIP) -q --no-deps --no-build-isolation -e . </dev/null >&2
	@touch $@

.venv/dev: requirements-dev.lock .venv/runtime
	@echo 'Adding the tools for tests and checks ...' >&2
	@[ -t 2 ] || quiet=-q; $(PIP) $$quiet --require-hashes -r requirements-dev.lock </dev/null >&2
	@touch $@

conformance: .venv/dev ## hold a memory service to Honcho's API: BASE_URL=… API_KEY=…, else the embedded one
	@$(BIN)/python -m pytest tests/conformance $(if $(BASE_URL),--memory-url '$(BASE_URL)') \
	  $(if $(API_KEY),--memory-key '$(API_KEY)') $(ARGS)
