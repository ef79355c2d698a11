# Spinneret. `make help` lists the commands.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3.12
PINNED := infra/local/requirements
BIN := .venv/bin
STACK := PYTHONPATH=infra/local:layers/common:. $(BIN)/python -m stack
INSTANCE ?= dev
URL ?=
# The functions' code, for which the quick checks run.
CODE := layers/common functions infra/local tests benchmarks docs clients/python
# The tests that they run; those of the folders that are left out all have one of the marks.
QUICK := -m "not heavy and not stack and not proof" $(addprefix --ignore tests/,e2e integration stack)
# All tests that need no stack, for make test; likewise.
WITHOUT_STACK := -m "not stack and not moto and not proof" $(addprefix --ignore tests/,e2e stack)
# Tests that start instances of their own.
OWN := tests/stack/test_durable_data.py tests/stack/test_stack_lifecycle.py
# Without their compiled form pytest reads and rewrites all tests anew in each of its processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo demo-publish test test-stack check lint test-part-1 test-part-2 test-part-3 install test-alone test-own coverage prove mutate up status doctor alarms logs down clean deploy settings set invoke sam-local key user tenant console rebuild-index validate lock

## Try it

demo: .venv/.done ## Start everything, crawl a small website and search it (URL=https://… crawls that page instead)
	@$(STACK) demo --instance $(INSTANCE) $(if $(URL),--url '$(URL)')

demo-publish: .venv/.done ## Publish ten products on eBay and Etsy as they behave, served from here, and explain the one that is refused
	@$(STACK) demo-publish --instance $(INSTANCE)

## Local stack

up: .venv/.done ## Start the local stack, and deploy what changed (installs what is missing; BROWSER=1 also a browser, 70 MB)
	@$(STACK) deploy --instance $(INSTANCE)

# Names of the settings on the command line; make passes their values on in the environment.
GIVEN = $(filter-out INSTANCE FORCE PYTHON,$(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name))))
deploy: .venv/.done ## Build and deploy to the local stack, which is started if needed; settings as in make set (FORCE=1 agrees to lose data that it names)
	@$(STACK) deploy --instance $(INSTANCE) $(GIVEN)

status: .venv/.done ## Show addresses, settings in force, parts and memory of the local stack
	@$(STACK) status --instance $(INSTANCE)

logs: .venv/.done ## Show logs: of a part (PART=localstack|opensearch|embedder|websocket), of a function (F=CrawlApi); FOLLOW=1 goes on
	@$(STACK) logs --instance $(INSTANCE) $(if $(F),--function $(F)) $(if $(FOLLOW),--follow) $(PART)

down: .venv/.done ## Stop the local stack; its data stay
	@$(STACK) down --instance $(INSTANCE)

clean: .venv/.done ## Stop the local stack and delete its data, after naming them
	@$(STACK) clean --instance $(INSTANCE)

## Use it

key: .venv/.done ## Issue an API key: make key TENANT=acme
	@$(STACK) key --instance $(INSTANCE) $(TENANT)

user: .venv/.done ## Invite an administrator: make user TENANT=acme EMAIL=maya@example.com
	@$(STACK) user --instance $(INSTANCE) $(TENANT) $(EMAIL)

tenant: .venv/.done ## Create, suspend, resume, export or delete a tenant: make tenant DO="suspend acme --reason unpaid"
	@$(STACK) tenant --instance $(INSTANCE) $(DO)

doctor: .venv/.done ## Examine the deployed stage: state, fault and remedy; exit code 0, 1 with warnings, 2 with a fault
	@$(STACK) doctor --instance $(INSTANCE)

alarms: .venv/.done ## Drive six alarms of the template into ALARM and back, in the emulator's CloudWatch, through their topic
	@$(STACK) alarms --instance $(INSTANCE)

settings: .venv/.done ## List the stage's settings with values, defaults and meanings
	@$(STACK) settings --instance $(INSTANCE)

set: .venv/.done ## Change settings of the stage, in seconds where no resource changes: make set FetchAllowed=127.0.0.1:9000
	@$(STACK) set --instance $(INSTANCE) $(GIVEN)

