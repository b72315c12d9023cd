# `make demo` and `make test` need Python 3.11+, git and make; everything else comes from the project's own files.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install demo test quick check docs clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: install
	$(BIN)/ibidem demo

test: install
	$(BIN)/pytest --durations=10

quick: install
	$(BIN)/pytest -m "not server" --quiet

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# A site in ./site; a warning is an error.
docs: install
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[docs]"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) .ibidem site
