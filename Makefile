# SPDX-License-Identifier: Apache-2.0
# One command per job; each is idempotent and installs what it needs when it is first needed.
# `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := build
PREFIX ?= /usr/local
export PATH := /usr/lib/ccache:$(PATH)

.PHONY: help setup build train demo demo-train demo-fleet quick test page bench corpus lint analyze format fuzz cost install site wheel release deb arm64 clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: ## Install the Debian packages of some PARTS (default: all but ship): core demo trainer test bench page lint ship
	@tools/setup.sh $(or $(PARTS),core demo trainer test bench page)

build: ## Build plateau and its tracer into build/release
	@tools/setup.sh core
	@tools/build.sh release core

train: ## The same and plateau-train, which needs LibTorch
	@tools/setup.sh core trainer
	@tools/build.sh --trainer release core plateau-train

demo: ## Build, then judge three real logs and watch a real job
	@tools/setup.sh core demo
	@tools/build.sh release core
	@tools/demo.sh

demo-train: train ## Build plateau-train, then plan and run a small training that judges itself
	@tools/demo.sh train

demo-fleet: build ## Start fifty small jobs, a Prometheus and an Alertmanager, and wait for the alert: about a minute
	@tools/setup.sh fleet
	@tools/demo.sh fleet

quick: ## Build, and run the tests of the rooms that were changed since the last commit
	@tools/setup.sh core test
	@tools/quick.py

test: ## Build everything and run every test, as CI does
	@tools/setup.sh core trainer test stack
	@tools/test.sh

page: ## Build the page behind 'plateau report' into web/dist/page.html
	@tools/setup.sh page
	@tools/page.sh build

site: build ## Make the documentation a site in build/site; it opens from disk
	@tools/setup.sh site
	@/usr/bin/python3 -B tools/site.py

corpus: ## Score the verdict and its rivals on all recorded traces (docs/accuracy.md)
	@tools/setup.sh core bench >&2
	@tools/build.sh --bench release corpus_score >&2 && tools/accuracy.sh build/release/corpus_score

bench: ## Run the benchmarks
	@tools/setup.sh core demo bench
	@tools/build.sh --bench release core benchmarks && tools/bench.sh

cost: ## CPU seconds of the last build by room, and its dearest files, beside the budget
	@tools/build_cost.py build/release

lint: ## Check format, lint, layering and sizes
	@tools/setup.sh core trainer lint
	@tools/lint.sh

analyze: ## Run clang's static analyzer over src/, which lint leaves out
	@tools/setup.sh core trainer lint
	@TIDY_CHECKS='-*,clang-analyzer-core*,clang-analyzer-cplusplus*' tools/lint.sh

format: ## Rewrite the sources in the house format
	@tools/setup.sh lint
	@git ls-files -co --exclude-standard '*.cc' '*.h' | xargs clang-format-19 -i

fuzz: ## Fuzz every parser; FUZZ_SECONDS=3600 for the long run
	@tools/setup.sh core trainer test
	@tools/fuzz.sh $${FUZZ_SECONDS:-60}

wheel: ## Make dist/*.whl for pip, uv and pipx (any CPython, glibc 2.28 or later), and the source distribution
	@tools/setup.sh core ship
	@packaging/portable/libraries.sh build/portable
	@tools/build.sh release core portable
	@packaging/wheel.sh --sdist build/release dist

release: ## Make everything of a release into dist/: wheel, sources, archive, list of parts, checksums, notes
	@tools/setup.sh core ship
	@packaging/portable/libraries.sh build/portable
	@tools/build.sh release core portable
	@packaging/release.sh build/release dist

deb: ## Make the Debian packages plateau, plateau-train and python3-plateau into dist/deb
	@tools/setup.sh core trainer ship
	@tools/build.sh --trainer release core plateau-train
	@packaging/deb.sh build/release dist/deb

arm64: build ## Build for arm64 with Debian's cross compiler and run what can run under qemu
	@tools/setup.sh core test arm64
	@tools/arm64.sh --test

install: build ## Install to PREFIX (default /usr/local), honours DESTDIR
	@cmake --install build/release --prefix $(PREFIX)

clean: ## Remove what was built
	@rm -rf build
