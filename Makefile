# Verbs. Each does the set-up that it needs; `make help` lists them.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 30

.PHONY: build setup quickstart test check lint format bench fuzz golden install clean help
.DEFAULT_GOAL := build

build: setup ## build the binary: build/interlace
	@scripts/build build

setup: ## install and unpack what a build needs
	@scripts/setup

quickstart: build ## build, then make and run a first project in quickstart/
	@scripts/quickstart

test: ## all tests, plain and under sanitizers; the last line is the count
	@scripts/test

check: test ## the same as test

lint: ## formatting, static analysis, layers
	@scripts/setup --dev
	@scripts/lint

format: ## format all C and Python sources
	@scripts/setup --dev
	@scripts/lint --fix

bench: build ## measure; needs bench/run
	@bench/run

fuzz: ## run each fuzz target for FUZZ_SECONDS (30)
	@scripts/setup --dev
	@scripts/fuzz $(FUZZ_SECONDS)

golden: ## rewrite the expected outputs of tests/golden; review the difference
	@scripts/test --golden

install: setup ## install below PREFIX (/usr/local); DESTDIR is put in front
	@scripts/build build --prefix=$(abspath $(PREFIX))
	@meson install -C build --no-rebuild --quiet $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

clean: ## remove what was built (not what was downloaded)
	@rm -rf build build-test build-asan build-fuzz build-results quickstart

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20
