// SPDX-License-Identifier: Apache-2.0
#include "tracer/real_functions.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tracer/objects.h"
#include "tracer/system_calls.h"

namespace plateau::trace {

const char* const kNewNames[kNewCount] = {
    "_Znwm",
    "_Znam",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
};
const char* const kDeleteNames[kDeleteCount] = {
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdaPvRKSt9nothrow_t",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
};

alignas(16) constinit char boot_memory[kBootBytes] = {};

namespace {

// ---- The boot arena.

constexpr size_t kBootAlignment = 16;
constinit std::atomic<size_t> boot_used{0};

// A block is preceded by its size.
void* boot_block(size_t bytes) noexcept {
  if (bytes > kBootBytes) {
    return nullptr;
  }
  const size_t whole = (bytes + 2 * kBootAlignment - 1) / kBootAlignment * kBootAlignment;
  const size_t at = boot_used.fetch_add(whole);
  if (at + whole > kBootBytes) {
    boot_used.fetch_sub(whole);
    return nullptr;
  }
  memcpy(boot_memory + at, &bytes, sizeof(bytes));
  return boot_memory + at + kBootAlignment;
}

// ---- Stand-ins that find the real ones first.

enum class Search : uint32_t { not_begun, under_way, done };
constinit std::atomic<Search> search{Search::not_begun};

// True if the real function can be called now; false if we are being called by the search itself.
bool found() noexcept {
  find_real_functions();
  return search.load(std::memory_order_acquire) == Search::done;
}

void* boot_malloc(size_t bytes) {
  return found() ? real.malloc(bytes) : boot_block(bytes);
}
void* boot_calloc(size_t count, size_t each) {
  // The arena is zero and never reused.
  return found() ? real.calloc(count, each) : boot_block(count * each);
}
void* boot_realloc(void* block, size_t bytes) {
  if (found()) {
    return real.realloc(block, bytes);
  }
  void* fresh = boot_block(bytes);
  if (block != nullptr && fresh != nullptr && in_boot_arena(block)) {
    const size_t old = boot_block_bytes(block);
    memcpy(fresh, block, old < bytes ? old : bytes);
  }
  return fresh;
}
void boot_free(void* block) {
  if (!in_boot_arena(block) && found()) {
    real.free(block);
  }
}
void* boot_memalign(size_t alignment, size_t bytes) {
  return found() ? real.memalign(alignment, bytes) : nullptr;
}
void* boot_aligned_alloc(size_t alignment, size_t bytes) {
  return found() ? real.aligned_alloc(alignment, bytes) : nullptr;
}
int boot_posix_memalign(void** out, size_t alignment, size_t bytes) {
  return found() ? real.posix_memalign(out, alignment, bytes) : ENOMEM;
}
void* boot_valloc(size_t bytes) {
  return found() ? real.valloc(bytes) : nullptr;
}
void* boot_pvalloc(size_t bytes) {
  return found() ? real.pvalloc(bytes) : nullptr;
}

// Also what serves if libc has none of these.
void* plain_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return std::bit_cast<void*>(
      as_libc(system_call(SYS_mmap, at, bytes, protection, flags, fd, offset)));
}
int plain_munmap(void* at, size_t bytes) {
  return static_cast<int>(as_libc(sys_munmap(at, bytes)));
}
void* plain_mremap(void* at, size_t old_bytes, size_t bytes, int flags, void* to) {
  return std::bit_cast<void*>(as_libc(system_call(SYS_mremap, at, old_bytes, bytes, flags, to)));
}
void* boot_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return found() ? real.mmap(at, bytes, protection, flags, fd, offset)
                 : plain_mmap(at, bytes, protection, flags, fd, offset);
}
int boot_munmap(void* at, size_t bytes) {
  return found() ? real.munmap(at, bytes) : plain_munmap(at, bytes);
}
void* boot_mremap(void* at, size_t old_bytes, size_t bytes, int flags, void* to) {
  return found() ? real.mremap(at, old_bytes, bytes, flags, to)
                 : plain_mremap(at, old_bytes, bytes, flags, to);
}
int boot_shm_open(const char* name, int flags, mode_t mode) {
  return found() && real.shm_open != boot_shm_open ? real.shm_open(name, flags, mode)
                                                   : (errno = ENOSYS, -1);
}
int boot_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                        void* (*routine)(void*), void* argument) {
  return found() && real.pthread_create != boot_pthread_create
             ? real.pthread_create(thread, attributes, routine, argument)
             : EAGAIN;
}
int boot_dlclose(void* handle) {
  return found() ? real.dlclose(handle) : 0;
}
long plain_syscall(long number, long first, long second, long third, long fourth, long fifth,
                   long sixth) {
  return as_libc(raw_system_call(number, first, second, third, fourth, fifth, sixth));
}
int plain_prctl(int option, long second, long third, long fourth, long fifth) {
  return static_cast<int>(as_libc(system_call(SYS_prctl, option, second, third, fourth, fifth)));
}

