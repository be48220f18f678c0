// SPDX-License-Identifier: Apache-2.0
// A wrapper with the name and the manner of `uv run CMD`: stays resident above its child, waits.
//
// It holds 20 MiB and nothing of it moves. Whoever measures this process sees a level line while
// the child grows. Verdict and cause are the child's; the process to name is the child, with the
// role main, and this one is a wrapper.
#include <sys/wait.h>

#include "leaker.h"

int main(int argc, char** argv) {
  if (argc < 3 || std::string_view(argv[1]) != "run") {
    std::fprintf(stderr, "usage: %s run CMD...\n", argv[0]);
    return 2;
  }
  leaker::block(20UL * 1024);
  const pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
