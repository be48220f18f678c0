// SPDX-License-Identifier: Apache-2.0
// What the objects of this build ask of a C library newer than 2.28, supplied by the program itself. Which
// functions that are is not decided here: the link against the stand-ins (old_glibc.py) fails on each by name.
//
// Everything is hidden: inside the program and nowhere else. Where the machine's library has the newer
// function and it matters, it is looked up and used.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SUPPLIED __attribute__((visibility("hidden"), used))

#ifndef PLATEAU_SHIMS_OF_THE_TRACER
// Until 2.34 a program ran its constructors itself, by a function that it handed to __libc_start_main; the start-up
// code of today's toolchains hands over none. A newer library calls it just the same, and then leaves them alone.
extern void (*__preinit_array_start[])(int, char**, char**) __attribute__((visibility("hidden")));
extern void (*__preinit_array_end[])(int, char**, char**) __attribute__((visibility("hidden")));
extern void (*__init_array_start[])(int, char**, char**) __attribute__((visibility("hidden")));
extern void (*__init_array_end[])(int, char**, char**) __attribute__((visibility("hidden")));
extern void _init(void);

typedef int Main(int, char**, char**);
extern int libc_start_main_of_old(Main*, int, char**, void (*)(int, char**, char**), void (*)(void), void (*)(void),
                                  void*);
__asm__(".symver libc_start_main_of_old, __libc_start_main@GLIBC_2.2.5");

static void run_constructors(int count, char** arguments, char** environment) {
  const size_t before = (size_t)(__preinit_array_end - __preinit_array_start);
  for (size_t i = 0; i < before; ++i) {
    __preinit_array_start[i](count, arguments, environment);
  }
  _init();
  const size_t all = (size_t)(__init_array_end - __init_array_start);
  for (size_t i = 0; i < all; ++i) {
    __init_array_start[i](count, arguments, environment);
  }
}

SUPPLIED int __libc_start_main(Main* program, int count, char** arguments, void (*init)(int, char**, char**),
                               void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
  (void)init;
  return libc_start_main_of_old(program, count, arguments, run_constructors, fini, loader_fini, stack_end);
}

// "There may be threads": atomic operations are used always.
SUPPLIED char __libc_single_threaded = 0;

// Without the newer one the deadline is moved to the wall clock. Whoever waits asks again after it; a clock that
// is set meanwhile makes one wait too short or too long, which only libraries before 2.30 can suffer.
typedef int ClockWait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);

SUPPLIED int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                    const struct timespec* deadline) {
  ClockWait* newer = (ClockWait*)dlsym(RTLD_NEXT, "pthread_cond_clockwait");
  if (newer != NULL) {
    return newer(condition, mutex, clock, deadline);
  }
  struct timespec there, wall;
  clock_gettime(clock, &there);
  clock_gettime(CLOCK_REALTIME, &wall);
  wall.tv_sec += deadline->tv_sec - there.tv_sec;
  wall.tv_nsec += deadline->tv_nsec - there.tv_nsec;
  while (wall.tv_nsec < 0) {
    wall.tv_nsec += 1000000000;
    --wall.tv_sec;
  }
  while (wall.tv_nsec >= 1000000000) {
    wall.tv_nsec -= 1000000000;
    ++wall.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &wall);
}

// libgcc asks for the unwind table of the library that a code address is in, whenever an exception is thrown. What it
// reads of the answer are the object's bounds and its table; on this machine no data base is asked for.
struct Sought {
  ElfW(Addr) address;
  struct dl_find_object* answer;
};

static int holds(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  struct Sought* sought = data;
  const ElfW(Phdr)* table = NULL;
  const ElfW(Phdr)* match = NULL;
  for (size_t i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const ElfW(Addr) begin = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) {
      table = part;
    } else if (part->p_type == PT_LOAD && sought->address >= begin && sought->address - begin < part->p_memsz) {
      match = part;
    }
  }
  if (match == NULL || table == NULL) {
    return match != NULL ? -1 : 0;
  }
  const ElfW(Addr) begin = object->dlpi_addr + match->p_vaddr;
  sought->answer->dlfo_flags = 0;
  sought->answer->dlfo_map_start = (void*)begin;
  sought->answer->dlfo_map_end = (void*)(begin + match->p_memsz);
  sought->answer->dlfo_link_map = NULL;
  sought->answer->dlfo_eh_frame = (void*)(object->dlpi_addr + table->p_vaddr);
  return 1;
}

SUPPLIED int _dl_find_object(void* address, struct dl_find_object* answer) {
  struct Sought sought = {(ElfW(Addr))address, answer};
  return dl_iterate_phdr(holds, &sought) == 1 ? 0 : -1;
}

SUPPLIED int close_range(unsigned first, unsigned last, int flags) {
  return (int)syscall(SYS_close_range, first, last, flags);
}

// The names of POSIX without "SIG", as sigabbrev_np gives them.
SUPPLIED const char* sigabbrev_np(int number) {
  static const char* const names[] = {
      [SIGHUP] = "HUP",       [SIGINT] = "INT",   [SIGQUIT] = "QUIT", [SIGILL] = "ILL",   [SIGTRAP] = "TRAP",
      [SIGABRT] = "ABRT",     [SIGBUS] = "BUS",   [SIGFPE] = "FPE",   [SIGKILL] = "KILL", [SIGUSR1] = "USR1",
      [SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2", [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM",
      [SIGSTKFLT] = "STKFLT", [SIGCHLD] = "CHLD", [SIGCONT] = "CONT", [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",
      [SIGTTIN] = "TTIN",     [SIGTTOU] = "TTOU", [SIGURG] = "URG",   [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ",
      [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH", [SIGPOLL] = "POLL", [SIGPWR] = "PWR",
      [SIGSYS] = "SYS"};
  return number > 0 && (size_t)number < sizeof names / sizeof names[0] ? names[number] : NULL;
}
#endif

// Functions since 2.33, before that inlined. The kernel's structure is the library's own here (x86-64, arm64).
SUPPLIED int fstatat(int directory, const char* path, struct stat* result, int flags) {
  return (int)syscall(SYS_newfstatat, directory, path, result, flags);
}
SUPPLIED int stat(const char* path, struct stat* result) { return fstatat(AT_FDCWD, path, result, 0); }
SUPPLIED int lstat(const char* path, struct stat* result) {
  return fstatat(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}
SUPPLIED int fstat(int file, struct stat* result) { return fstatat(file, "", result, AT_EMPTY_PATH); }
// The C++ library's name for it; on a machine of 64 bits the structures are one.
SUPPLIED int fstat64(int file, struct stat64* result) { return (int)syscall(SYS_newfstatat, file, "", result, AT_EMPTY_PATH); }
