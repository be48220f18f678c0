// SPDX-License-Identifier: Apache-2.0
// The entries of the tracer: the exported names, their attached twins, start and end.
//
// Exported functions get their names by assembler labels, so that no header's declaration of, say,
// operator new gets a say in how they are compiled.
#include "tracer/hooks.h"

#include "tracer/hook_bodies.h"
#include "tracer/hook_new.h"
#include "tracer/system_calls.h"

namespace plateau::trace {

constinit std::atomic<NewKind> new_kind{NewKind::unknown};

namespace {

// One line per group of threads: counting must not make them wait for each other.
constexpr size_t kCounters = 16;
struct alignas(64) Counter {
  std::atomic<int64_t> value{0};
};
constinit Counter inside[kCounters]{};

class Inside {
 public:
  Inside() noexcept
      : counter_(inside[(reinterpret_cast<uint64_t>(&thread_state) >> 12) % kCounters].value) {
    counter_.fetch_add(1, std::memory_order_acquire);
  }
  ~Inside() { counter_.fetch_sub(1, std::memory_order_release); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  std::atomic<int64_t>& counter_;
};

}  // namespace

int64_t threads_inside() noexcept {
  int64_t sum = 0;
  for (const Counter& counter : inside) {
    sum += counter.value.load(std::memory_order_acquire);
  }
  return sum;
}

void* note_first_new(Site site, size_t bytes, NewFn call, uintptr_t second, uintptr_t third) {
  if (find_short_cut_of_new()) {
    new_kind.store(NewKind::through_malloc, std::memory_order_relaxed);
    return call(bytes, second, third);
  }
  thread_state.within = Within::probing;
  void* block = call(bytes, second, third);
  const bool passed_by = thread_state.within == Within::probing;
  thread_state.within = Within::program;
  if (block == nullptr) {
    return block;
  }
  new_kind.store(passed_by ? NewKind::of_its_own : NewKind::through_malloc,
                 std::memory_order_relaxed);
  if (passed_by && alloc_due(bytes)) {
    note_alloc(BlockKind::heap, block, bytes, site);
  }
  return block;
}

// PLATEAU_HOOK(result, name, (parameters), body call)
#define PLATEAU_HOOK(result, name, parameters, call)                                          \
  extern "C" [[gnu::visibility("default")]] result exported_##name parameters __asm__(#name); \
  extern "C" result exported_##name parameters {                                              \
    return call;                                                                              \
  }                                                                                           \
  extern "C" [[gnu::visibility("hidden")]] result plateau_##name parameters;                  \
  extern "C" result plateau_##name parameters {                                               \
    const Inside counted;                                                                     \
    return call;                                                                              \
  }

// The same for the calls a program makes most. `usual` returns if nothing is to be noted. If not,
// the exported function jumps to its body, whose frame then stands where its own stood: the caller
// that the body sees is the program. Inlined, the body would cost every call the registers it
// needs.
#define PLATEAU_SHORT_HOOK(result, name, parameters, arguments, usual, call)                  \
  extern "C" [[gnu::visibility("hidden"), gnu::noinline]] result noted_##name parameters;     \
  extern "C" result noted_##name parameters {                                                 \
    return call;                                                                              \
  }                                                                                           \
  extern "C" [[gnu::visibility("default")]] result exported_##name parameters __asm__(#name); \
  extern "C" result exported_##name parameters {                                              \
    usual;                                                                                    \
    return noted_##name arguments;                                                            \
  }                                                                                           \
  extern "C" [[gnu::visibility("hidden")]] result plateau_##name parameters;                  \
  extern "C" result plateau_##name parameters {                                               \
    const Inside counted;                                                                     \
    return call;                                                                              \
  }

#define PLATEAU_USUAL(condition, value) \
  if (condition) [[likely]]             \
  return value

PLATEAU_SHORT_HOOK(void*, malloc, (size_t bytes), (bytes),
                   PLATEAU_USUAL(may_cut_short(ShortCut::to_malloc) && only_counts(bytes),
                                 real.malloc(bytes)),
                   malloc_body(PLATEAU_SITE, bytes))
PLATEAU_SHORT_HOOK(void*, calloc, (size_t count, size_t each), (count, each),
                   PLATEAU_USUAL(may_cut_short(ShortCut::to_malloc) && only_counts(count * each),
                                 real.calloc(count, each)),
                   calloc_body(PLATEAU_SITE, count, each))
PLATEAU_SHORT_HOOK(void, free, (void* block), (block),
                   PLATEAU_USUAL(only_frees(block), real.free(block)), free_body(block))
PLATEAU_HOOK(void*, realloc, (void* block, size_t bytes), realloc_body(PLATEAU_SITE, block, bytes))
PLATEAU_HOOK(void*, reallocarray, (void* block, size_t count, size_t each),
             reallocarray_body(PLATEAU_SITE, block, count, each))
