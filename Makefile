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
# Without bytecode each program that is started compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE

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

# The tests of one folder only: make test ONLY=grove-core/tests
ONLY ?=
# A process that has come to its end takes over what another one has before it: some tests are long.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: test
test: setup ## Run the tests that need nothing but this checkout.
	$(PYTEST) -m "not real" $(ONLY)

.PHONY: test-all
test-all: setup real-tools ## Run the others: real clients, ticket tools, memory servers, PostgreSQL, Chromium, git, installers, stress.
	$(PYTEST) $(or $(ONLY),tests/real)

.PHONY: test-long
test-long: export GROVE_TESTS_LONG := 1
test-long: setup real-tools ## The same with the numbers turned up, for a night.
	$(PYTEST) $(or $(ONLY),tests/real)

.PHONY: attack
attack: setup ## Attack grove, and write what became of it into the page about security.
	$(BIN)/python scripts/measure_attacks.py --write

.PHONY: secrets
secrets: setup ## Count how many of 204 planted secrets are found, and how many innocent lessons are taken for one.
	$(BIN)/python -m pytest -q grove-core/tests/test_reflection_secrets.py

# What cannot be had is named, and tests that need it are skipped by that name.
.PHONY: real-tools
real-tools: setup ## Get what the others use; minutes long the first time.
	@test -x .e2e/bin/python || $(PYTHON) -m venv .e2e
	@$(BIN)/python tests/real/tickets/tools/install.py .ticket-tools & \
	$(BIN)/python tests/real/mcp/tools/install.py .mcp-servers & \
	$(BIN)/python tests/real/postgres/tools/install.py .postgres-server & \
	$(BIN)/python tests/real/hosts/tools/install.py .clients & \
	$(BIN)/python tests/real/browser/harness/get_chromium.py & \
	.e2e/bin/python -m pip install --quiet --no-deps $(CLIENT) \
		|| echo "real-tools: no Claude Code client: the registry does not give $(CLIENT)"; \
	wait

.PHONY: mutants
mutants: setup ## Plant faults one by one, and see that the tests find each.
	$(BIN)/python tests/mutants/run.py

.PHONY: lessons
lessons: setup ## Measure the write gate on candidates that it has not learnt from.
	@$(BIN)/python scripts/measure_lessons.py

.PHONY: size
size: setup ## Print how much code there is, and its shape; fail above the ceilings in tests/size.toml.
	@$(BIN)/python scripts/size.py
	@$(BIN)/python scripts/shape.py

.PHONY: lint
lint: setup ## Check style, layers and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory types

.PHONY: types
types: setup ## Check types only.
	$(BIN)/mypy $(wildcard */src) $(wildcard scripts) $(wildcard benchmarks) docs/examples/grove-backend-jsonfile $(wildcard docs/examples/grove-*/src)

.PHONY: build
build: $(OWN_UV) ## Build every wheel into dist/.
	rm -rf dist
	$(UV) build --quiet --python $(PYTHON) --wheel --all-packages --out-dir dist

.PHONY: demo
demo: setup ## Show the main job, once through, on a scratch repository.
	@$(BIN)/python scripts/demo.py

.PHONY: modules
modules: setup ## Print every module with the line that says what it is.
	@$(BIN)/python scripts/generate_reference.py --modules

.PHONY: site
site: setup ## Build the documentation into site/, to be read without a network, from a server or a folder.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

.PHONY: site-serve
site-serve: setup ## Show the documentation on a loopback port, and follow changes.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve --strict

.PHONY: reference
reference: setup ## Write what the documentation takes from the code, and take the pictures of terminals.
	$(BIN)/python scripts/generate_reference.py
	$(BIN)/python scripts/screenshots.py

.PHONY: bench
bench: setup ## Measure what hooks and numbers cost; writes tables into docs/dev/.
	@$(BIN)/python benchmarks/hook_latency.py
	@$(BIN)/python benchmarks/server_latency.py --write
	@$(BIN)/python benchmarks/numbers_cost.py

.PHONY: bench-quick
bench-quick: setup ## Try the benchmarks in three rounds; writes nothing.
	@$(BIN)/python benchmarks/hook_latency.py --quick
	@$(BIN)/python benchmarks/server_latency.py --quick
	@$(BIN)/python benchmarks/numbers_cost.py --quick
	@$(BIN)/python benchmarks/scale.py --quick
	@$(BIN)/python benchmarks/query_sources.py --quick

.PHONY: bench-scale
bench-scale: setup ## Measure costs with up to 100,000 learnings; minutes long; writes docs/dev/scale.md.
	@$(BIN)/python benchmarks/scale.py
	@$(BIN)/python benchmarks/query_sources.py
