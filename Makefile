# Everything here works from a fresh clone with nothing but Python 3.11, pip, git and make.
PYTHON ?= python3
VENV := .venv
TOOLS := .tools
BIN := $(VENV)/bin
CLIENT := claude-agent-sdk==0.2.187

# pip's settings for a mirror or a private certificate are meant for uv, too.
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif
ifdef PIP_CERT
export SSL_CERT_FILE ?= $(PIP_CERT)
endif
export UV_COMPILE_BYTECODE ?= 1

.DEFAULT_GOAL := help

.PHONY: help
help: ## Say what can be made.
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

UV := $(if $(shell command -v uv),uv,$(TOOLS)/bin/uv)
OWN_UV := $(filter $(TOOLS)/%,$(UV))

$(TOOLS)/bin/uv:
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet "uv>=0.9,<1"

$(VENV)/.synced: $(OWN_UV) pyproject.toml $(wildcard */pyproject.toml)
	$(UV) sync --quiet --python $(PYTHON) --all-packages --all-groups
	@touch $@

.PHONY: setup
setup: $(VENV)/.synced ## Make the development environment in .venv.

# A process that has come to its end takes over what another one has before it: some tests are long.
SIDE_BY_SIDE := -n auto --dist worksteal

.PHONY: test
test: setup ## Run the unit and integration tests.
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "not e2e and not stress and not tickets and not mcp and not postgres and not browser and not histories"

.PHONY: test-git
test-git: setup ## Play random histories of several clones through real git.
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m histories tests/git

.PHONY: test-e2e
test-e2e: setup ## Drive the real Claude Code client (skipped where it cannot be had), and stress the loop.
	@test -x .e2e/bin/python || $(PYTHON) -m venv .e2e
	@.e2e/bin/python -m pip install --quiet --no-deps $(CLIENT) || echo "test-e2e: the registry does not give $(CLIENT); tests that need the client are skipped"
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "e2e or stress" tests/e2e tests/stress tests/mcp_sessions

.PHONY: ticket-tools
ticket-tools: setup ## Get the real ticket tools into .ticket-tools; minutes long the first time.
	@$(BIN)/python tests/tickets/tools/install.py .ticket-tools

.PHONY: test-tickets
test-tickets: ticket-tools ## Drive the real ticket tools (those that cannot be had are skipped by name).
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m tickets tests/tickets

.PHONY: mcp-servers
mcp-servers: setup ## Get real memory servers into .mcp-servers; minutes long the first time.
	@$(BIN)/python tests/mcp/tools/install.py .mcp-servers

# Divided by module, since a server that tests share is started once in each process.
.PHONY: test-mcp
test-mcp: mcp-servers ## Use real memory servers (those that cannot be had are skipped by name).
	$(BIN)/python -m pytest -n auto --dist loadscope -m mcp tests/mcp tests/integration

.PHONY: postgres-server
postgres-server: setup ## Get a PostgreSQL server into .postgres-server.
	@$(BIN)/python tests/postgres/tools/install.py .postgres-server

.PHONY: test-postgres
test-postgres: postgres-server ## Use a real PostgreSQL server (skipped where it cannot be had).
	$(BIN)/python -m pytest -n auto --dist loadscope -m postgres tests/postgres tests/docs/test_docs.py

.PHONY: test-browser
test-browser: setup ## Look at the documentation and at `grove stats --html` in headless Chromium (skipped where it cannot be had).
	@$(BIN)/python tests/browser/harness/get_chromium.py
	$(BIN)/python -m pytest -m browser tests/browser

.PHONY: lint
lint: setup ## Check style, layers and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory types

.PHONY: types
types: setup ## Check types only.
	$(BIN)/mypy $(wildcard */src) $(wildcard scripts) $(wildcard benchmarks) $(wildcard docs/examples/grove-*)

.PHONY: build
build: $(OWN_UV) ## Build every wheel into dist/.
	rm -rf dist
	$(UV) build --quiet --python $(PYTHON) --wheel --all-packages --out-dir dist

.PHONY: demo
demo: setup ## Show the main job, once through, on a scratch repository.
	@$(BIN)/python scripts/demo.py

.PHONY: site
site: setup ## Build the documentation into site/, to be read without a network, from a server or a folder.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

.PHONY: site-serve
site-serve: setup ## Show the documentation on a loopback port, and follow changes.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve --strict

.PHONY: reference
reference: setup ## Write what the documentation takes from the code, and take the pictures of terminals.
	$(BIN)/python scripts/generate_reference.py
	$(BIN)/python scripts/generate_manpages.py
	$(BIN)/python scripts/screenshots.py
	$(BIN)/python scripts/readme_transcript.py

.PHONY: bench
bench: setup ## Measure what hooks and numbers cost; writes tables into docs/explanation/.
	@$(BIN)/python benchmarks/hook_latency.py
	@$(BIN)/python benchmarks/numbers_cost.py

.PHONY: bench-quick
bench-quick: setup ## Try the benchmarks in three rounds; writes nothing.
	@$(BIN)/python benchmarks/hook_latency.py --quick
	@$(BIN)/python benchmarks/numbers_cost.py --quick
	@$(BIN)/python benchmarks/scale.py --quick
	@$(BIN)/python benchmarks/query_sources.py --quick

.PHONY: bench-scale
bench-scale: setup ## Measure costs with up to 100,000 learnings; minutes long; writes docs/explanation/scale.md.
	@$(BIN)/python benchmarks/scale.py
	@$(BIN)/python benchmarks/query_sources.py
