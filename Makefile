# Short targets for a person's habits. `make demo` on a fresh Debian 12 with Python 3.11, make and git does all the rest.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile)

BIN := .venv/bin
STAMPS := build/stamps
# Not with this make's own job server, whose pipe it could not use.
ALONE := env -u MAKEFLAGS -u MFLAGS
CARGO := $(ALONE) $(shell command -v cargo || echo $(HOME)/.cargo/bin/cargo)
export PATH := $(PATH):$(HOME)/.cargo/bin
# The tests start the command some hundred times; compiled once, it starts in two thirds of the time.
unexport PYTHONDONTWRITEBYTECODE
export UV_COMPILE_BYTECODE := 1
UV := uv==0.13.9
# The argument chooses groups and extras of pyproject.toml; versions and hashes are those of the lock file.
install = UV_HTTP_TIMEOUT=180 $(BIN)/uv pip install --quiet --python $(BIN)/python --system-certs --require-hashes \
  -c requirements-dev.lock -r pyproject.toml $(1)
# What the firmware and the simulator are built with; a linker for Rust is in gcc and libc6-dev.
APT_PACKAGES := gcc-arm-none-eabi libnewlib-arm-none-eabi binutils-arm-none-eabi cmake ninja-build python3-venv gcc libc6-dev
define apt
missing=""; for each in $(1); do \
  dpkg-query -W -f='$${Status}' $$each 2> /dev/null | grep -q "^install ok installed" || missing="$$missing $$each"; done; \
if [ -n "$$missing" ]; then \
  root=""; if [ "$$(id -u)" != 0 ]; then root=sudo; command -v sudo > /dev/null || { \
    echo "These packages are missing and need root: apt-get install --no-install-recommends$$missing"; exit 1; }; fi; \
  echo "== Installing with apt-get:$$missing"; $$root apt-get update -q; \
  DEBIAN_FRONTEND=noninteractive $$root apt-get install -q -y --no-install-recommends $$missing; fi
endef

# Rust tests run with every assertion and overflow check on; see [profile.tests] in Cargo.toml. Examples are no tests: for
# them `sim/machine` would be built once more, which takes longer than all else. So it would for `sim/gdb`. Crates with
# `test = false` have no test in Rust (test_house.py looks), their tests are Python's; they are not left out here, since
# clippy would then build procedural macros once more, with the features that those crates want of them.
CARGO_TEST := $(CARGO) test --workspace --tests
CARGO_FMT := $(CARGO) fmt --all --check
# In the profile of the tests: what runs as it builds (macros, build scripts) is built once for both.
CARGO_CLIPPY := $(CARGO) clippy --profile tests --workspace --all-targets --quiet -- -D warnings
# The cores once more, as they are built for a host without native code.
CARGO_CLIPPY_INTERPRETED := $(CARGO) clippy --profile tests -p rtoslab-cpu --no-default-features --quiet -- -D warnings
BEHIND := nice -n 5 env
# Python tests that execute much on the simulator and little else: those that a simulator built with checks runs, too.
EXECUTING := python/tests/differential python/tests/timing python/tests/targets/test_snapshots.py python/tests/targets/test_virtual_board.py
# What tests write to throw away lies in memory where Linux has 4 GB to spare for it (they take half a gigabyte): ext4 finds
# room for a file the slower the more were deleted just now. Of tests that fail it stays, and pytest says where.
IN_MEMORY = $(shell [ -w /dev/shm ] && ! grep -q "^[^ ]* /dev/shm [^ ]* [^ ]*noexec" /proc/mounts && \
  [ "$$(df --output=avail -k /dev/shm | tail -1)" -gt 4000000 ] && \
  [ "$$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)" -gt 4000000 ] && \
  echo PYTEST_DEBUG_TEMPROOT=/dev/shm PYTEST_ADDOPTS=-otmp_path_retention_policy=failed)
