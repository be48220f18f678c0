#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installed, plateau-train runs with the torch of a Python that has the version it was built with; where none has, it
# says so in one line, with the remedy.
. "$(dirname "$0")/train_lib.sh"

build=$(dirname "$TRAINER")
package=$(cat "$build/plateau-train-libtorch.place")
mkdir -p bin lib/plateau old/torch
# A Python that has nothing but itself: the system's may have a torch.
/usr/bin/python3 -m venv --without-pip bare
bare=$PWD/bare/bin/python3
cp "$TRAINER" bin/
cp "$build/plateau-train-libtorch" lib/plateau/
echo 'file(RPATH_REMOVE FILE lib/plateau/plateau-train-libtorch)' >strip.cmake
cmake -P strip.cmake
started() { run env PYTHONPATH="$1" PLATEAU_TORCH_PYTHON="$bare" bin/plateau-train --version; }
refused() {
  expect_code 2
  expect_empty out
  expect_one_line err
  expect_in err "$1"
  expect_in err "pip install torch=="
}

started "$(dirname "$package")"
expect_code 0
expect_empty err
expect_in out "plateau-train"
run env PYTHONPATH="$(dirname "$package")" PATH="$PWD/bare/bin:$PATH" bin/plateau-train --version
expect_code 0

started ""
refused "$bare has no torch"
run env PLATEAU_TORCH_PYTHON="$PWD/no such 'python'" bin/plateau-train --version
refused "no such 'python' has no torch"
touch old/torch/__init__.py
echo "__version__ = '1.13.1'" >old/torch/version.py
started "$PWD/old"
refused "has torch 1.13.1"
printf '%s\n' "$PWD/old/torch" >lib/plateau/plateau-train-libtorch.place
run env PATH="$PWD/bare/bin:/usr/bin:/bin" bin/plateau-train --version
refused "python3 on the PATH has no torch"

# Directories that the user gave the loader stay, behind LibTorch's.
printf '%s\n' "$package" >lib/plateau/plateau-train-libtorch.place
rm lib/plateau/plateau-train-libtorch
printf '#!/bin/sh\nprintenv LD_LIBRARY_PATH\n' >lib/plateau/plateau-train-libtorch
chmod +x lib/plateau/plateau-train-libtorch
run env LD_LIBRARY_PATH=/theirs bin/plateau-train --version
expect_in out "$package/lib:/theirs"
