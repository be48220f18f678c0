#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what building and testing need, from Debian 12. Does nothing, quickly, when all is there.
set -euo pipefail

packages=(
  # build
  g++ cmake ninja-build ccache pkg-config libcli11-dev libfmt-dev libsimdjson-dev libzstd-dev zlib1g-dev
  libdw-dev libelf-dev libmicrohttpd-dev
  # the trainer; OpenBLAS by name, because LibTorch alone brings a BLAS that is many times slower
  libtorch-dev libgloo-dev libopenblas0-pthread libjpeg62-turbo-dev libpng-dev libwebp-dev libutf8proc-dev
  # tests and checks
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev nlohmann-json3-dev
  clang-19 libclang-rt-19-dev clang-tidy-19 clang-format-19
  python3 python3-pil python3-psutil mandoc shellcheck bash zsh fish gzip zstd git bsdutils
  bsdextrautils tmux gdb curl
  # the page in a real browser, the metrics in a real Prometheus
  chromium prometheus
  # other allocators that a traced program may use
  libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0
)
# npm, for the page (web/) and for the test against Hugging Face's tokenizers. Some packages of nodejs bring their own, beside
# which Debian's cannot be installed.
command -v npm >/dev/null || packages+=(nodejs npm)

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null)" = "ii " ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: need root or sudo to install: ${missing[*]}" >&2; exit 2; }
  sudo=(sudo)
fi
echo "setup: installing ${missing[*]}" >&2
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
