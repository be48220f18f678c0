#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A JVM that keeps more and more beneath a level that its collector was given at the start: RSS does not tell, the heap does. One
# that only makes garbage is level. Counters that are switched off change nothing else.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
command -v javac >/dev/null || skip "no JDK here"

cat >Keep.java <<'JAVA'
import java.util.*;

public class Keep {
  public static void main(String[] args) throws Exception {
    int steps = Integer.parseInt(args[0]), kept = Integer.parseInt(args[1]), pause = Integer.parseInt(args[2]);
    List<byte[]> holds = new ArrayList<>();
    Deque<byte[]> window = new ArrayDeque<>();
    for (int step = 1; step <= steps; step++) {
      for (int i = 0; i < 40; i++) {
        window.add(new byte[65536]);
        if (window.size() > 160) window.poll();
      }
      for (int i = 0; i < kept; i++) holds.add(new byte[1000]);
      System.out.println("Step " + step);
      Thread.sleep(pause);
    }
    System.out.println("kept " + holds.size());
  }
}
JAVA
javac -J-XX:TieredStopAtLevel=1 Keep.java

# Of the answer: the word, the component, what the heap's first and last reading were, the limit.
heap_of() {
  { "$PLATEAU" judge --json "$1" || true; } | python3 -c '
import json, sys
answer = json.load(sys.stdin)
heap = [c for c in answer["components"] if c["name"] == "java_heap"]
first, last = (heap[0]["first_mb"], heap[0]["last_mb"]) if heap else (0, 0)
print(answer["verdict"], answer["component"], round(first), round(last), round(answer["risk"]["limit_mb"] or 0),
      answer["causes"][0]["name"] if answer["causes"] else "-")'
}
watch() { # NAME STEPS KEPT [OPTION...]
  local name=$1 steps=$2 kept=$3
  shift 3
  "$PLATEAU" run -q -o "$name.plateau" -- java -Xms48m -Xmx48m -XX:+AlwaysPreTouch -XX:+UseSerialGC "$@" -cp . Keep "$steps" "$kept" 5 >"$name.out" 2>err ||
    fail "$(cat err)"
}

watch leaking 1800 11 &
watch level 700 0
read -r word component first last limit cause <<<"$(heap_of level.plateau)"
[ "$word" != leak ] || fail "garbage is called a leak of $component: $first to $last MB"
((last > 0)) || fail "no reading of the heap of a program that makes garbage"
wait $!
read -r word component first last limit cause <<<"$(heap_of leaking.plateau)"
[ "$word $component $cause" = "leak java_heap java-heap" ] || fail "$word of $component because of $cause: $first to $last MB"
((limit > 25 && limit < 49)) || fail "a limit of $limit MB, where the old generation has 32 of 48"
"$PLATEAU" judge leaking.plateau >report || true
expect_in report "left in the Java heap grew by"

watch silent 60 0 -XX:-UsePerfData
read -r word component first last limit cause <<<"$(heap_of silent.plateau)"
[ "$last" = 0 ] || fail "a heap of $last MB without counters"
