// SPDX-License-Identifier: Apache-2.0
// The ELF objects of this process: which one an address lies in, where its tables are, and telling
// the recorder about each once. Any thread, any moment: no locks, no allocation (with a glibc
// before 2.35, which has no lock-free lookup, the loader's own list lock is taken).
#pragma once

#include <elf.h>
#include <link.h>

#include <cstdint>

#include "tracer/cfi.h"

namespace plateau::trace {

struct LoadedObject {
  uint64_t begin = 0;  // Mapped range.
  uint64_t end = 0;
  uint64_t bias = 0;           // Address in memory minus address in the file.
  const char* path = nullptr;  // As the loader knows it; empty for the main program.
  const Elf64_Phdr* segments = nullptr;
  uint32_t segment_count = 0;
  const uint8_t* cfi_index = nullptr;  // .eh_frame_hdr
};

// False if `address` lies in no object: code made at run time, or nothing at all.
bool find_object(uint64_t address, LoadedObject& out) noexcept;

// The readable segment around the object's call frame information; empty if it has none.
CfiWindow cfi_window(const LoadedObject& object) noexcept;

enum class Announced : uint8_t { failed, before, now };

// Sends a ModuleRecord unless this object was sent already.
Announced announce_object(const LoadedObject& object) noexcept;

// The address of an exported function or variable of this object, read from its own hash table:
// what dlsym does, without its lock. 0 if it is not there.
uint64_t find_export(const LoadedObject& object, const char* name) noexcept;

// What dlsym(RTLD_DEFAULT) found, or, where that is only a place from which the main program jumps
// to the function, the function itself: a program that is not position-independent and takes the
// address of malloc (Debian's python does) makes such a place malloc's official address. Calling it
// from a hook would come back to the hook. For when the program runs, not inside malloc.
void* true_definition(const char* name, void* found) noexcept;

// Everything is sent anew from now on.
void forget_announced_objects() noexcept;

}  // namespace plateau::trace
