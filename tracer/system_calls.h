// SPDX-License-Identifier: Apache-2.0
// System calls as the tracer makes them: through syscall(), because the functions of libc may be
// interposed (ours or another library's) and because open, close and the like are points where a
// thread may be cancelled, which malloc is not.
//
// All return what the kernel returns to libc: -1 with errno set. Callers keep the program's errno.
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

namespace plateau::trace {

inline int sys_open(const char* path, int flags, mode_t mode) noexcept {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
inline void sys_close(int fd) noexcept {
  syscall(SYS_close, fd);
}
inline bool sys_fallocate(int fd, uint64_t bytes) noexcept {
  return syscall(SYS_fallocate, fd, 0, 0L, static_cast<long>(bytes)) == 0;
}
inline bool sys_rename(const char* from, const char* to) noexcept {
  return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0) == 0;
}
inline void sys_unlink(const char* path) noexcept {
  syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
inline void* sys_mmap(void* at, size_t bytes, int protection, int flags, int fd,
                      off_t offset) noexcept {
  return std::bit_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}
inline int sys_munmap(void* at, size_t bytes) noexcept {
  return static_cast<int>(syscall(SYS_munmap, at, bytes));
}
inline int sys_madvise(void* at, size_t bytes, int advice) noexcept {
  return static_cast<int>(syscall(SYS_madvise, at, bytes, advice));
}
inline pid_t sys_getpid() noexcept {
  return static_cast<pid_t>(syscall(SYS_getpid));
}
inline pid_t sys_getppid() noexcept {
  return static_cast<pid_t>(syscall(SYS_getppid));
}
// Whether an open file lies in memory: tmpfs, which memfd is too, or huge pages. Keeps errno.
inline bool sys_is_in_memory(int fd) noexcept {
  struct statfs about{};
  const int saved = errno;
  const bool told = syscall(SYS_fstatfs, fd, &about) == 0;
  errno = saved;
  return told && (about.f_type == TMPFS_MAGIC || about.f_type == HUGETLBFS_MAGIC);
}
inline bool sys_fstat(int fd, struct stat& about) noexcept {
  return syscall(SYS_newfstatat, fd, "", &about, AT_EMPTY_PATH) == 0;
}
inline bool sys_stat(const char* path, struct stat& about) noexcept {
  return syscall(SYS_newfstatat, AT_FDCWD, path, &about, AT_SYMLINK_NOFOLLOW) == 0;
}
// One byte a page; its lowest bit says whether the page is resident.
inline bool sys_mincore(uint64_t at, size_t bytes, unsigned char* out) noexcept {
  return syscall(SYS_mincore, at, bytes, out) == 0;
}
// Bytes that a file may have; more than that would not only fail but raise SIGXFSZ.
inline uint64_t sys_file_size_limit() noexcept {
  struct {
    uint64_t now, most;
  } limit{};
  return syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, nullptr, &limit) == 0 ? limit.now : 0;
}
// 0: none, 2: a filter; -1 where the kernel cannot tell.
inline int sys_seccomp_mode() noexcept {
  return static_cast<int>(syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0));
}

}  // namespace plateau::trace
