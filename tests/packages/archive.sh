#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The archive as users get it, where there is nothing else: in an empty root, without a C library, a shell or a temporary
# file of somebody else's; and beside musl, as in Alpine. SOURCE_DIR is the repository, BUILD_DIR its release build.
set -euo pipefail
: "${SOURCE_DIR:?path of the repository}" "${BUILD_DIR:?path of the release build}"
if [ -z "${PLATEAU_IN_ROOT:-}" ]; then
  # What is mounted here is nobody else's, and goes away with this script.
  unshare -r -m true 2>/dev/null || { echo "SKIPPED: no user namespace can be made"; exit 77; }
  exec env PLATEAU_IN_ROOT=1 unshare -r -m bash "$0" "$@"
fi
SCRATCH=$(mktemp -d)
started=()
finish() {
  [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
  umount -l "$SCRATCH/root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$SCRATCH"
}
trap finish EXIT
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

cd "$SOURCE_DIR"
code=0
packaging/portable/libraries.sh build/portable >"$SCRATCH/log" 2>&1 || code=$?
[ "$code" -ne 75 ] || { echo "SKIPPED: Debian's sources do not answer"; exit 77; }
[ "$code" -eq 0 ] || fail "$(tail -20 "$SCRATCH/log")"
tools/build.sh release core portable
packaging/archive.sh "$BUILD_DIR" "$SCRATCH"
version=$("$BUILD_DIR/plateau" --version | cut -d' ' -f2)
archive=$SCRATCH/plateau-$version-linux-x86_64.tar.gz
size=$(stat -c %s "$archive")
echo "the archive has $size bytes"
[ "$size" -lt 12000000 ] || fail "more than 12 MB"

# The root: the archive, a log, a place for temporary files, /proc, and two jobs that keep 300 kB of every step.
root=$SCRATCH/root
mkdir -p "$root"/{tmp,proc,lib,etc}
tar -C "$root" -xf "$archive"
mv "$root/plateau-$version-linux-x86_64" "$root/plateau"
cp corpus/model-garden/run1.log "$root/run1.log"
mount --rbind /proc "$root/proc"
cat >"$SCRATCH/job.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char** words) {
  for (int step = 1; step <= (count > 1 ? atoi(words[1]) : 100); ++step) {
    char* kept = malloc(300000);
    if (kept == NULL) return 1;
    memset(kept, 1, 300000);
    printf("step %d\n", step);
    fflush(stdout);
    usleep(20000);
  }
  return 0;
}
C
gcc -O1 -static "$SCRATCH/job.c" -o "$root/job"
musl-gcc -O1 "$SCRATCH/job.c" -o "$root/musl-job"
inside() { env -i PATH=/usr/sbin:/usr/bin ${trusted:+SSL_CERT_FILE="$trusted"} chroot "$root" "$@"; }
plateau() { inside /plateau/bin/plateau "$@"; }
program=$root/plateau/bin/plateau
readelf -lW "$program" | grep -q INTERP && fail "the program asks for a loader"
readelf -dW "$program" | grep -q NEEDED && fail "the program asks for libraries"
python3 - "$root/plateau/share/doc/plateau/plateau.spdx.json" <<'PY' || fail "the list of parts is not complete"
import json, sys
names = {part["name"] for part in json.load(open(sys.argv[1]))["packages"]}
missing = {"curl", "c-ares", "openssl", "glibc", "elfutils", "libmicrohttpd", "plateau"} - names
sys.exit(f"not listed: {missing}" if missing else 0)
PY

# Files: the answer of the build, and every form of the report.
plateau judge run1.log >"$SCRATCH/inside.out" || [ $? -le 3 ]
(cd "$root" && env -i "$BUILD_DIR/plateau" judge run1.log) >"$SCRATCH/outside.out" || [ $? -le 3 ]
cmp "$SCRATCH/inside.out" "$SCRATCH/outside.out" || fail "another answer than the build's"
for form in html svg md; do
  plateau report /run1.log -o "/report.$form" -q || fail "no report.$form"
  [ -s "$root/report.$form" ] || fail "report.$form is empty"
done
plateau convert /run1.log -o /run1.plateau >"$SCRATCH/log" 2>&1 || fail "convert: $(cat "$SCRATCH/log")"
plateau judge -q /run1.plateau >"$SCRATCH/log" 2>&1 || [ $? -le 3 ] || fail "judge: $(cat "$SCRATCH/log")"
plateau judge /no.log >"$SCRATCH/log" 2>&1 && fail "a missing log is judged"
[ "$(wc -l <"$SCRATCH/log")" = 1 ] || fail "a missing log is told in more than a line: $(cat "$SCRATCH/log")"

