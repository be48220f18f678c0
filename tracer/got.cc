// SPDX-License-Identifier: Apache-2.0
// Makes the objects of a running process call our hooks.
//
// An object calls malloc of another through a slot of its global offset table, and a relocation
// names the slot. For every loaded object we walk its relocations (DT_JMPREL, DT_RELA) and exchange
// the slots that name a hooked function. No code is changed, and a thread sees either the old or
// the new address, both of which work: the hooks do not care who allocated a block.
//
// A slot of a C function is taken only if it holds the very function that the hook would call, or
// has not been bound yet (it then leads into its own object): an object bound to another malloc
// keeps it. Function pointers in data (R_X86_64_64) are left alone, because programs copy them, and
// a copy of ours would outlive us. Blocks that are freed through such a pointer stay "live".
//
// Slots mostly lie in pages that the loader has made read-only (RELRO). They are made writable for
// the exchange and read-only again. An object whose RELRO is still writable is just being loaded by
// another thread: it is left alone, or the loader would find its pages locked.
//
// Objects loaded later: dlopen's slot leads to a stub that raises a flag and jumps on, so that the
// real dlopen sees its true caller (whose RUNPATH counts); dlsym, which follows nearly every
// dlopen, looks at the flag and patches what is new. Blind spot: a library that is loaded and used
// without any dlsym.
//
// Never touched: this library's own slots, the loader's, the kernel's vdso.
#include "tracer/got.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/uio.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "tracer/at_address.h"
#include "tracer/hooks.h"
#include "tracer/objects.h"
#include "tracer/system_calls.h"

extern "C" {
// Used by the stubs below.
[[gnu::visibility("hidden")]] constinit void* plateau_real_dlopen = nullptr;
[[gnu::visibility("hidden")]] constinit void* plateau_real_dlsym = nullptr;
[[gnu::visibility("hidden")]] constinit uint32_t plateau_objects_changed = 0;
[[gnu::visibility("hidden"), gnu::used]] void plateau_refresh();
[[gnu::visibility("hidden")]] void plateau_dlopen_stub();
[[gnu::visibility("hidden")]] void plateau_dlsym_stub();
}

#if defined(__x86_64__)
// Both leave by a jump: the caller's return address is all that dlopen and dlsym know of it.
__asm__(
    ".pushsection .text\n"
    ".hidden plateau_dlopen_stub\n"
    ".globl plateau_dlopen_stub\n"
    ".type plateau_dlopen_stub, @function\n"
    "plateau_dlopen_stub:\n"
    "  movl $1, plateau_objects_changed(%rip)\n"
    "  jmp *plateau_real_dlopen(%rip)\n"
    ".size plateau_dlopen_stub, .-plateau_dlopen_stub\n"
    ".hidden plateau_dlsym_stub\n"
    ".globl plateau_dlsym_stub\n"
    ".type plateau_dlsym_stub, @function\n"
    "plateau_dlsym_stub:\n"
    "  .cfi_startproc\n"
    "  cmpl $0, plateau_objects_changed(%rip)\n"
    "  je 1f\n"
    "  push %rdi\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  push %rsi\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  sub $8, %rsp\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  call plateau_refresh\n"
    "  add $8, %rsp\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  pop %rsi\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  pop %rdi\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "1: jmp *plateau_real_dlsym(%rip)\n"
    "  .cfi_endproc\n"
    ".size plateau_dlsym_stub, .-plateau_dlsym_stub\n"
    ".popsection\n");
#endif

