# make demo           run the demo: real CLIs with a simulated model, without an account
# make test           run format, lint and type checks, and the tests that every change must pass
# make test-journeys  run the long tests with real programs: each agent's CLI, moves between machines
# make test-portable  run the tests without features that only Linux has: pidfd, inotify, /proc
# make bench          measure cockpit against its goals and other programs: cockpit/docs/performance.md
# make scale          measure a screen of 50 hosts, and with how many hosts a goal is missed: cockpit/docs/performance.md
# make worth          measure how much of a session a handoff document keeps: cockpit/docs/worth.md
# make faults         kill the supervisor, fill its disk and break tmux, at every point of a handoff
# make mutants        break one guarantee of cockpit at a time; a test must fail each time
# make docs           build the documentation site in build/docs
# make wheel          build the sdist and the wheel in dist, install the wheel elsewhere, and test it
# make release        run `make wheel` if this commit can be released, and print the remaining steps
#
# Each target first installs what it needs. PYTHON: the Python interpreter to use.

PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Two workers more than there are cores. All but one begin with tests of real programs, which wait more
# than they compute; the last one begins with other tests (tests/schedule.py). With more workers, a busy
# machine delays real programs until their tests time out.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 2)))
ALL = tests/in_memory.sh $(BIN)/pytest -n $(WORKERS) --dist worksteal
PYTEST = $(ALL) -m "not long"
CHECK = $(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/pytest tests/test_floors.py
# In a fresh checkout, compile the tests once; otherwise each worker compiles all of them. The test run
# itself reports collection errors.
COMPILE = $(BIN)/pytest --collect-only -qq >/dev/null 2>&1
# With this variable, each process that a test starts would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-journeys test-portable check bench scale worth faults mutants tracer branches docs wheel release setup programs clis lock clean

demo: setup
	@$(BIN)/cockpit demo

# mypy uses one core; the tests are compiled on another.
test: setup
	@$(COMPILE) & { $(CHECK); }; result=$$?; wait; exit $$result
	@PYTEST_PLUGINS=tests.branches $(PYTEST)

# One worker per core, because each worker starts a real program that keeps a core busy.
test-journeys: WORKERS = $(shell getconf _NPROCESSORS_ONLN)
test-journeys: setup clis
	@$(ALL) -m long

test-portable: setup
	@$(COMPILE) || true
	@COCKPIT_PORTABLE=1 $(PYTEST)

check: setup
	@$(CHECK)

bench: setup
	@$(BIN)/python -m tests.bench

# ARGUMENTS="--hosts 50 --agents 20 --seconds 10 --seed 1 --drops 6 --grow 400".
scale: setup
	@$(BIN)/python -m tests.scale $(ARGUMENTS)

# Scores handoff documents on a corpus of sessions, and writes the tables into cockpit/docs/worth.md.
worth: setup
	@$(BIN)/python -m tests.worth --write $(ARGUMENTS)

# ARGUMENTS="--cycles 5000 --seed 2", or the arguments that a violation prints to repeat its cycle.
faults: branches tracer
	@$(BIN)/python -m tests.faults $(ARGUMENTS)

# ARGUMENTS="--only NAME", or "--list".
mutants: setup tracer
	@$(BIN)/python -m tests.faults.mutation $(ARGUMENTS)

# strace records the order in which a handoff reaches the disk; without strace, the order is not checked.
tracer:
	@command -v strace >/dev/null 2>&1 || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq strace >&2; } || \
		echo "Without strace, the order of writes, signals and starts is not checked. Install it: sudo apt-get install strace" >&2

# Requires tests for every branch of the code for handoffs, secrets, permission modes and recovery.
# `make test` requires the same.
branches: setup
	@$(BIN)/python -m tests.branches -n $(WORKERS) --dist worksteal

docs: setup $(VENV)/.ready-docs
	@$(BIN)/pytest tests/packaging/check_site.py
	@$(BIN)/python -m tests.packaging.site

# `make wheel` and `make release` upload nothing.
wheel: setup $(VENV)/.ready-release
	@$(BIN)/python -m tests.packaging.release --only-build

release: setup $(VENV)/.ready-release
	@$(BIN)/python -m tests.packaging.release

setup: programs $(READY)

$(READY): pyproject.toml requirements.lock
	@if [ -z "$(PYTHON)" ]; then echo "cockpit needs Python 3.11 or later. Pass its path: make PYTHON=/path/to/python3" >&2; exit 6; fi
	@echo "Installing Python packages in $(VENV). This takes a few minutes, only once." >&2
	@[ -x $(BIN)/pip ] || $(PYTHON) -m venv $(VENV)
	@# The build backend comes from the lock like everything else, hence no build isolation.
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.lock hatchling editables
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.lock --no-build-isolation --editable '.[dev]'
	@touch $(READY)

# The packages that only `make docs`, `make wheel` or `make release` needs.
$(VENV)/.ready-%: $(READY)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.lock --no-build-isolation --editable '.[$*]'
	@touch $@

# Programs that pip cannot install. As root on Debian, this installs them; elsewhere, it prints their
# names and fails. With CI set, it also installs programs that only some journeys need; without these
# programs, those journeys are skipped with a message.
programs:
	@missing=; \
	for program in tmux git; do command -v $$program >/dev/null 2>&1 || missing="$$missing $$program"; done; \
	[ -x $(BIN)/pip ] || [ -z "$(PYTHON)" ] || $(PYTHON) -c 'import ensurepip' 2>/dev/null || missing="$$missing python3-venv"; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		echo "Installing$$missing" >&2; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >&2; \
	else \
		echo "cockpit needs$$missing, and make can only install packages as root with apt-get." >&2; \
		echo "Debian: sudo apt-get install$$missing    macOS: brew install tmux git" >&2; \
		exit 6; \
	fi
	@if [ -n "$$CI" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		missing=; for program in sshd ssh mosh chromium; do command -v $$program >/dev/null 2>&1 || missing=yes; done; \
		[ -z "$$missing" ] || { timeout 120 apt-get update -qq && DEBIAN_FRONTEND=noninteractive timeout 600 \
			apt-get install -y -qq --no-install-recommends openssh-server openssh-client mosh chromium >&2; } || \
			echo "Without sshd, mosh and chromium, the journeys that need them are skipped." >&2; \
		mkdir -p /run/sshd; \
	fi
	@[ -z "$$CI" ] || [ -e $(VENV)/npm/.ready-clis_all ] || { command -v codex && command -v gemini; } >/dev/null 2>&1 || $(MAKE) --no-print-directory CLIS=tests/clis.json clis

# The real CLIs that some journeys run, from npm, for this checkout only.
# CI installs only the CLIs of tests/clis.json, because `make test` needs no others.
CLIS ?= tests/clis_all.json
CLIS_READY = $(VENV)/npm/.ready-$(basename $(notdir $(CLIS)))

clis: $(CLIS_READY)

$(CLIS_READY): $(CLIS)
	@mkdir -p $(@D) && cp $(CLIS) $(@D)/package.json
	@if command -v npm >/dev/null 2>&1 && \
		timeout 600 npm install --prefix $(@D) --no-audit --no-fund --ignore-scripts --loglevel=error >&2; then touch $@; \
	else echo "npm did not install the CLIs; the journeys that need them are skipped." >&2; fi

# Exact versions of the installed packages, without the URLs they came from.
lock: setup $(VENV)/.ready-docs $(VENV)/.ready-release
	@$(BIN)/pip freeze --exclude-editable | LC_ALL=C sort -f > requirements.lock

clean:
	rm -rf $(VENV) .bench build dist .mypy_cache .ruff_cache .pytest_cache
