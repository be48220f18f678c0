#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run --heap records every process of the job, says when none could be traced, and leaves neither a
# process nor a directory behind.
. "$SOURCE_DIR/tests/e2e/lib.sh"

cat >hold.c <<'EOF'
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  (void)argc;
  size_t bytes = (size_t)atol(argv[1]);
  void *volatile kept = malloc(bytes);
  memset(kept, 1, bytes);
  return 0;
}
EOF
gcc -O1 -o hold hold.c
directories() { find /dev/shm "${TMPDIR:-/tmp}" -maxdepth 1 -name 'plateau-heap-*' 2>/dev/null | sort; }
directories >before

# A shell and what it starts.
run "$PLATEAU" run --heap=exact -o tree.plateau -- sh -c './hold 3000000; ./hold 5000000; ./hold 7000000 & wait'
expect_code 0
"$PLATEAU" dump --records tree.plateau >records
for size in '3\.0' '5\.0' '7\.0'; do
  grep -qE "every allocation.*${size}[0-9]? MB alive" records || fail "no track of $size MB: $(cat records)"
done

# A program that cannot load the tracer.
gcc -O1 -static -o static hold.c
run "$PLATEAU" run --heap -o static.plateau -- ./static 1000
expect_code 0
expect_in err "no allocation of the job was seen"
expect_not_in err "plateau profile"

# Killed with its watcher: the job goes on, and the keeper is gone.
"$PLATEAU" run --heap -o killed.plateau -- sh -c 'echo $$ >job; while [ ! -e stop ]; do sleep 0.05; done; echo fine >result' \
  >/dev/null 2>&1 &
watcher=$!
wait_until test -s job
keeper=$(pgrep -P "$watcher" -x plateau-heap)
kill -KILL "$watcher"
wait "$watcher" 2>/dev/null || true
wait_until gone "$keeper"
touch stop
wait_until test -s result

# Other traced jobs may run beside this one; theirs go away with them.
directories >after
comm -13 before after >left
all_gone() { while read -r directory; do [ ! -e "$directory" ] || return 1; done <left; }
wait_until all_gone || fail "directories were left: $(cat left)"
