PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install demo test check clean

install: $(VENV)/.installed  ## set up .venv with everything the other targets need

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, found " + sys.version)'
	$(PYTHON) -m venv $(VENV)
	@echo 'Installing into $(VENV), which takes a minute or two'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[embedded,dev]'
	touch $@

demo: install  ## hold a conversation over several sessions and watch what is remembered
	$(BIN)/python -m demo

test: install  ## run every test, several at a time
	$(BIN)/python -m pytest -q -n auto --dist worksteal

check: install  ## lint, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:  ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