HOST = $(shell rustc -vV 2> /dev/null | sed -n 's/^host: //p')
SIM_SOURCES := $(shell find sim -name "*.rs" -o -name Cargo.toml) Cargo.toml Cargo.lock .cargo/config.toml python/rtoslab/_sim.pyi

help:
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 22

demo: say-how-long set-up ## install what is missing, run T1-T8 on one core and on two, write the report; says how long it takes
	@echo "== Measuring T1 to T8 with FreeRTOS on the virtual Raspberry Pi Pico, one core and two"
	@$(BIN)/rtoslab demo

# Before anything begins. Seconds where all is built already.
say-how-long:
	@if [ -f $(STAMPS)/simulator ] && [ -z "$$(find sim -name "*.rs" -newer $(STAMPS)/simulator)" ]; then echo "== About half a minute: what is set up stays"; else \
	  echo "== About 10 minutes on two cores the first time, half a minute later. In turn: system packages, Python packages,"; \
	  echo "==   the virtual board (most of the time), kernel sources, then 16 measurements and the report"; fi

# What needs the simulator waits for one core to link it, so all that does not need it goes on beside it on another.
test: ## lint and every test
	@$(MAKE) --no-print-directory -j 5 test-python lint-python test-firmware test-rust gate || { \
	  echo "== Not all has passed: see the lines that say \`failed\` or \`Error\` above"; exit 1; }

# Behind the others in turn: tests of Python, which take longest, begin as soon as the simulator is linked.
test-rust: $(STAMPS)/tools
	@echo "== Rust tests and lint, beside the rest: build/rust-tests.log"
	@{ $(BEHIND) $(CARGO_TEST) --profile tests --quiet && $(BEHIND) $(CARGO_FMT) && $(BEHIND) $(CARGO_CLIPPY) && $(BEHIND) $(CARGO_CLIPPY_INTERPRETED); } > build/rust-tests.log 2>&1 || { \
	  cat build/rust-tests.log; echo "== Rust tests or lint: failed, see above"; exit 1; }
	@echo "== Rust tests and lint: passed"

test-firmware: $(STAMPS)/tools
	@echo "== Firmware tests"
	@cmake -S firmware/tests -B build/firmware-tests -G Ninja > build/firmware-tests.log
	@cmake --build build/firmware-tests >> build/firmware-tests.log || { cat build/firmware-tests.log; exit 1; }
	@ctest --test-dir build/firmware-tests --output-on-failure

test-python: set-up-dev
	@echo "== Python tests"
	$(IN_MEMORY) $(BIN)/pytest -n 3 -q -m "not long"

# In `make test` it runs beside the Python tests: behind them it would leave a core idle.
gate: set-up ## our own benchmarks against baselines/main.toml (docs/compare.md); part of make test
	@echo "== Gate"
	$(BIN)/rtoslab gate --baseline main --other-compiler skip

mutants: set-up ## every benchmark broken on purpose, which its proofs must refuse (docs/mutants.md); some minutes
	$(BIN)/python bench/run.py mutants

test-all: test test-checked test-interpreted test-sanitized report-check ## make test, the long tests and the next three; see docs/testing.md
	$(CARGO_TEST) --profile checked -- --ignored
	$(BIN)/pytest -n 2 -q -m long

test-checked: set-up-dev ## the differential tests on a simulator with assertions and overflow checks
	@echo "== Building the virtual board with assertions and overflow checks"
	$(CARGO) build --profile checked -p rtoslab-py --quiet
	RTOSLAB_SIM=$(CURDIR)/target/checked/lib_sim.so $(BIN)/pytest -n 2 -q -m "not long" $(EXECUTING)

# As on a host whose processor no native code is written for: the boards must be as exact there.
test-interpreted: set-up-dev ## the same tests on a simulator that interprets all code
	@echo "== Building the virtual board without native code"
	$(CARGO) build --profile checked -p rtoslab-py --no-default-features --quiet
	cp target/checked/lib_sim.so target/checked/interpreted.so
	RTOSLAB_SIM=$(CURDIR)/target/checked/interpreted.so $(BIN)/pytest -n 2 -q -m "not long" $(EXECUTING)

