# Two commands for people: `make demo` and `make test`. The rest is what they are made of.

CARGO ?= cargo
SLUICE := target/release/sluice
OUT := out
SECONDS_OF_SOUND := 8
SAMPLES := $(shell expr $(SECONDS_OF_SOUND) \* 48000)

# What cannot be tested here is gathered from the first step on; scripts/test shows it at the end.
ifneq ($(filter test,$(MAKECMDGOALS)),)
export SLUICE_SKIPPED := $(abspath $(or $(CARGO_TARGET_DIR),target))/skipped
$(shell mkdir -p "$(dir $(SLUICE_SKIPPED))" && : >"$(SLUICE_SKIPPED)")
endif

.PHONY: demo test bench bench-compare vsix packages packages-test build lint clean help

help:
	@echo "make demo    install what is missing, build, decode an FM recording; results under out/"
	@echo "make test    everything: format, lints, tests"
	@echo "make bench   the figures, as ratios"
	@echo "make bench-compare BASE=COMMIT [PROGRAMS=\"fft dct\"]   this version's code beside that of a commit: fails where a program has become slower"
	@echo "make vsix    the extension for VS Code: editors/vscode/sluice.vsix"

packages:
	@scripts/install-packages build

packages-test:
	@scripts/install-packages build test
	@scripts/install-cuda
	@scripts/install-editors

build: packages
	$(CARGO) build --release --locked -p sluice

demo: build
	@scripts/demo $(SLUICE) $(OUT) $(SAMPLES)

lint:
	$(CARGO) fmt --all --check
ifeq ($(RUSTC_WORKSPACE_WRAPPER),clippy-driver)
	@# who lints compiles, too (.ci/run): what this makes is what is tested
	$(CARGO) test --workspace --all-targets --no-run --locked
else
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
endif
	@scripts/deny

test: packages
	@scripts/beside "$(MAKE) --no-print-directory packages-test" "$(MAKE) --no-print-directory lint"
	@scripts/test

bench: packages-test
	@scripts/install-packages bench
	@scripts/bench

bench-compare:
	@scripts/bench-compare "$(BASE)" $(PROGRAMS)

vsix:
	@SLUICE_NEEDS_EDITORS=1 scripts/install-editors
	@cd editors/vscode && npm run --silent package

clean:
	$(CARGO) clean
	rm -rf $(OUT)
