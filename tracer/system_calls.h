// SPDX-License-Identifier: Apache-2.0
// System calls as the tracer makes them: straight into the kernel, because the functions of libc
// may be interposed (ours or another library's), because open, close and the like are points where
// a thread may be cancelled, which malloc is not, and because errno is the program's.
//
// All return what the kernel returns: an error is its number below zero.
#pragma once

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace plateau::trace {

inline long raw_system_call(long number, long first = 0, long second = 0, long third = 0,
                            long fourth = 0, long fifth = 0, long sixth = 0) noexcept {
#if defined(__x86_64__)
  long result = number;
  register long in_r10 asm("r10") = fourth;
  register long in_r8 asm("r8") = fifth;
  register long in_r9 asm("r9") = sixth;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(first), "S"(second), "d"(third), "r"(in_r10), "r"(in_r8), "r"(in_r9)
               : "rcx", "r11", "memory");
#else
  register long in_x8 asm("x8") = number;
  register long result asm("x0") = first;
  register long in_x1 asm("x1") = second;
  register long in_x2 asm("x2") = third;
  register long in_x3 asm("x3") = fourth;
  register long in_x4 asm("x4") = fifth;
  register long in_x5 asm("x5") = sixth;
  asm volatile("svc 0"
               : "+r"(result)
               : "r"(in_x8), "r"(in_x1), "r"(in_x2), "r"(in_x3), "r"(in_x4), "r"(in_x5)
               : "memory");
#endif
  return result;
}
template <typename... Arguments>
long system_call(long number, Arguments... arguments) noexcept {
  return raw_system_call(number, (long)(arguments)...);
}

// For functions that stand in for libc's: -1 and errno.
inline long as_libc(long result) noexcept {
  if (result < 0 && result > -4096) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}

inline int sys_open(const char* path, int flags, mode_t mode) noexcept {
  return static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, flags, mode));
}
inline long sys_read(int fd, void* to, size_t bytes) noexcept {
  return system_call(SYS_read, fd, to, bytes);
}
inline void sys_close(int fd) noexcept {
  system_call(SYS_close, fd);
}
inline bool sys_fallocate(int fd, uint64_t bytes) noexcept {
  return system_call(SYS_fallocate, fd, 0, 0, bytes) == 0;
}
inline bool sys_rename(const char* from, const char* to) noexcept {
  return system_call(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0) == 0;
}
inline void sys_unlink(const char* path) noexcept {
  system_call(SYS_unlinkat, AT_FDCWD, path, 0);
}
// MAP_FAILED on an error.
inline void* sys_mmap(void* at, size_t bytes, int protection, int flags, int fd,
                      off_t offset) noexcept {
  const long result = system_call(SYS_mmap, at, bytes, protection, flags, fd, offset);
  return result < 0 && result > -4096 ? MAP_FAILED : std::bit_cast<void*>(result);
}
inline int sys_munmap(void* at, size_t bytes) noexcept {
  return static_cast<int>(system_call(SYS_munmap, at, bytes));
}
inline int sys_madvise(void* at, size_t bytes, int advice) noexcept {
  return static_cast<int>(system_call(SYS_madvise, at, bytes, advice));
}
inline pid_t sys_getpid() noexcept {
  return static_cast<pid_t>(system_call(SYS_getpid));
}
inline pid_t sys_getppid() noexcept {
  return static_cast<pid_t>(system_call(SYS_getppid));
}
inline void sys_sleep_ns(long ns) noexcept {
  const timespec pause{.tv_sec = 0, .tv_nsec = ns};
  system_call(SYS_nanosleep, &pause, 0);
}
// Whether an open file lies in memory: tmpfs, which memfd is too, or huge pages.
inline bool sys_is_in_memory(int fd) noexcept {
  struct statfs about{};
  return system_call(SYS_fstatfs, fd, &about) == 0 &&
         (about.f_type == TMPFS_MAGIC || about.f_type == HUGETLBFS_MAGIC);
}
inline bool sys_fstat(int fd, struct stat& about) noexcept {
  return system_call(SYS_newfstatat, fd, "", &about, AT_EMPTY_PATH) == 0;
}
inline bool sys_stat(const char* path, struct stat& about) noexcept {
  return system_call(SYS_newfstatat, AT_FDCWD, path, &about, AT_SYMLINK_NOFOLLOW) == 0;
}
// The inode of the namespace that this process's id is of; 0 if it cannot be told.
inline uint64_t sys_pid_namespace() noexcept {
  struct stat about{};
  return system_call(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &about, 0) == 0 ? about.st_ino
                                                                                    : 0;
}
// One byte a page; its lowest bit says whether the page is resident.
inline bool sys_mincore(uint64_t at, size_t bytes, unsigned char* out) noexcept {
  return system_call(SYS_mincore, at, bytes, out) == 0;
}
// Bytes that a file may have; more than that would not only fail but raise SIGXFSZ.
inline uint64_t sys_file_size_limit() noexcept {
  struct {
    uint64_t now, most;
  } limit{};
  return system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit) == 0 ? limit.now : 0;
}

}  // namespace plateau::trace