# The sanitizer's switch is one that rustc keeps for itself, hence RUSTC_BOOTSTRAP. Python is built without a sanitizer,
# so gcc's runtime is loaded before it; its own leaks are none of ours.
test-sanitized: set-up-dev ## the same under AddressSanitizer
	@echo "== Building the virtual board for AddressSanitizer"
	RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address -Cllvm-args=-asan-stack=0" $(CARGO) build --profile sanitized \
	  -p rtoslab-py --quiet --target $(HOST) --target-dir target/asan
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so)" ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 \
	  RTOSLAB_SIM=$(CURDIR)/target/asan/$(HOST)/sanitized/lib_sim.so $(BIN)/pytest -n 2 -q -m "not long" $(EXECUTING)

lint: lint-python lint-rust ## formatters, linters, types

# Without the simulator, whose types are in _sim.pyi.
lint-python: $(STAMPS)/test
	@echo "== Lint"
	$(BIN)/ruff check python bench
	$(BIN)/ruff format --check python bench
	$(BIN)/mypy
	PYTHONPATH=python $(BIN)/lint-imports --no-cache --no-logo

lint-rust: $(STAMPS)/tools
	$(CARGO_FMT)
	$(CARGO_CLIPPY)
	$(CARGO_CLIPPY_INTERPRETED)

report-check: set-up-dev $(STAMPS)/page-check ## every kind of page in headless Chromium: accessibility, widths, dark, print
	@$(call apt,chromium)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python bench/run.py report_check

docs: set-up-dev reference-pages ## what commands print, written into the pages anew; the diff shows what drifted
	cd python && for each in doc_pages paper_page doc_accuracy doc_matrix doc_ranking; do $(CURDIR)/$(BIN)/python -m tests.$$each; done

# Pages that git ignores: docs/reference.
reference-pages: set-up-dev
	cd python && $(CURDIR)/$(BIN)/python -m tests.doc_reference

site: set-up-dev $(STAMPS)/site reference-pages ## the pages as a site in build/site, searchable and readable on a phone
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/rtoslab choose -o build/site/kernels-compared.html
	@echo "The site is build/site/index.html."

# The wheel also holds the firmware, the contracts, the boards and the papers.
LAB := python/rtoslab/lab

dist: set-up ## a wheel for pip, pipx or uv that needs no checkout, tried in an empty folder
	@rm -rf $(LAB) build/dist && mkdir -p $(LAB) build/dist
	@tar cf - --exclude=firmware/tests --exclude=firmware/mutants firmware spec papers baselines reference | tar xf - -C $(LAB)
	@echo "== Building the wheel"
	@VIRTUAL_ENV=$(CURDIR)/.venv $(ALONE) $(BIN)/maturin build --release --quiet --out build/dist; status=$$?; rm -rf $(LAB); exit $$status
	@bench/try_wheel.sh build/dist/rtoslab-*.whl

# SUBJECTS="points builds" for others; `bench/run.py --help` lists all.
SUBJECTS := speed kernel_images waits tightness

bench: set-up-dev ## speed of the virtual boards beside unicorn and QEMU, tightness of bounds; SUBJECTS=... for others
	@$(if $(filter speed,$(SUBJECTS)),$(call apt,qemu-system-arm))
	for each in $(SUBJECTS); do $(BIN)/python bench/run.py $$each; done

# Coverage by LLVM's own pass, which a stable compiler has; overflow checks and assertions are in the crate's profile. It
# learns from, and adds to, build/fuzz-corpus; sim/fuzz/corpus holds a small choice of that (docs/fuzzing.md).
FUZZ_SECONDS ?= 600
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table

