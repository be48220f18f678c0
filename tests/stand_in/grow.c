// SPDX-License-Identifier: Apache-2.0
// Keeps 50 kB every 10 ms, as often as its argument says (200 times without one), at one place.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile kept;

__attribute__((noinline)) static void keep(void) {
  kept = malloc(50000);
  memset(kept, 1, 50000);
}

int main(int count, char **arguments) {
  const int times = count > 1 ? atoi(arguments[1]) : 200;
  for (int i = 0; i < times; ++i) {
    keep();
    usleep(10000);
  }
  return 0;
}
