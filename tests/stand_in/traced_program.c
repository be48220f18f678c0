// SPDX-License-Identifier: Apache-2.0
// A program with a heap that is known to the byte, for tests of heap tracing. Never sanitized.
//
//   traced_program leak N BYTES   keeps N blocks of BYTES each, then ends with code 7
//   traced_program hold N BYTES   the same, says "ready" and waits for its input to end
//   traced_program threads N      four threads churn and keep N blocks of 48 bytes each
//   traced_program tree           a fork and a fork with exec keep 1000 and 2000 blocks of 100 bytes
//   traced_program churn          allocates and frees until it is killed
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;

__attribute__((noinline)) static void keep_blocks(long count, size_t bytes) {
  for (long i = 0; i < count; ++i) {
    kept = malloc(bytes);
    memset(kept, 1, bytes);
  }
}

__attribute__((noinline)) static void churn_blocks(long count) {
  for (long i = 0; i < count; ++i) {
    void *volatile block = malloc(64 + (size_t)(i % 512));
    free(block);
  }
}

static void *thread_main(void *count) {
  for (long i = 0; i < *(long *)count; ++i) {
    churn_blocks(2);
    keep_blocks(1, 48);
  }
  return NULL;
}

static void run_threads(long count) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, thread_main, &count);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
}

static void run_tree(char *self) {
  if (fork() == 0) {
    keep_blocks(1000, 100);
    _exit(0);
  }
  if (fork() == 0) {
    execl(self, self, "leak", "2000", "100", (char *)NULL);
    _exit(1);
  }
  while (wait(NULL) > 0) {
  }
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  const long count = argc > 2 ? atol(argv[2]) : 0;
  const size_t bytes = argc > 3 ? (size_t)atol(argv[3]) : 0;
  if (strcmp(what, "leak") == 0 || strcmp(what, "hold") == 0) keep_blocks(count, bytes);
  if (strcmp(what, "threads") == 0) run_threads(count);
  if (strcmp(what, "tree") == 0) run_tree(argv[0]);
  while (strcmp(what, "churn") == 0) churn_blocks(1000);
  if (strcmp(what, "hold") == 0) {
    char byte = 0;
    if (write(1, "ready\n", 6) != 6) return 1;
    while (read(0, &byte, 1) > 0) {
    }
  }
  return 7;
}
