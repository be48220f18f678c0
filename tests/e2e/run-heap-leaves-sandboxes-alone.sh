#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A filter on system calls kills for calls that a program never makes. Programs in a sandbox of
# every kind run to their end under the tracer, and what it could not see there is said.
. "$SOURCE_DIR/tests/e2e/lib.sh"

confined=$(dirname "$PLATEAU")/tracer_targets/confined
[ -x "$confined" ] || skip "the programs that sandbox themselves were not built"

# A filter that the program puts on itself: by number, all but memory, the strict mode of old. And
# one that was there before it began, as a service manager's.
for mode in sampled exact; do
  for how in seccomp only-memory strict "exec $confined not"; do
    # shellcheck disable=SC2086
    run "$PLATEAU" run "--heap=$mode" -o job.plateau -- "$confined" $how
    expect_code 0
    [ "$(cat out)" = "done" ] || fail "$how suffered in mode $mode: $(cat out err)"
    rm -f job.plateau
  done
done
run "$PLATEAU" run --heap=exact -o job.plateau -- "$confined" only-memory
expect_in err "1 of the job's processes began in a sandbox that leaves the heap tracer no way to report"

# Namespaces and a file system that cannot be written to.
if command -v bwrap >/dev/null && bwrap --ro-bind / / --unshare-all true 2>/dev/null; then
  run "$PLATEAU" run --heap -o wrapped.plateau -- bwrap --ro-bind / / --dev /dev --proc /proc \
    --unshare-all "$confined" not
  expect_code 0
  [ "$(cat out)" = "done" ] || fail "bubblewrap suffered: $(cat out err)"
fi

# A browser, whose sandbox there is only for ordinary users.
command -v chromium >/dev/null || exit 0
mkdir home
echo '<p id=p></p><script>p.textContent = "made " + [..."abc"].length</script>' >page.html
chmod 755 . && chmod 777 home
as_user=()
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
"${as_user[@]}" test -x "$PLATEAU" || exit 0
cd home
for mode in sampled exact; do
  run "${as_user[@]}" env HOME="$PWD" timeout 60 "$PLATEAU" run "--heap=$mode" \
    -o "$PWD/chromium-$mode.plateau" -- chromium --headless --disable-gpu \
    --user-data-dir="$PWD/profile" --dump-dom "file://$SCRATCH/page.html"
  expect_code 0
  expect_in out "made 3"
done