namespace plateau::trace {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kJumpSlot = R_X86_64_JUMP_SLOT;
constexpr uint32_t kGlobalSlot = R_X86_64_GLOB_DAT;
#else
constexpr uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT;
constexpr uint32_t kGlobalSlot = R_AARCH64_GLOB_DAT;
#endif
constexpr size_t kSlots = size_t{1} << 14;
constexpr uint64_t kPage = 4096;
constexpr size_t kMaxHooks = 64;

// What a slot held before: an open table by address. Entries are never removed, only reused.
struct OldSlot {
  uint64_t slot;
  uint64_t old;
  uint64_t hook;
};
constinit OldSlot old_slots[kSlots] = {};
constinit size_t old_count = 0;
constinit void* real_address[kMaxHooks] = {};  // Of kHooks, in its order.
constinit std::atomic<uint32_t> at_work{0};    // One thread patches at a time.
constinit std::atomic<int64_t> in_refresh{0};
constinit bool patched = false;

OldSlot* find_slot(uint64_t slot) noexcept {
  size_t at = (slot >> 3) * 0x9e3779b97f4a7c15u >> 50;
  while (old_slots[at].slot != 0 && old_slots[at].slot != slot) {
    at = (at + 1) % kSlots;
  }
  return &old_slots[at];
}

// The parts of a loaded object that matter here.
struct Object {
  uint64_t bias = 0;
  uint64_t relro_begin = 0;
  uint64_t relro_end = 0;
  const dl_phdr_info* info = nullptr;
  const ElfW(Rela) * calls = nullptr;
  size_t call_count = 0;
  const ElfW(Rela) * others = nullptr;
  size_t other_count = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;

