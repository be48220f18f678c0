// SPDX-License-Identifier: Apache-2.0
// Makes children in every way and says who they are: "parent PID", "fork PID", "clone PID" (without
// handlers), "grandchild PID", "vfork PID", "spawn PID". The parent holds 111-byte blocks, its
// children allocate 222-byte blocks, the vfork child a 333-byte block.
#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

void* blocks[1000];
int used = 0;

void hold(size_t bytes, int count) {
  for (int i = 0; i < count; ++i) {
    blocks[used++] = malloc(bytes);
  }
}

// `how` is told by the child itself, which frees what it inherited, too.
void be_child(const char* how) {
  hold(222, 50);
  for (int i = 0; i < 20; ++i) {
    free(blocks[i]);
    blocks[i] = nullptr;
  }
  dprintf(1, "%s %d\n", how, getpid());
}

void await(pid_t child) {
  int status = 0;
  if (child <= 0 || waitpid(child, &status, 0) != child || status != 0) {
    dprintf(1, "child failed: %d\n", status);
    exit(1);
  }
}

}  // namespace

int main() {
  hold(111, 100);
  dprintf(1, "parent %d\n", getpid());
  pid_t child = fork();
  if (child == 0) {
    be_child("fork");
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      be_child("grandchild");
      exit(0);
    }
    await(grandchild);
    exit(0);
  }
  await(child);
  child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (child == 0) {
    be_child("clone");
    _exit(0);
  }
  await(child);
  child = vfork();
  if (child == 0) {
    blocks[used++] = malloc(333);
    execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  await(child);
  dprintf(1, "vfork %d\n", child);
  char* arguments[] = {const_cast<char*>("true"), nullptr};
  char* environment[] = {nullptr};
  if (posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, environment) != 0) {
    return 1;
  }
  await(child);
  dprintf(1, "spawn %d\n", child);
  hold(111, 100);
  return 0;
}
