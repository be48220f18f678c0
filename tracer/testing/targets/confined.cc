// SPDX-License-Identifier: Apache-2.0
// Puts a limit on itself, then allocates a hundred megabytes piece by piece and says so.
//
//   confined seccomp|address-space|files|file-size|closed|chroot
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {

// Whoever opens or renames a file from now on is killed.
bool forbid_files() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 2, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog filter{sizeof(program) / sizeof(program[0]), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

bool limit(int resource, rlim_t value) {
  const rlimit both{value, value};
  return setrlimit(static_cast<__rlimit_resource>(resource), &both) == 0;
}

bool confine(const char* how) {
  if (strcmp(how, "seccomp") == 0) {
    return forbid_files();
  }
  if (strcmp(how, "address-space") == 0) {
    return limit(RLIMIT_AS, rlim_t{24} << 20);
  }
  if (strcmp(how, "files") == 0) {
    return limit(RLIMIT_NOFILE, 0);
  }
  if (strcmp(how, "file-size") == 0) {
    return limit(RLIMIT_FSIZE, 4096);
  }
  if (strcmp(how, "closed") == 0) {
    for (int fd = 3; fd < 100; ++fd) {
      close(fd);
    }
    close(0);
    return close(2) == 0;
  }
  // Only root may; for others it is one case less.
  return strcmp(how, "chroot") == 0 && (chroot("/proc/self/fdinfo") == 0 || getuid() != 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || !confine(argv[1])) {
    return 2;
  }
  for (int i = 0; i < 10'000; ++i) {
    void* block = malloc(10'000);
    if (block == nullptr) {
      return 3;
    }
    memset(block, 1, 100);
    free(block);
  }
  return write(1, "done\n", 5) == 5 ? 0 : 4;
}
