#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A process of somebody else in the job's tree cannot be read in full: said once.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/unprivileged.sh
. "$SOURCE_DIR/tests/unprivileged.sh"

[ "$(id -u)" -eq 0 ] || skip "only root can make a program that runs as root"
install -m 4755 /usr/bin/sleep ../sleep-as-root
"${as_user[@]}" ../sleep-as-root 5 &
sleep 0.3
uid=$(awk '/^Uid/ {print $3}' "/proc/$!/status")
kill $!
[ "$uid" -eq 0 ] || skip "set-uid programs do not work here"
run "${as_user[@]}" ../plateau run -o mixed.plateau -- sh -c '../sleep-as-root 1.5; exit 4'
expect_code 4
# Once while it runs; the report's notes repeat it at the end.
[ "$(grep -c '^plateau run:.*smaps_rollup: permission denied' err)" -eq 1 ] || fail "not said once: $(cat err)"
[ -z "$(grep 'permission denied' err | sort | uniq -d)" ] || fail "said twice: $(cat err)"
