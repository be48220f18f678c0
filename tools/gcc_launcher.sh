#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A compiler launcher that runs g++ or gcc in place of the compiler that CMake names first. For what
# is never sanitized in the sanitizer build: the tracer is what users get, and the programs that it
# traces keep every allocation, of which clang leaves out those it can see through.
compiler=$1
shift
case "$compiler" in
  *++*) exec g++ "$@" ;;
  *) exec gcc "$@" ;;
esac