fuzz: $(STAMPS)/tools ## programs and image files made up by a fuzzer, FUZZ_SECONDS=600 long; finds go to sim/fuzz/found
	@$(call apt,g++)
	@echo "== Building the fuzzer"
	@RUSTFLAGS="$(FUZZ_FLAGS)" $(CARGO) build --release --quiet --locked --target $(HOST) \
	  --target-dir build/fuzz --manifest-path sim/fuzz/Cargo.toml
	@mkdir -p build/fuzz-corpus sim/fuzz/found
	@echo "== Fuzzing for $(FUZZ_SECONDS) s"
	build/fuzz/$(HOST)/release/boards build/fuzz-corpus sim/fuzz/corpus -artifact_prefix=sim/fuzz/found/ -max_len=1200 \
	  -len_control=0 -timeout=60 -rss_limit_mb=4000 -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1

INPUTS := 1000000
fuzz-inputs: set-up-dev ## a million damaged inputs of each kind that comes from outside (docs/robustness.md); INPUTS=10000 for fewer
	nice -n 15 $(BIN)/python bench/run.py inputs --inputs $(INPUTS)

set-up: $(STAMPS)/simulator $(STAMPS)/kernels
# A command loads 180 modules: from bytecode it begins a fifth sooner, also where Python is told to write none.
	@$(BIN)/python -m compileall -q python/rtoslab

set-up-dev: set-up $(STAMPS)/test ## what make demo needs, and the tools of tests and lint

locks: $(STAMPS)/python ## the newest versions of all Python packages, with hashes, for both lock files
	@compile="$(BIN)/uv pip compile pyproject.toml --upgrade --quiet --system-certs --python-version 3.11 --generate-hashes --no-header --no-annotate"; \
	$$compile -o requirements.lock; \
	$$compile -c requirements.lock --all-extras --group build --group page-check --group site --group test -o requirements-dev.lock

$(STAMPS)/tools: Makefile
	@mkdir -p $(STAMPS)
	@$(call apt,$(APT_PACKAGES))
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or later is needed; python3 here is $$(python3 --version 2>&1)."; exit 1; }
	@command -v cargo > /dev/null || { echo "== Installing Rust with rustup, for this user"; $(call apt,curl ca-certificates); \
	  curl --proto =https --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --quiet --no-modify-path; }
	@$(CARGO) --version > /dev/null || { echo "cargo does not run; install Rust 1.88 or later with rustup, then run make again."; exit 1; }
	@touch $@

$(STAMPS)/python: pyproject.toml requirements-dev.lock | $(STAMPS)/tools
	@echo "== Python environment in .venv, by uv from requirements-dev.lock (34 packages, hashes checked)"
	@test -x $(BIN)/python || python3 -m venv .venv
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet $(UV)
	@$(call install,--extra report --group build)
	@touch $@

$(STAMPS)/page-check $(STAMPS)/site $(STAMPS)/test: $(STAMPS)/python
	@$(if $(filter test,$(@F)),$(call apt,gdb-multiarch))
	@echo "== Python packages of the group $(@F), from requirements-dev.lock"
	@$(call install,--group $(@F))
	@touch $@

$(STAMPS)/simulator: $(SIM_SOURCES) pyproject.toml $(STAMPS)/python
	@echo "== Building the virtual board: some minutes; a line for each part, the last ones take longest"
	@touch $@.begun  # what changes while it is built is not in it
	@VIRTUAL_ENV=$(CURDIR)/.venv $(ALONE) $(BIN)/maturin develop --release 2>&1 | tee build/simulator.log | \
	  grep --line-buffered -E "^ +(Compiling|Finished)" || { cat build/simulator.log; exit 1; }
	@mv $@.begun $@

$(STAMPS)/kernels: firmware/kernels/Cargo.toml firmware/kernels/Cargo.lock | $(STAMPS)/tools
	@echo "== Fetching the kernel sources pinned in firmware/kernels/Cargo.lock"
	@$(CARGO) fetch --locked --manifest-path firmware/kernels/Cargo.toml
	@touch $@

clean: ## remove what these targets made
	rm -rf build runs target .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
