#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what a part of the work needs, from Debian 12: tools/setup.sh PART...
#   core      to build plateau and its tracer
#   demo      to show it
#   fleet     to show it on a fleet, with a Prometheus and an Alertmanager
#   trainer   to build plateau-train, and a torch in a virtual environment if python3 has none (tools/stack.sh --torch says where)
#   test      to build and run all tests of both, with a browser, and to lint and fuzz
#   bench     to run the benchmarks
#   page      to build the page behind `plateau report`
#   site      to make the documentation a site
#   lint      to check and format the sources, with a clang-tidy from PyPI (tools/stack.sh --tidy says where)
#   ship      to make the wheel, the release and the Debian packages
#   arm64     to build for arm64 and to run that here (tools/arm64.sh has the libraries)
#   stack     the Python packages that users train with, in a virtual environment (tools/stack.sh says where), and Debian's torch
# Says what it installs and how far it is. Does nothing, quickly and quietly, when all is there.
set -euo pipefail
cd "$(dirname "$0")"
. ./progress.sh

core=(
  g++ cmake ninja-build ccache pkg-config python3 libcli11-dev libfmt-dev libsimdjson-dev libzstd-dev zlib1g-dev
  libdw-dev libelf-dev libmicrohttpd-dev libcurl4-openssl-dev
)
# The job that the demo watches holds pictures.
demo=(python3 python3-pil)
fleet=(python3 prometheus prometheus-alertmanager curl)
# libgloo-dev: of Gloo only names that PyTorch's headers ask for; the library itself is in LibTorch.
trainer=(python3 python3-venv libgloo-dev libjpeg62-turbo-dev libpng-dev libwebp-dev libutf8proc-dev)
with_torch=no
lint=(clang-19 clang-format-19 shellcheck git python3 python3-venv)
with_tidy=no
with_schemas=no
# npm, for the page (web/) and for the test against Hugging Face's tokenizers. Some packages of nodejs
# bring their own, beside which Debian's cannot be installed.
page=()
command -v npm >/dev/null || page=(nodejs npm)
site=(python3 python3-markdown)
test=(
  "${demo[@]}" "${lint[@]}" "${page[@]}" "${site[@]}"
  libgtest-dev libgmock-dev librapidcheck-dev nlohmann-json3-dev libclang-rt-19-dev
  python3-psutil python3-jsonschema python3-yaml libc6-dbg libdebuginfod1 mandoc bash zsh fish gzip zstd bsdutils bsdextrautils tmux gdb curl openssl
  # the page in real browsers, the metrics in a real Prometheus, fleets in real databases
  chromium firefox-esr prometheus prometheus-alertmanager victoria-metrics
  # notebooks in a real kernel
  python3-nbclient python3-ipykernel
  # the wheel and the archive, from Debian's own sources; the latter beside musl
  dpkg-dev python3-venv libssl-dev libc-ares-dev musl-tools
  # a JVM to be watched
  openjdk-17-jdk-headless
  # other allocators that a traced program may use
  libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0
)
bench=(libbenchmark-dev python3 python3-psutil gzip)
# The wheel takes Debian's own sources and static libraries.
ship=(dpkg-dev python3-venv libssl-dev libc-ares-dev debhelper dh-python lintian debootstrap fakeroot)
arm64=(g++-aarch64-linux-gnu qemu-user)
# Debian's own torch, the oldest that is looked after; hosts that are network namespaces, for jobs of many ranks.
stack=(python3 python3-venv python3-torch iproute2)
with_stack=no

wanted=()
[ $# -gt 0 ] || set -- core
for part in "$@"; do
  case $part in
    core) wanted+=("${core[@]}") ;;
    demo) wanted+=("${demo[@]}") ;;
    fleet) wanted+=("${fleet[@]}") ;;
    trainer) wanted+=("${trainer[@]}") with_torch=yes ;;
    test) wanted+=("${test[@]}") with_tidy=yes with_schemas=yes ;;
    bench) wanted+=("${bench[@]}") ;;
    page) wanted+=("${page[@]}") ;;
    site) wanted+=("${site[@]}") ;;
    lint) wanted+=("${lint[@]}") with_tidy=yes ;;
    ship) wanted+=("${ship[@]}") ;;
    arm64) wanted+=("${arm64[@]}") ;;
    stack) wanted+=("${stack[@]}") with_stack=yes ;;
    *) echo "usage: tools/setup.sh core|demo|fleet|trainer|test|bench|page|site|lint|ship|arm64|stack ..." >&2; exit 2 ;;
  esac
done
finish() {
  [ $with_stack = no ] || ./stack.sh --install
  [ $with_torch = no ] || ./stack.sh --install-torch
  [ $with_tidy = no ] || ./stack.sh --install-tidy
  [ $with_schemas = no ] || ./stack.sh --install-schemas
  exit
}
[ ${#wanted[@]} -gt 0 ] || finish

mapfile -t missing < <(
  comm -23 <(printf '%s\n' "${wanted[@]}" | sort -u) \
    <(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/^ii  *//p' | sort -u))
[ ${#missing[@]} -gt 0 ] || finish

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: need root or sudo to install: ${missing[*]}" >&2; exit 2; }
  sudo=(sudo)
fi

# Follows apt's status lines: "dlstatus:N:PERCENT:..." while it fetches, "pmstatus:NAME:PERCENT:..." while it installs.
follow() {
  local kind name percent rest
  while IFS=: read -r kind name percent rest; do
    case $kind in
      dlstatus) progress "setup: fetching packages, ${percent%%.*} %" ;;
      pmstatus) progress "setup: installing packages, ${percent%%.*} % (${name%%:*})" ;;
    esac
  done
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
progress_end "setup ($*): installing ${#missing[@]} packages and what they need: ${missing[*]}"
apt() { "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@" >>"$log" 2>&1; }
progress "setup: asking for the list of packages"
begin=$SECONDS
if ! { apt -qq update &&
  apt -y -qq -o APT::Status-Fd=3 -o Dpkg::Use-Pty=0 --no-install-recommends install "${missing[@]}" 3> >(follow); }; then
  progress_end "setup: apt-get failed"
  tail -20 "$log" >&2
  exit 1
fi
progress_end "setup: ${#missing[@]} packages installed in $((SECONDS - begin)) s"
finish