PLATEAU_HOOK(void, cfree, (void* block), free_body(block))
PLATEAU_HOOK(void*, memalign, (size_t alignment, size_t bytes),
             allocate(bytes, PLATEAU_SITE, [&] { return real.memalign(alignment, bytes); }))
PLATEAU_HOOK(void*, aligned_alloc, (size_t alignment, size_t bytes),
             allocate(bytes, PLATEAU_SITE, [&] { return real.aligned_alloc(alignment, bytes); }))
PLATEAU_HOOK(int, posix_memalign, (void** out, size_t alignment, size_t bytes),
             posix_memalign_body(PLATEAU_SITE, out, alignment, bytes))
PLATEAU_HOOK(void*, valloc, (size_t bytes),
             allocate(bytes, PLATEAU_SITE, [&] { return real.valloc(bytes); }))
PLATEAU_HOOK(void*, pvalloc, (size_t bytes),
             allocate(bytes, PLATEAU_SITE, [&] { return real.pvalloc(bytes); }))

PLATEAU_HOOK(void*, mmap, (void* at, size_t bytes, int protection, int flags, int fd, off_t offset),
             mmap_body(PLATEAU_SITE, at, bytes, protection, flags, fd, offset))
PLATEAU_HOOK(void*, mmap64,
             (void* at, size_t bytes, int protection, int flags, int fd, off_t offset),
             mmap_body(PLATEAU_SITE, at, bytes, protection, flags, fd, offset))
PLATEAU_HOOK(int, munmap, (void* at, size_t bytes), munmap_body(at, bytes))
// Variadic in C; a fifth argument that was not given is not looked at.
PLATEAU_HOOK(void*, mremap, (void* at, size_t old_bytes, size_t bytes, int flags, void* to),
             mremap_body(PLATEAU_SITE, at, old_bytes, bytes, flags, to))
PLATEAU_HOOK(int, memfd_create, (const char* name, unsigned flags),
             memfd_create_body(PLATEAU_SITE, name, flags))
PLATEAU_HOOK(int, shm_open, (const char* name, int flags, mode_t mode),
             shm_open_body(PLATEAU_SITE, name, flags, mode))
PLATEAU_HOOK(int, dlclose, (void* handle), dlclose_body(handle))
// Variadic in C; what was not given is handed on unread. The real one is jumped to: a call may
// wait for ever, and must not be counted as inside meanwhile.
#define PLATEAU_SYSCALL(name, visible, guard)                                                  \
  extern "C" [[gnu::visibility(visible)]] long name(                                           \
      long number, long first, long second, long third, long fourth, long fifth, long sixth) { \
    if (number == SYS_seccomp || number == SYS_prctl) [[unlikely]] {                           \
      guard;                                                                                   \
      expect_restriction(restriction_of(number, first, second));                               \
    }                                                                                          \
    return real.syscall(number, first, second, third, fourth, fifth, sixth);                   \
  }
extern "C" long exported_syscall(long, long, long, long, long, long, long) __asm__("syscall");
PLATEAU_SYSCALL(exported_syscall, "default", static_cast<void>(0))
PLATEAU_SYSCALL(plateau_syscall, "hidden", const Inside counted)
PLATEAU_HOOK(int, prctl, (int option, long second, long third, long fourth, long fifth),
             prctl_body(option, second, third, fourth, fifth))

#define PLATEAU_NEW(which, name)                                               \
  PLATEAU_HOOK(void*, name, (size_t bytes, uintptr_t second, uintptr_t third), \
               new_body(PLATEAU_SITE, which, bytes, second, third))
#define PLATEAU_DELETE(which, name)                                          \
  PLATEAU_HOOK(void, name, (void* block, uintptr_t second, uintptr_t third), \
               delete_body(PLATEAU_SITE, which, block, second, third))

#define PLATEAU_SHORT_NEW(which, name)                                    \
  PLATEAU_SHORT_HOOK(void*, name, (size_t bytes), (bytes),                \
                     if (void* block = new_in_short(bytes)) return block, \
                     new_body(PLATEAU_SITE, which, bytes, 0, 0))
#define PLATEAU_SHORT_NOTHROW_NEW(which, name)                                       \
  PLATEAU_SHORT_HOOK(void*, name, (size_t bytes, uintptr_t second), (bytes, second), \
                     if (void* block = new_in_short(bytes)) return block,            \
                     new_body(PLATEAU_SITE, which, bytes, second, 0))
#define PLATEAU_SHORT_DELETE(which, name)                                                       \
  PLATEAU_SHORT_HOOK(void, name, (void* block, uintptr_t second, uintptr_t third),              \
                     (block, second, third),                                                    \
                     PLATEAU_USUAL(may_cut_short(ShortCut::new_to_malloc) && only_frees(block), \
                                   real.free(block)),                                           \
                     delete_body(PLATEAU_SITE, which, block, second, third))