invoke: .venv/.done ## Invoke a deployed function: make invoke F=Sweeper E=events/core/sweep.json
	@$(STACK) invoke --instance $(INSTANCE) $(F) $(E)

sam-local: .venv/.done ## Run a function in a container by `sam local invoke`: make sam-local F=Sweeper E=events/core/sweep.json (PODMAN=1 starts Podman for it)
	@$(if $(PODMAN),$(subst -m stack,-m containers,$(STACK)) env) $(STACK) sam-local --instance $(INSTANCE) $(F) $(E)

console: .venv/.done ## Serve the console's current files in front of the running stack: a reload shows a change
	@$(STACK) console --instance $(INSTANCE)

rebuild-index: .venv/.done ## Make the chunk index anew from rows and bodies; searches change over when it is complete
	@$(STACK) rebuild-index --instance $(INSTANCE)

## Check changes

check: export TESTS := $(QUICK)
check: export PARTS := 2
check: .venv/.done ## Quick loop: lint, types, imports, tests without stack and long tables (a minute)
	@$(MAKE) --no-print-directory -j3 lint test-part-1 test-part-2

lint: .venv/.done
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/mypy
	@cd clients/python && ../../$(BIN)/mypy
	@PYTHONPATH=layers/common:functions $(BIN)/lint-imports --no-logo

# Each takes its share of the files.
test-part-1 test-part-2 test-part-3: .venv/.done
	@SPINNERET_TEST_PART=$(@:test-part-%=%)/$(PARTS) $(BIN)/python -m pytest $(TESTS)

test: export SPINNERET_EXAMPLES := 25
test: export TESTS := $(WITHOUT_STACK)
test: export PARTS := 3
test: .venv/.done ## Run every test; the stack's run on a fresh instance of their own
	@$(MAKE) --no-print-directory -j5 lint test-part-1 test-part-2 test-part-3 install
	@$(MAKE) --no-print-directory test-stack

install: .venv/.done
	@$(STACK) install

# One instance serves first the tests of the parts, beside which one end-to-end file deploys the
# application; then the other end-to-end tests; then those that stop parts, beside which only tests
# with instances of their own can run.
# Tests use all functions in turn, whose starts would take most of their time.
test-stack: export SPINNERET_LAMBDA_MAX_IDLE := 64
test-stack: export SPINNERET_LAMBDA_IDLE_SECONDS := 600
# Functions record their calls of AWS, which are compared with their policies: the stack refuses none.
test-stack: export SPINNERET_LAMBDA_CALLS := $(CURDIR)/.local/recorded-calls
test-stack: FIRST := tests/e2e/test_access_matrix.py
test-stack: .venv/.done
	@rm -rf .local/recorded-calls && mkdir -p .local/recorded-calls
	@$(STACK) run --instance tests -- sh -c ' \
		$(BIN)/python -m pytest -m "stack and not proof" $(FIRST) tests/contract tests/integration tests/stack $(addprefix --ignore ,$(OWN)) -n 3 --dist loadfile --no-loadscope-reorder && \
		$(BIN)/python -m pytest -m "stack and not alone and not proof" tests/e2e --ignore $(FIRST) -n 5 --dist loadfile --no-loadscope-reorder && \
		$(BIN)/python benchmarks/permissions.py .local/recorded-calls && \
		$(MAKE) --no-print-directory -j2 test-alone test-own'

test-alone: .venv/.done
	@$(BIN)/python -m pytest -m "alone and not proof" tests/e2e

test-own: .venv/.done
	@$(BIN)/python -m pytest $(OWN)

coverage: .venv/.done ## Run the tests of make check, print statement coverage by package; a service below 90 % fails
	@mkdir -p .local
	@$(BIN)/python -m pytest $(QUICK) -n 2 --cov --cov-report=
	@$(BIN)/python benchmarks/coverage_table.py