  [[nodiscard]] bool has(uint64_t address, uint32_t flags) const noexcept {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info->dlpi_phdr[i];
      const uint64_t begin = bias + part.p_vaddr;
      if (part.p_type == PT_LOAD && (part.p_flags & flags) == flags && address >= begin &&
          address < begin + part.p_memsz) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool in_relro(uint64_t address) const noexcept {
    return address >= relro_begin && address < relro_end;
  }
};

template <typename Entry>
void set_table(const Entry*& pointer, uint64_t bias, uint64_t value) noexcept {
  // The loader has added the bias already where the dynamic section can be written.
  pointer = at_address<Entry>(value < bias ? value + bias : value);
}

void read_dynamic(Object& object, const ElfW(Dyn) * entry) noexcept {
  for (; entry->d_tag != DT_NULL; ++entry) {
    const uint64_t value = entry->d_un.d_val;
    switch (entry->d_tag) {
      case DT_JMPREL:
        set_table(object.calls, object.bias, value);
        break;
      case DT_PLTRELSZ:
        object.call_count = value / sizeof(ElfW(Rela));
        break;
      case DT_RELA:
        set_table(object.others, object.bias, value);
        break;
      case DT_RELASZ:
        object.other_count = value / sizeof(ElfW(Rela));
        break;
      case DT_SYMTAB:
        set_table(object.symbols, object.bias, value);
        break;
      case DT_STRTAB:
        set_table(object.names, object.bias, value);
        break;
      default:
        break;
    }
  }
}

bool read_object(Object& object, const dl_phdr_info& info) noexcept {
  object.info = &info;
  object.bias = info.dlpi_addr;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    if (part.p_type == PT_DYNAMIC) {
      dynamic = at_address<ElfW(Dyn)>(object.bias + part.p_vaddr);
    } else if (part.p_type == PT_GNU_RELRO) {
      object.relro_begin = (object.bias + part.p_vaddr) & ~(kPage - 1);
      object.relro_end = (object.bias + part.p_vaddr + part.p_memsz) & ~(kPage - 1);
    }
  }
  if (dynamic == nullptr) {
    return false;
  }
  read_dynamic(object, dynamic);
  return object.symbols != nullptr && object.names != nullptr;
}

// Ours, the loader's and the vdso: none of them is a program's.
bool is_off_limits(const Object& object) noexcept {
  const char* name = object.info->dlpi_name;
  if (object.has(reinterpret_cast<uint64_t>(&old_slots), PF_R) ||
      object.has(reinterpret_cast<uint64_t>(&_r_debug), PF_R)) {
    return true;
  }
  return name != nullptr &&
         (strstr(name, "linux-vdso") != nullptr || strstr(name, "/ld-linux") != nullptr);
}

// True if the page of `address` may be written now. Asks the kernel to write what is there.
bool is_writable(uint64_t address) noexcept {
  uint64_t same = *at_address<uint64_t>(address);
  const iovec from = {.iov_base = &same, .iov_len = sizeof(same)};
  const iovec to = {.iov_base = writable_at<void>(address), .iov_len = sizeof(same)};
  return system_call(SYS_process_vm_writev, sys_getpid(), &from, 1, &to, 1, 0) ==
         static_cast<long>(sizeof(same));
}

bool protect(const Object& object, int protection) noexcept {
  return object.relro_begin >= object.relro_end ||
         system_call(SYS_mprotect, object.relro_begin, object.relro_end - object.relro_begin,
                     protection) == 0;
}

struct Wanted {
  uint64_t hook = 0;
  uint64_t real = 0;
  bool any_value = false;  // Operators: each object may have its own, the hook asks for the caller.
};

Wanted hook_for(const char* name) noexcept {
  for (size_t i = 0; i < kHookCount && i < kMaxHooks; ++i) {
    if (strcmp(kHooks[i].name, name) == 0) {
      return {.hook = reinterpret_cast<uint64_t>(kHooks[i].hook),
              .real = reinterpret_cast<uint64_t>(real_address[i]),
              .any_value = name[0] == '_' && name[1] == 'Z'};
    }
  }
#if defined(__x86_64__)
  if (strcmp(name, "dlopen") == 0) {
    return {.hook = reinterpret_cast<uint64_t>(&plateau_dlopen_stub),
            .real = reinterpret_cast<uint64_t>(plateau_real_dlopen)};
  }
  if (strcmp(name, "dlsym") == 0) {
    return {.hook = reinterpret_cast<uint64_t>(&plateau_dlsym_stub),
            .real = reinterpret_cast<uint64_t>(plateau_real_dlsym)};
  }
#endif
  return {};
}

// Calls `visit(slot, type, name)` for every slot that a relocation binds to a name.
template <typename Visit>
void each_slot(const Object& object, const Visit& visit) noexcept {
  const struct {
    const ElfW(Rela) * first;
    size_t count;
  } tables[] = {{object.calls, object.call_count}, {object.others, object.other_count}};
  for (const auto& table : tables) {
    for (size_t i = 0; table.first != nullptr && i < table.count; ++i) {
      const ElfW(Rela)& entry = table.first[i];
      const auto type = static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info));
      if (type != kJumpSlot && type != kGlobalSlot) {
        continue;
      }
      const ElfW(Sym)& symbol = object.symbols[ELF64_R_SYM(entry.r_info)];
      if (symbol.st_name == 0) {
        continue;
      }
      const uint64_t slot = object.bias + entry.r_offset;
      if (object.has(slot, PF_W) && slot % sizeof(uint64_t) == 0) {
        visit(slot, type, object.names + symbol.st_name);
      }
    }
  }
}

void exchange(uint64_t slot, uint64_t value) noexcept {
  __atomic_store_n(writable_at<uint64_t>(slot), value, __ATOMIC_RELEASE);
}

// Opens the read-only part for a moment. `state`: 0 not opened, 1 open, 2 must be left alone.
struct Opening {
  const Object& object;
  int state = 0;

  bool open_for(uint64_t slot) noexcept {
    if (!object.in_relro(slot)) {
      return true;
    }
    if (state == 0) {
      state = is_writable(slot) || !protect(object, PROT_READ | PROT_WRITE) ? 2 : 1;
    }
    return state == 1;
  }
  void close() noexcept {
    if (state == 1) {
      protect(object, PROT_READ);
    }
  }
};