PLATEAU_SHORT_NEW(0, _Znwm)
PLATEAU_SHORT_NEW(1, _Znam)
PLATEAU_SHORT_NOTHROW_NEW(2, _ZnwmRKSt9nothrow_t)
PLATEAU_SHORT_NOTHROW_NEW(3, _ZnamRKSt9nothrow_t)
PLATEAU_NEW(4, _ZnwmSt11align_val_t)
PLATEAU_NEW(5, _ZnamSt11align_val_t)
PLATEAU_NEW(6, _ZnwmSt11align_val_tRKSt9nothrow_t)
PLATEAU_NEW(7, _ZnamSt11align_val_tRKSt9nothrow_t)
PLATEAU_SHORT_DELETE(0, _ZdlPv)
PLATEAU_SHORT_DELETE(1, _ZdaPv)
PLATEAU_SHORT_DELETE(2, _ZdlPvm)
PLATEAU_SHORT_DELETE(3, _ZdaPvm)
PLATEAU_SHORT_DELETE(4, _ZdlPvRKSt9nothrow_t)
PLATEAU_SHORT_DELETE(5, _ZdaPvRKSt9nothrow_t)
PLATEAU_DELETE(6, _ZdlPvSt11align_val_t)
PLATEAU_DELETE(7, _ZdaPvSt11align_val_t)
PLATEAU_DELETE(8, _ZdlPvmSt11align_val_t)
PLATEAU_DELETE(9, _ZdaPvmSt11align_val_t)
PLATEAU_DELETE(10, _ZdlPvSt11align_val_tRKSt9nothrow_t)
PLATEAU_DELETE(11, _ZdaPvSt11align_val_tRKSt9nothrow_t)

#define PLATEAU_ENTRY(name) {#name, reinterpret_cast<void*>(plateau_##name)}
const HookEntry kHooks[] = {
    PLATEAU_ENTRY(malloc),
    PLATEAU_ENTRY(calloc),
    PLATEAU_ENTRY(realloc),
    PLATEAU_ENTRY(reallocarray),
    PLATEAU_ENTRY(free),
    PLATEAU_ENTRY(cfree),
    PLATEAU_ENTRY(memalign),
    PLATEAU_ENTRY(aligned_alloc),
    PLATEAU_ENTRY(posix_memalign),
    PLATEAU_ENTRY(valloc),
    PLATEAU_ENTRY(pvalloc),
    PLATEAU_ENTRY(mmap),
    PLATEAU_ENTRY(mmap64),
    PLATEAU_ENTRY(munmap),
    PLATEAU_ENTRY(mremap),
    PLATEAU_ENTRY(memfd_create),
    PLATEAU_ENTRY(shm_open),
    PLATEAU_ENTRY(dlclose),
    PLATEAU_ENTRY(syscall),
    PLATEAU_ENTRY(prctl),
    PLATEAU_ENTRY(_Znwm),
    PLATEAU_ENTRY(_Znam),
    PLATEAU_ENTRY(_ZnwmRKSt9nothrow_t),
    PLATEAU_ENTRY(_ZnamRKSt9nothrow_t),
    PLATEAU_ENTRY(_ZnwmSt11align_val_t),
    PLATEAU_ENTRY(_ZnamSt11align_val_t),
    PLATEAU_ENTRY(_ZnwmSt11align_val_tRKSt9nothrow_t),
    PLATEAU_ENTRY(_ZnamSt11align_val_tRKSt9nothrow_t),
    PLATEAU_ENTRY(_ZdlPv),
    PLATEAU_ENTRY(_ZdaPv),
    PLATEAU_ENTRY(_ZdlPvm),
    PLATEAU_ENTRY(_ZdaPvm),
    PLATEAU_ENTRY(_ZdlPvRKSt9nothrow_t),
    PLATEAU_ENTRY(_ZdaPvRKSt9nothrow_t),
    PLATEAU_ENTRY(_ZdlPvSt11align_val_t),
    PLATEAU_ENTRY(_ZdaPvSt11align_val_t),
    PLATEAU_ENTRY(_ZdlPvmSt11align_val_t),
    PLATEAU_ENTRY(_ZdaPvmSt11align_val_t),
    PLATEAU_ENTRY(_ZdlPvSt11align_val_tRKSt9nothrow_t),
    PLATEAU_ENTRY(_ZdaPvSt11align_val_tRKSt9nothrow_t),
};
const size_t kHookCount = sizeof(kHooks) / sizeof(kHooks[0]);

namespace {

[[gnu::constructor]] void start() {
  const int saved = errno;
  find_real_functions();
  process.started = true;
  configure();
  errno = saved;
}

[[gnu::destructor]] void end() {
  const int saved = errno;
  // What still comes, from destructors that run later, is recorded all the same.
  if (may_call(MayCall::anything) &&
      tables.owner.load(std::memory_order_acquire) == owner_word(sys_getpid())) {
    SegmentHeader& segment = *process.segment.load(std::memory_order_relaxed);
    if (segment.state.load(std::memory_order_relaxed) == SegmentState::running) {
      segment.state.store(SegmentState::ended, std::memory_order_release);
    }
  }
  errno = saved;
}

}  // namespace

}  // namespace plateau::trace