# Jobs: started, watched, served; static and musl's.
steps_of() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["steps"]["last"])' "$1"; }
for job in job musl-job; do
  [ $job = job ] || cp /lib/ld-musl-x86_64.so.1 "$root/lib/"
  plateau run -q -o "/$job.plateau" -- "/$job" 60 >"$SCRATCH/out" 2>"$SCRATCH/log" || fail "$job: $(cat "$SCRATCH/log")"
  [ "$(tail -1 "$SCRATCH/out")" = "step 60" ] || fail "$job did not run to its end"
  plateau judge --json "/$job.plateau" >"$SCRATCH/answer" || [ $? -le 3 ]
  [ "$(steps_of "$SCRATCH/answer")" -gt 30 ] || fail "the steps of $job were not heard"
  code=0
  plateau run --heap --force -o /heap.plateau -- "/$job" 3 >"$SCRATCH/out" 2>"$SCRATCH/log" || code=$?
  [[ "$code $(cat "$SCRATCH/log")" = "2 plateau run: the heap tracer is a library for glibc, and "* ]] ||
    fail "run --heap of $job: exit $code, $(cat "$SCRATCH/log")"
  [ "$(cat "$SCRATCH/out" "$SCRATCH/log" | wc -l)" = 1 ] || fail "run --heap of $job is not refused in one line"
done
inside /musl-job 3000 >/dev/null &
started+=($!)
plateau watch $! --for 4s -o /watched.plateau >"$SCRATCH/log" 2>&1 || [ $? -le 3 ] || fail "watch: $(cat "$SCRATCH/log")"
plateau judge --json /watched.plateau >"$SCRATCH/answer" || [ $? -le 3 ]
grep -q '"verdict"' "$SCRATCH/answer" || fail "nothing was watched: $(cat "$SCRATCH/log")"
plateau serve /job.plateau --listen 127.0.0.1:0 >"$SCRATCH/serve" 2>&1 &
started+=($!)
for _ in $(seq 100); do
  address=$(grep -oE 'http://127[^ ]*' "$SCRATCH/serve") || { sleep 0.1; continue; }
  break
done
curl -fsS --noproxy '*' "$address" >"$SCRATCH/page" || fail "serve: $(cat "$SCRATCH/serve")"
grep -qi '<html' "$SCRATCH/page" || fail "no page is served"

# What cannot work is said, and is no crash.
plateau doctor --json >"$SCRATCH/doctor" || fail "doctor: $(cat "$SCRATCH/doctor")"
python3 - "$SCRATCH/doctor" <<'PY' || fail "doctor: $(cat "$SCRATCH/doctor")"
import json, sys
answer = json.load(open(sys.argv[1]))
states = {check["name"]: check for check in answer["checks"]}
assert answer["ready"] and states["memory"]["state"] == "works", states
assert states["tracer"]["state"] == "limited" and "no glibc" in states["tracer"]["text"], states["tracer"]
PY

# Others are told over TLS; hosts are found by name; whom to trust is a file of the user's or of the distribution.
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=metrics.test -addext subjectAltName=DNS:metrics.test \
  -keyout "$SCRATCH/key" -out "$SCRATCH/certificate" 2>/dev/null
python3 tests/stand_in/http_server.py "$SCRATCH/told" "$SCRATCH/certificate" "$SCRATCH/key" >"$SCRATCH/port" &
started+=($!)
for _ in $(seq 100); do [ ! -s "$SCRATCH/port" ] || break; sleep 0.1; done
echo "127.0.0.1 metrics.test" >"$root/etc/hosts"
hook=https://metrics.test:$(cat "$SCRATCH/port")/echo
tell() { plateau run -q --no-recording --on-verdict "$hook" -- /job 10 >/dev/null 2>"$SCRATCH/log"; }
tell || true
grep -q 'metrics.test.*certificate' "$SCRATCH/log" || fail "without a certificate to trust: $(cat "$SCRATCH/log")"
[ ! -s "$SCRATCH/told" ] || fail "whom nobody vouches for was told"
mkdir -p "$root/etc/pki/tls/certs"
cp "$SCRATCH/certificate" "$root/etc/pki/tls/certs/ca-bundle.crt"
tell || fail "webhook: $(cat "$SCRATCH/log")"
[ -s "$SCRATCH/told" ] || fail "nothing was told: $(cat "$SCRATCH/log")"
mv "$root/etc/pki/tls/certs/ca-bundle.crt" "$root/mine.pem"
: >"$SCRATCH/told"
trusted=/mine.pem tell || fail "webhook: $(cat "$SCRATCH/log")"
[ -s "$SCRATCH/told" ] || fail "nothing was told by SSL_CERT_FILE: $(cat "$SCRATCH/log")"
echo "in an empty root, and beside musl: works"
