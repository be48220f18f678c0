// SPDX-License-Identifier: Apache-2.0
// Each allocator names things its own way. What is reported is the same for all: bytes handed out,
// bytes held but not handed out, bytes held from the kernel. Where one does not say, UINT64_MAX.
#include "tracer/account.h"
#include "tracer/holdings.h"

#include <dlfcn.h>
#include <malloc.h>

#include <cstring>

#include "tracer/process.h"
#include "tracer/real_functions.h"

namespace plateau::trace {
namespace {

constexpr uint64_t kUnknown = UINT64_MAX;

struct Figures {
  uint64_t in_use = kUnknown;
  uint64_t free = kUnknown;
  uint64_t mapped = kUnknown;
  uint64_t system = kUnknown;
};

using MallinfoFn = struct mallinfo2 (*)();
using MallctlFn = int (*)(const char*, void*, size_t*, void*, size_t);
using PropertyFn = int (*)(const char*, size_t*);
using ProcessInfoFn = void (*)(size_t*, size_t*, size_t*, size_t*, size_t*, size_t*, size_t*,
                               size_t*);

struct Sources {
  AllocatorKind kind = AllocatorKind::unknown;
  MallinfoFn mallinfo = nullptr;
  MallctlFn mallctl = nullptr;
  PropertyFn property = nullptr;
  ProcessInfoFn process_info = nullptr;
};
constinit Sources sources{};

template <typename Function>
Function find(const char* name) noexcept {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

Figures ask_glibc() noexcept {
  const struct mallinfo2 info = sources.mallinfo();
  return {.in_use = info.uordblks + info.hblkhd,
          .free = info.fordblks,
          .mapped = info.hblkhd,
          .system = info.arena + info.hblkhd};
}

uint64_t jemalloc_figure(const char* name) noexcept {
  size_t value = 0;
  size_t bytes = sizeof(value);
  return sources.mallctl(name, &value, &bytes, nullptr, 0) == 0 ? value : kUnknown;
}

Figures ask_jemalloc() noexcept {
  // The figures are those of the last change of the epoch.
  uint64_t epoch = 1;
  size_t bytes = sizeof(epoch);
  sources.mallctl("epoch", &epoch, &bytes, &epoch, bytes);
  Figures out{.in_use = jemalloc_figure("stats.allocated"),
              .system = jemalloc_figure("stats.resident")};
  if (out.in_use != kUnknown && out.system != kUnknown && out.system >= out.in_use) {
    out.free = out.system - out.in_use;
  }
  return out;
}

uint64_t tcmalloc_figure(const char* name) noexcept {
  size_t value = 0;
  return sources.property(name, &value) != 0 ? value : kUnknown;
}

Figures ask_tcmalloc() noexcept {
  Figures out{.in_use = tcmalloc_figure("generic.current_allocated_bytes")};
  const uint64_t heap = tcmalloc_figure("generic.heap_size");
  const uint64_t returned = tcmalloc_figure("tcmalloc.pageheap_unmapped_bytes");
  if (heap != kUnknown && returned != kUnknown && heap >= returned) {
    out.system = heap - returned;
    if (out.in_use != kUnknown && out.system >= out.in_use) {
      out.free = out.system - out.in_use;
    }
  }
  return out;
}

Figures ask_mimalloc() noexcept {
  size_t ignored[7] = {};
  size_t committed = 0;
  sources.process_info(&ignored[0], &ignored[1], &ignored[2], &ignored[3], &ignored[4], &committed,
                       &ignored[5], &ignored[6]);
  return {.system = committed};
}

AllocatorKind kind_of_malloc() noexcept {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(real.malloc), &info) == 0 || info.dli_fname == nullptr) {
    return AllocatorKind::unknown;
  }
  const char* slash = strrchr(info.dli_fname, '/');
  const char* name = slash != nullptr ? slash + 1 : info.dli_fname;
  if (strstr(name, "jemalloc") != nullptr) {
    return AllocatorKind::jemalloc;
  }
  if (strstr(name, "tcmalloc") != nullptr) {
    return AllocatorKind::tcmalloc;
  }
  if (strstr(name, "mimalloc") != nullptr) {
    return AllocatorKind::mimalloc;
  }
  return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-", 5) == 0
             ? AllocatorKind::glibc
             : AllocatorKind::unknown;
}

}  // namespace

void find_account() noexcept {
  find_real_functions();
  sources.kind = kind_of_malloc();
  switch (sources.kind) {
    case AllocatorKind::glibc:
      sources.mallinfo = find<MallinfoFn>("mallinfo2");
      break;
    case AllocatorKind::jemalloc:
      sources.mallctl = find<MallctlFn>("mallctl");
      break;
    case AllocatorKind::tcmalloc:
      sources.property = find<PropertyFn>("MallocExtension_GetNumericProperty");
      break;
    case AllocatorKind::mimalloc:
      sources.process_info = find<ProcessInfoFn>("mi_process_info");
      break;
    case AllocatorKind::unknown:
      break;
  }
}

AllocatorKind allocator_in_use() noexcept {
  return sources.kind;
}

void answer_account(SegmentHeader& segment) noexcept {
  if (tables.answering.exchange(1, std::memory_order_acquire) != 0) {
    return;
  }
  AllocatorAccount& account = segment.account;
  const uint32_t asked = account.asked.load(std::memory_order_acquire);
  Figures figures;
  if (sources.mallinfo != nullptr) {
    figures = ask_glibc();
  } else if (sources.mallctl != nullptr) {
    figures = ask_jemalloc();
  } else if (sources.property != nullptr) {
    figures = ask_tcmalloc();
  } else if (sources.process_info != nullptr) {
    figures = ask_mimalloc();
  }
  account.in_use.store(figures.in_use, std::memory_order_relaxed);
  account.free.store(figures.free, std::memory_order_relaxed);
  account.mapped.store(figures.mapped, std::memory_order_relaxed);
  account.system.store(figures.system, std::memory_order_relaxed);
  measure_holdings(kOthersPerAccount);
  account.answered.store(asked, std::memory_order_release);
  tables.answering.store(0, std::memory_order_release);
}

}  // namespace plateau::trace