prove: .venv/.done ## Long proofs: 10,000 schedules of the job kernel, politeness at 2,000 ms, all work while each part of the stack is stopped, a month of 10,000 targets (some three hours)
	@$(BIN)/python benchmarks/simulate.py --seeds 10000
	@SPINNERET_PACE_SEEDS=200 $(BIN)/python -m pytest tests/unit/web/politeness/test_pace_schedules.py
	@POLITENESS_GAP_MS=2000 POLITENESS_FETCHES=200 $(BIN)/python -m pytest tests/integration/test_politeness_at_the_server.py
	@SPINNERET_OUTAGE_SECONDS=90 $(BIN)/python -m pytest tests/e2e/test_stopped_parts.py tests/e2e/test_stopped_work.py
	@SPINNERET_BATCH_PAGES=100 SPINNERET_BATCH_KILLS=2 $(BIN)/python -m pytest tests/e2e/test_batches.py
	@SPINNERET_CHECKED_SECONDS=600 $(BIN)/python -m pytest tests/e2e/test_check_times.py
	@SPINNERET_DURABLE_DOCUMENTS=1000 $(BIN)/python -m pytest tests/e2e/test_durable_application.py
	@SPINNERET_SAM_LOCAL=1 $(BIN)/python -m pytest -rs tests/e2e/test_sam_local.py  # where a container engine is, or Podman
	@SPINNERET_TRAP_PAGES=300 $(BIN)/python -m pytest tests/e2e/test_trap_site.py
	@SPINNERET_WHOLE_MATRIX=1 $(BIN)/python -m pytest tests/e2e/test_access_matrix.py tests/e2e/test_tenant_isolation.py
	@SPINNERET_BOTH_SIZES=1 $(BIN)/python -m pytest tests/e2e/test_console.py
	@SPINNERET_CRASH_STEP=3 SPINNERET_STORIES_ON_MOTO=1 $(BIN)/python -m pytest -m "not stack" -n 2 tests/unit/marketplace
	@$(BIN)/python -m pytest -n 2 -m "moto or proof"
	@SPINNERET_AUDIT_CRASH_STEP=1 SPINNERET_CRAWL_CRASH_STEP=1 $(BIN)/python -m pytest -m heavy tests/unit/audits/test_audit_crashes.py tests/unit/crawl/test_crawl_crashes.py
	@SPINNERET_PAIRS_STEP=1 $(BIN)/python -m pytest -n 2 -m heavy tests/unit/jobs/test_simulation.py
	@SPINNERET_INBOX_LINES=100000 $(BIN)/python -m pytest tests/unit/crawl/inbox/test_large_files.py
	@SPINNERET_MONTH_TARGETS=10000 $(BIN)/python -m pytest -n 2 -m heavy tests/unit/monitoring/test_simulated_month.py
	@SPINNERET_WEEK_HOURS=168 $(BIN)/python -m pytest -m heavy tests/unit/monitoring/test_simulated_week.py
	@$(BIN)/python -m pytest tests/unit/marketplace/test_contracts.py  # with MARKETPLACE_CONTRACTS
	@mkdir -p .local && rm -f .local/requests.jsonl
	@MARKETPLACE_RECORD=.local/requests.jsonl $(BIN)/python -m pytest tests/e2e/test_publishing.py tests/integration/test_publishing_functions.py tests/unit/marketplace --ignore tests/unit/marketplace/test_crashes.py
	@$(BIN)/python benchmarks/contracts.py .local/requests.jsonl --prism  # with MARKETPLACE_CONTRACTS

mutate: .venv/.done ## Delete every condition of every write in turn: a test must notice
	@$(BIN)/python benchmarks/mutate.py

validate: .venv/.done ## Validate the templates as SAM does
	@$(STACK) validate --instance $(INSTANCE)

## Maintain

help: ## List the commands
	@sed -nE 's/^## (.*)/\n\1/p; s/^([a-z-]+):.*## (.*)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

lock: .venv/.done ## Pin all requirement files anew
	@$(PINNED)/compile.sh

.venv/.done: $(PINNED)/uv.txt $(PINNED)/dev.txt clients/python/pyproject.toml
	@echo "installing the development environment …"
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install --quiet --require-hashes -r $(PINNED)/uv.txt
	@$(BIN)/uv pip sync --quiet --require-hashes --python $(BIN)/python $(PINNED)/dev.txt
	@$(BIN)/uv pip install --quiet --no-deps --python $(BIN)/python -e clients/python
	@touch $@
