#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Captures the files of /proc that the probe reads, as a fixture.
#
#   tools/capture_proc.sh PID... OUT
#
# Taken: the processes named, all that descend from them, and their ancestors, without pid 1. Of each: stat, status,
# statm, smaps_rollup, cmdline, comm, cgroup. Of the machine: meminfo, loadavg, uptime. Never taken: environ, fd, maps,
# and any other process.
#
# Scrubbed: the host's name becomes "host", the user's name "user", the home directory /home/user, every directory in
# SCRUB (blank-separated) /srv/job; a cgroup path with 12 or more hexadecimal digits, which name a container, becomes
# /job. Pid 1 is not captured but written as /sbin/init: what runs there tells of the host, not of the job.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: $0 PID... OUT" >&2; exit 2; }
out=${*: -1}
asked=("${@:1:$#-1}")
[ ! -e "$out" ] || { echo "$0: $out exists already" >&2; exit 2; }

parent_of() { sed -n 's/^PPid:\t//p' "/proc/$1/status"; }
below() {
  local child children
  echo "$1"
  read -ra children < <(cat "/proc/$1"/task/*/children) || true
  for child in "${children[@]}"; do below "$child"; done
}
above() {
  local pid
  pid=$(parent_of "$1")
  while [ "$pid" -gt 1 ]; do
    echo "$pid"
    pid=$(parent_of "$pid")
  done
}

as_pattern() { printf '%s' "$1" | sed 's/[][\.*^$|]/\\&/g'; }
rules=()
for directory in ${SCRUB:-}; do rules+=(-e "s|$(as_pattern "$directory")|/srv/job|g"); done
rules+=(-e "s|$(as_pattern "$HOME")\b|/home/user|g")
rules+=(-e "s|\b$(as_pattern "$(uname -n)")\b|host|g")
# Root is no secret and part of many words.
[ "$(id -un)" = root ] || rules+=(-e "s|\b$(as_pattern "$(id -un)")\b|user|g")

mkdir -p "$out"
all() {
  local one
  for one in "${asked[@]}"; do
    above "$one"
    below "$one"
  done
}
for pid in $(all | sort -nu); do
  mkdir "$out/$pid"
  for file in stat status statm smaps_rollup cmdline comm; do
    sed -z "${rules[@]}" "/proc/$pid/$file" >"$out/$pid/$file"
  done
  sed "${rules[@]}" -E -e 's|:/[^:]*[0-9a-f]{12,}.*|:/job|' "/proc/$pid/cgroup" >"$out/$pid/cgroup"
done
for file in meminfo loadavg uptime; do cat "/proc/$file" >"$out/$file"; done

mkdir "$out/1"
printf '1 (init) S 0 1 1 0 -1 4194560 0 0 0 0 1 1 0 0 20 0 1 0 1 0 0\n' >"$out/1/stat"
printf 'Name:\tinit\nTgid:\t1\nPid:\t1\nPPid:\t0\n' >"$out/1/status"
printf '/sbin/init\0' >"$out/1/cmdline"
printf 'init\n' >"$out/1/comm"
printf '0::/init.scope\n' >"$out/1/cgroup"
