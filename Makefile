# Everything here works from a fresh clone with nothing but Python 3.11, pip, git and make.
PYTHON ?= python3
VENV := .venv
TOOLS := .tools
BIN := $(VENV)/bin
# pip's settings for a mirror or a private certificate are meant for uv, too.
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
export UV_COMPILE_BYTECODE ?= 1

.DEFAULT_GOAL := help

.PHONY: help
help: ## Say what can be made.
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

UV := $(shell command -v uv 2>/dev/null || echo $(TOOLS)/bin/uv)

$(TOOLS)/bin/uv:
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet "uv>=0.9,<1"

$(VENV)/.synced: $(UV) pyproject.toml $(wildcard */pyproject.toml)
	$(UV) sync --quiet --python $(PYTHON) --all-packages --all-groups
	@touch $@

.PHONY: setup
setup: $(VENV)/.synced ## Make the development environment in .venv.

.PHONY: test
test: setup ## Run the tests.
	$(BIN)/python -m pytest -n auto

.PHONY: lint
lint: setup ## Check style, layers and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

.PHONY: demo
demo: setup ## Show the main job, once through, on a scratch repository.
	@$(BIN)/python scripts/demo.py
