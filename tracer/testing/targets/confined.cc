// SPDX-License-Identifier: Apache-2.0
// Puts a limit on itself, then allocates a hundred megabytes piece by piece and says so.
//
//   confined seccomp|only-memory|strict|address-space|files|file-size|closed|chroot
//   confined exec PROGRAM ARGUMENTS: the program begins under a filter that lets through what the
//   loader and this program call, and nothing else
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

// Of x86-64 alone; where there is no such call, one that is listed anyway.
#if defined(__x86_64__)
constexpr long kLoadersOwn[] = {SYS_arch_prctl, SYS_access, SYS_readlink};
#else
constexpr long kLoadersOwn[] = {SYS_read, SYS_read, SYS_read};
#endif

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

// Nothing but the calls that are listed. prctl is not, not even to ask whether there is a filter.
template <size_t count>
bool allow_only(const long (&numbers)[count]) {
  sock_filter program[count + 3] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (size_t i = 0; i < count; ++i) {
    program[i + 1] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(numbers[i]),
                              static_cast<uint8_t>(count - i), 0);
  }
  program[count + 1] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  program[count + 2] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog filter{count + 3, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

// A renderer's: memory, threads, an end. A child of it must be able to live, too.
bool allow_only_memory() {
  return allow_only({SYS_getrandom, SYS_write, SYS_brk, SYS_mmap, SYS_munmap, SYS_clone, SYS_wait4,
                     SYS_futex, SYS_set_robust_list, SYS_gettid, SYS_exit, SYS_exit_group,
                     SYS_rt_sigprocmask});
}

bool allow_only_start() {
  return allow_only({SYS_execve,     SYS_openat,          SYS_read,
                     SYS_close,      SYS_newfstatat,      SYS_mmap,
                     SYS_munmap,     SYS_mprotect,        SYS_brk,
                     SYS_write,      SYS_pread64,         SYS_faccessat,
                     SYS_prlimit64,  SYS_set_tid_address, SYS_rseq,
                     SYS_getrandom,  SYS_exit_group,      SYS_set_robust_list,
                     kLoadersOwn[0], kLoadersOwn[1],      kLoadersOwn[2]});
}

bool limit(int resource, rlim_t value) {
  const rlimit both{value, value};
  return setrlimit(static_cast<__rlimit_resource>(resource), &both) == 0;
}

bool confine(const char* how) {
  if (strcmp(how, "seccomp") == 0) {
    return forbid_files();
  }
  if (strcmp(how, "only-memory") == 0) {
    return allow_only_memory();
  }
  if (strcmp(how, "strict") == 0) {
    // The heap must be there before: nothing but read, write and the end is left.
    void* volatile block = malloc(100'000);
    free(block);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
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
  if (argc > 2 && strcmp(argv[1], "exec") == 0) {
    return allow_only_start() ? execv(argv[2], argv + 2) : 2;
  }
  if (argc != 2 || (strcmp(argv[1], "not") != 0 && !confine(argv[1]))) {
    return 2;
  }
  if (strcmp(argv[1], "only-memory") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      void* volatile block = malloc(2'000'000);
      free(block);
      _exit(0);
    }
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0) {
      return 5;
    }
  }
  for (int i = 0; i < 10'000; ++i) {
    void* block = malloc(10'000);
    if (block == nullptr) {
      return 3;
    }
    memset(block, 1, 100);
    free(block);
  }
  const bool said = write(1, "done\n", 5) == 5;
  if (strcmp(argv[1], "strict") == 0) {
    syscall(SYS_exit, said ? 0 : 4);
  }
  return said ? 0 : 4;
}