// ---- Operators for callers without a C++ runtime that we can find.

void* plain_new(size_t bytes, uintptr_t, uintptr_t) {
  void* block = real.malloc(bytes > 0 ? bytes : 1);
  if (block == nullptr) {
    abort();  // There is nobody who could throw.
  }
  return block;
}
void* plain_aligned_new(size_t bytes, uintptr_t alignment, uintptr_t) {
  void* block = nullptr;
  const size_t least = alignment > sizeof(void*) ? alignment : sizeof(void*);
  if (real.posix_memalign(&block, least, bytes > 0 ? bytes : 1) != 0) {
    abort();
  }
  return block;
}
void plain_delete(void* block, uintptr_t, uintptr_t) {
  real.free(block);
}

// ---- The search.

struct Order {
  int seen = 0;
  int ours = -1;
  int libc = -1;
};

bool holds(const dl_phdr_info& object, const void* address) noexcept {
  const auto wanted = reinterpret_cast<uint64_t>(address);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    const uint64_t begin = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && wanted >= begin && wanted < begin + part.p_memsz) {
      return true;
    }
  }
  return false;
}

int note_order(dl_phdr_info* object, size_t, void* data) {
  auto& order = *static_cast<Order*>(data);
  if (holds(*object, &search)) {
    order.ours = order.seen;
  }
  if (holds(*object, reinterpret_cast<const void*>(&dlsym))) {
    order.libc = order.seen;
  }
  ++order.seen;
  return 0;
}

// A preloaded library stands before libc in the list of loaded objects; one that was loaded into a
// running program stands behind it, and "the next one" would then be libc even if the program uses
// another allocator. What the program itself would find is right in that case.
void* scope() noexcept {
  Order order;
  dl_iterate_phdr(note_order, &order);
  return order.ours < order.libc ? RTLD_NEXT : RTLD_DEFAULT;
}
constinit void* search_scope = nullptr;  // Set when the search begins.

bool is_in_libc(const void* function) noexcept {
  Dl_info there{};
  Dl_info libc{};
  return dladdr(function, &there) != 0 &&
         dladdr(reinterpret_cast<const void*>(&getenv), &libc) != 0 &&
         there.dli_fbase == libc.dli_fbase;
}

void* look_up_function(const char* name) noexcept {
  void* there = dlsym(search_scope, name);
  return search_scope == RTLD_DEFAULT ? true_definition(name, there) : there;
}

template <typename Function>
void find(Function& slot, const char* name) noexcept {
  if (void* there = look_up_function(name)) {
    slot = reinterpret_cast<Function>(there);
  }
}

// Loads nothing: the code that calls is loaded, and so is all it needs.
void* find_for_caller(const char* name, uint64_t caller) noexcept {
  void* there = look_up_function(name);
  Dl_info info{};
  if (there == nullptr && dladdr(std::bit_cast<void*>(caller), &info) != 0) {
    // The handle is kept, so that what was found in it stays loaded.
    if (void* handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) {
      there = dlsym(handle, name);
    }
  }
  Dl_info self{};
  if (there != nullptr && dladdr(there, &info) != 0 && dladdr(&search, &self) != 0 &&
      info.dli_fbase == self.dli_fbase) {
    there = nullptr;  // Ourselves.
  }
  dlerror();  // What we looked for in vain is not the program's error.
  return there;
}

