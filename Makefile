# SPDX-License-Identifier: Apache-2.0
# One command per job; each is idempotent. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := build
PRESET ?= release
PREFIX ?= /usr/local
export PATH := /usr/lib/ccache:$(PATH)

.PHONY: help setup build demo test page bench corpus lint analyze format fuzz install clean

help: ## List the commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: ## Install the Debian packages that building and testing need
	@tools/setup.sh

build: setup ## Build the release binaries into build/release
	@tools/build.sh $(PRESET)

demo: build ## Build, then judge three real logs and watch a real job
	@tools/demo.sh

test: setup ## Build everything and run every test, as CI does
	@tools/test.sh

page: setup ## Build the page behind 'plateau report' into web/dist/page.html
	@tools/page.sh build

corpus: setup ## Score the verdict and its rivals on all recorded traces (docs/accuracy.md)
	@tools/build.sh bench >&2 && tools/accuracy.sh build/bench/corpus_score

bench: setup ## Run the benchmarks
	@tools/build.sh bench && tools/bench.sh

lint: setup ## Check format, lint, layering and sizes
	@tools/lint.sh

analyze: setup ## Run clang's static analyzer over src/, which lint leaves out
	@TIDY_CHECKS='-*,clang-analyzer-core*,clang-analyzer-cplusplus*' tools/lint.sh

format: setup ## Rewrite the sources in the house format
	@git ls-files -co --exclude-standard '*.cc' '*.h' | xargs clang-format-19 -i

fuzz: setup ## Fuzz every parser; FUZZ_SECONDS=3600 for the long run
	@tools/fuzz.sh $${FUZZ_SECONDS:-60}

install: build ## Install to PREFIX (default /usr/local), honours DESTDIR
	@cmake --install build/release --prefix $(PREFIX)

clean: ## Remove what was built
	@rm -rf build