int patch_object(dl_phdr_info* info, size_t, void* data) {
  auto& count = *static_cast<int64_t*>(data);
  Object object;
  if (!read_object(object, *info) || is_off_limits(object)) {
    return 0;
  }
  Opening opening{.object = object};
  each_slot(object, [&](uint64_t slot, uint32_t type, const char* name) noexcept {
    const Wanted wanted = hook_for(name);
    if (wanted.hook == 0) {
      return;
    }
    const uint64_t value = *at_address<uint64_t>(slot);
    if (value == wanted.hook) {
      ++count;
      return;
    }
    const bool unbound = type == kJumpSlot && object.has(value, PF_X);
    const bool fits = value == wanted.real || wanted.any_value || unbound;
    if (!fits || value == 0 || wanted.real == 0 || old_count > kSlots / 2 ||
        !opening.open_for(slot)) {
      return;
    }
    OldSlot* place = find_slot(slot);
    old_count += place->slot == 0 ? 1 : 0;
    *place = {.slot = slot, .old = value, .hook = wanted.hook};
    exchange(slot, wanted.hook);
    ++count;
  });
  opening.close();
  return 0;
}

int unpatch_object(dl_phdr_info* info, size_t, void* data) {
  auto& count = *static_cast<int64_t*>(data);
  Object object;
  if (!read_object(object, *info) || is_off_limits(object)) {
    return 0;
  }
  Opening opening{.object = object};
  each_slot(object, [&](uint64_t slot, uint32_t, const char* name) noexcept {
    const Wanted wanted = hook_for(name);
    if (wanted.hook == 0 || *at_address<uint64_t>(slot) != wanted.hook) {
      return;
    }
    const OldSlot* place = find_slot(slot);
    const uint64_t old = place->slot == slot ? place->old : wanted.real;
    if (opening.open_for(slot)) {
      exchange(slot, old);
      ++count;
    }
  });
  opening.close();
  return 0;
}

bool take_turn() noexcept {
  return at_work.exchange(1, std::memory_order_acquire) == 0;
}

void end_turn() noexcept {
  at_work.store(0, std::memory_order_release);
}

void find_reals() noexcept {
  for (size_t i = 0; i < kHookCount && i < kMaxHooks; ++i) {
    real_address[i] = true_definition(kHooks[i].name, dlsym(RTLD_DEFAULT, kHooks[i].name));
  }
  plateau_real_dlopen = true_definition("dlopen", dlsym(RTLD_DEFAULT, "dlopen"));
  plateau_real_dlsym = true_definition("dlsym", dlsym(RTLD_DEFAULT, "dlsym"));
  dlerror();
}

}  // namespace
}  // namespace plateau::trace

using namespace plateau::trace;

extern "C" void plateau_refresh() {
  const int saved = errno;
  in_refresh.fetch_add(1, std::memory_order_acquire);
  if (take_turn()) {
    if (patched) {
      plateau_objects_changed = 0;
      int64_t count = 0;
      dl_iterate_phdr(patch_object, &count);
    }
    end_turn();
  }
  in_refresh.fetch_sub(1, std::memory_order_release);
  errno = saved;
}

extern "C" [[gnu::visibility("default"), gnu::used]] int64_t plateau_tracer_patch() {
  const int saved = errno;
  int64_t count = 0;
  if (take_turn()) {
    find_reals();
    patched = true;
    dl_iterate_phdr(patch_object, &count);
    end_turn();
  }
  errno = saved;
  return count;
}

extern "C" [[gnu::visibility("default"), gnu::used]] int64_t plateau_tracer_unpatch() {
  const int saved = errno;
  int64_t count = -1;
  if (take_turn()) {
    patched = false;
    count = 0;
    dl_iterate_phdr(unpatch_object, &count);
    end_turn();
  }
  errno = saved;
  return count;
}

extern "C" [[gnu::visibility("default"), gnu::used]] int64_t plateau_tracer_inside() {
  return threads_inside() + in_refresh.load(std::memory_order_acquire);
}
