# make demo   a whole flight, with no account
# make test   what must hold before each change lands
# make test-journeys  variants of the journeys with real programs: each agent's CLI, moves between machines
# make test-portable  the tests with none of what only Linux has: pidfd, inotify, /proc
# make bench  what it costs, beside its goals and beside others: cockpit/docs/performance.md
# make scale  what a screen of 50 hosts costs, and with how many hosts it ends: cockpit/docs/performance.md
# make worth  how much of a session a handoff document holds: cockpit/docs/worth.md
# make faults kill the supervisor, fill its disk, break it, at every point of a handoff
# make mutants break what must never break, one thing at a time: each must be noticed
# make docs   build the documentation site in build/docs
# make wheel  build the sdist and the wheel in dist, install the wheel away from here, and try it
# make release  the same, if this commit can be released; prints the steps that are left
#
# Each sets up what it needs first. PYTHON names the interpreter to use.

PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Tests wait more than they compute, so there is one more than there are cores. With two for each core a
# busy machine makes real programs so late that tests give up on them.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
ALL = tests/in_memory.sh $(BIN)/pytest -n $(WORKERS) --dist worksteal
PYTEST = $(ALL) -m "not long"
CHECK = $(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/pytest tests/test_floors.py
# In a fresh checkout, or each worker compiles all tests. What cannot be collected, the run itself tells.
COMPILE = $(BIN)/pytest --collect-only -qq >/dev/null 2>&1
# Or each of the processes that tests start compiles every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-journeys test-portable check bench scale worth faults mutants tracer branches docs wheel release setup programs clis lock clean

demo: setup
	@$(BIN)/cockpit demo

# mypy uses one core; the tests are compiled on another.
test: setup
	@$(COMPILE) & { $(CHECK); }; result=$$?; wait; exit $$result
	@PYTEST_PLUGINS=tests.branches $(PYTEST)

# One worker for each core, because each starts a real program that keeps a core busy.
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

# Compares documents on sessions of our own, and writes the tables into the page.
worth: setup
	@$(BIN)/python -m tests.worth --write $(ARGUMENTS)

# ARGUMENTS="--cycles 5000 --seed 2", or what a violation says to fly it again.
faults: branches tracer
	@$(BIN)/python -m tests.faults $(ARGUMENTS)

# ARGUMENTS="--only NAME", or "--list".
mutants: setup tracer
	@$(BIN)/python -m tests.faults.mutation $(ARGUMENTS)

# strace is what judges the order in which a handoff reaches the disk; without it that is not judged.
tracer:
	@command -v strace >/dev/null 2>&1 || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq strace >&2; } || \
		echo "Without strace the order of writes, signals and starts is not judged: sudo apt-get install strace" >&2

# What decides about handoffs, secrets and permission modes, and what recovers: every branch is
# tested. `make test` measures it too.
branches: setup
	@$(BIN)/python -m tests.branches -n $(WORKERS) --dist worksteal

docs: setup $(VENV)/.ready-docs
	@$(BIN)/pytest tests/packaging/check_site.py
	@$(BIN)/python -m tests.packaging.site

# Neither uploads anything.
wheel: setup $(VENV)/.ready-release
	@$(BIN)/python -m tests.packaging.release --only-build

release: setup $(VENV)/.ready-release
	@$(BIN)/python -m tests.packaging.release

setup: programs $(READY)

$(READY): pyproject.toml requirements.lock
	@if [ -z "$(PYTHON)" ]; then echo "cockpit needs Python 3.11 or later; name it: make PYTHON=/path/to/python3" >&2; exit 6; fi
	@echo "Installing Python packages in $(VENV). This takes a few minutes, only once." >&2
	@[ -x $(BIN)/pip ] || $(PYTHON) -m venv $(VENV)
	@# The build backend comes from the lock like everything else, hence no build isolation.
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.lock hatchling editables
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.lock --no-build-isolation --editable '.[dev]'
	@touch $(READY)

# What only `make docs` or `make release` needs.
$(VENV)/.ready-%: $(READY)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.lock --no-build-isolation --editable '.[$*]'
	@touch $@

# What pip cannot bring. As root on Debian it is installed; otherwise it is named. What only some
# journeys go through is installed where CI says that the machine is nobody's. With CI set, so is
# what only some journeys need: without it they are skipped, and say so.
programs:
	@missing=; \
	for program in tmux git; do command -v $$program >/dev/null 2>&1 || missing="$$missing $$program"; done; \
	[ -x $(BIN)/pip ] || [ -z "$(PYTHON)" ] || $(PYTHON) -c 'import ensurepip' 2>/dev/null || missing="$$missing python3-venv"; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		echo "Installing$$missing" >&2; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >&2; \
	else \
		echo "cockpit needs$$missing, and cannot install it by itself here." >&2; \
		echo "Debian: sudo apt-get install$$missing    macOS: brew install tmux git" >&2; \
		exit 6; \
	fi
	@if [ -n "$$CI" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		missing=; for program in sshd ssh mosh chromium; do command -v $$program >/dev/null 2>&1 || missing=yes; done; \
		[ -z "$$missing" ] || { timeout 120 apt-get update -qq && DEBIAN_FRONTEND=noninteractive timeout 600 \
			apt-get install -y -qq --no-install-recommends openssh-server openssh-client mosh chromium >&2; } || \
			echo "Without sshd, mosh and chromium, the journeys through them are skipped." >&2; \
		mkdir -p /run/sshd; \
	fi
	@[ -z "$$CI" ] || [ -e $(VENV)/npm/.ready-clis_all ] || { command -v codex && command -v gemini; } >/dev/null 2>&1 || $(MAKE) --no-print-directory CLIS=tests/clis.json clis

# The real CLIs that some journeys run, from npm, for this checkout only.
# CI installs those of tests/clis.json only: `make test` needs no others.
CLIS ?= tests/clis_all.json
CLIS_READY = $(VENV)/npm/.ready-$(basename $(notdir $(CLIS)))

clis: $(CLIS_READY)

$(CLIS_READY): $(CLIS)
	@mkdir -p $(@D) && cp $(CLIS) $(@D)/package.json
	@if command -v npm >/dev/null 2>&1 && \
		timeout 600 npm install --prefix $(@D) --no-audit --no-fund --ignore-scripts --loglevel=error >&2; then touch $@; \
	else echo "Without npm's CLIs, the journeys with them are skipped." >&2; fi

# Exact versions of what is installed now, with no address of where it came from.
lock: setup $(VENV)/.ready-docs $(VENV)/.ready-release
	@$(BIN)/pip freeze --exclude-editable | LC_ALL=C sort -f > requirements.lock

clean:
	rm -rf $(VENV) .bench build dist .mypy_cache .ruff_cache .pytest_cache