// True if operator new and delete, called by anyone, are ours and lead to libstdc++'s. All of them
// are asked: where a program replaces operator new but not new[], the latter calls the former.
bool operators_are_libstdcxx() noexcept {
  Dl_info self{};
  if (dladdr(&search, &self) == 0) {
    return false;
  }
  const auto leads_to_libstdcxx = [&self](const char* name) {
    Dl_info first{};
    Dl_info next{};
    void* here = dlsym(RTLD_DEFAULT, name);
    void* there = dlsym(RTLD_NEXT, name);
    return here != nullptr && there != nullptr && dladdr(here, &first) != 0 &&
           first.dli_fbase == self.dli_fbase && dladdr(there, &next) != 0 &&
           next.dli_fname != nullptr && strstr(next.dli_fname, "/libstdc++.so") != nullptr;
  };
  bool all = true;
  for (size_t i = 0; i < kPlainNewCount; ++i) {
    all = all && leads_to_libstdcxx(kNewNames[i]);
  }
  for (size_t i = 0; i < kPlainDeleteCount; ++i) {
    all = all && leads_to_libstdcxx(kDeleteNames[i]);
  }
  dlerror();  // What we looked for in vain is not the program's error.
  return all;
}

}  // namespace

constinit RealFunctions real = {
    .malloc = boot_malloc,
    .calloc = boot_calloc,
    .realloc = boot_realloc,
    .free = boot_free,
    .memalign = boot_memalign,
    .aligned_alloc = boot_aligned_alloc,
    .posix_memalign = boot_posix_memalign,
    .valloc = boot_valloc,
    .pvalloc = boot_pvalloc,
    .mmap = boot_mmap,
    .munmap = boot_munmap,
    .mremap = boot_mremap,
    .shm_open = boot_shm_open,
    .pthread_create = boot_pthread_create,
    .dlclose = boot_dlclose,
    .syscall = plain_syscall,
    .prctl = plain_prctl,
    .short_cut = ShortCut::none,
    .operator_new = {},
    .operator_delete = {},
};

void find_real_functions() noexcept {
  Search begun = Search::not_begun;
  if (!search.compare_exchange_strong(begun, Search::under_way)) {
    return;
  }
  search_scope = scope();
  RealFunctions next = real;
  find(next.malloc, "malloc");
  find(next.calloc, "calloc");
  find(next.realloc, "realloc");
  find(next.free, "free");
  find(next.memalign, "memalign");
  find(next.aligned_alloc, "aligned_alloc");
  find(next.posix_memalign, "posix_memalign");
  find(next.valloc, "valloc");
  find(next.pvalloc, "pvalloc");
  next.mmap = plain_mmap;
  next.munmap = plain_munmap;
  next.mremap = plain_mremap;
  find(next.mmap, "mmap");
  find(next.munmap, "munmap");
  find(next.mremap, "mremap");
  find(next.shm_open, "shm_open");
  find(next.pthread_create, "pthread_create");
  find(next.dlclose, "dlclose");
  find(next.syscall, "syscall");
  find(next.prctl, "prctl");
  if (is_in_libc(reinterpret_cast<const void*>(next.malloc)) &&
      is_in_libc(reinterpret_cast<const void*>(next.free))) {
    next.short_cut = ShortCut::to_malloc;
  }
  real = next;
  search.store(Search::done, std::memory_order_release);
}

NewFn real_new(size_t which, uint64_t caller) noexcept {
  NewFn& slot = real.operator_new[which];
  if (NewFn there = __atomic_load_n(&slot, __ATOMIC_RELAXED)) {
    return there;
  }
  find_real_functions();
  auto there = reinterpret_cast<NewFn>(find_for_caller(kNewNames[which], caller));
  if (there == nullptr) {
    there = which < 4 ? plain_new : plain_aligned_new;
  }
  __atomic_store_n(&slot, there, __ATOMIC_RELAXED);
  return there;
}

DeleteFn real_delete(size_t which, uint64_t caller) noexcept {
  DeleteFn& slot = real.operator_delete[which];
  if (DeleteFn there = __atomic_load_n(&slot, __ATOMIC_RELAXED)) {
    return there;
  }
  find_real_functions();
  auto there = reinterpret_cast<DeleteFn>(find_for_caller(kDeleteNames[which], caller));
  if (there == nullptr) {
    there = plain_delete;
  }
  __atomic_store_n(&slot, there, __ATOMIC_RELAXED);
  return there;
}

bool find_short_cut_of_new() noexcept {
  const bool found = real.short_cut != ShortCut::none && operators_are_libstdcxx();
  // Where the operators are another's, it must be remembered who called whom.
  ShortCut now = found ? ShortCut::new_to_malloc : ShortCut::none;
  __atomic_store(&real.short_cut, &now, __ATOMIC_RELAXED);
  return found;
}

size_t boot_block_bytes(const void* block) noexcept {
  size_t bytes = 0;
  memcpy(&bytes, static_cast<const char*>(block) - kBootAlignment, sizeof(bytes));
  return bytes;
}

}  // namespace plateau::trace
