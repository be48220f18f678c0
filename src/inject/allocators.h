// SPDX-License-Identifier: Apache-2.0
// Which allocator a process uses, and where its functions stand.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/elf_symbols.h"

namespace plateau {

enum class AllocatorFamily : uint8_t { glibc, jemalloc, tcmalloc, mimalloc, other };
std::string_view allocator_name(AllocatorFamily family);

// The definition of malloc that the process uses. Where several objects define it, the main
// program's comes first, then any that is not libc's: that is the order in which the loader
// searches. Our own tracer does not count, it only passes calls on.
struct TargetAllocator {
  AllocatorFamily family = AllocatorFamily::other;
  MappedObject object;
  // malloc, free, calloc, realloc; in a Python process the last two give way to its own.
  std::vector<uint64_t> entries;         // At most four, those found.
  std::vector<std::string> entry_names;  // Of the same order.
};
Result<TargetAllocator> find_allocator(pid_t pid, const std::vector<MappedObject>& objects);

// Finds functions by name in given objects; looks into each file once per name.
class RemoteNames {
 public:
  explicit RemoteNames(pid_t pid);
  [[nodiscard]] const std::vector<MappedObject>& objects() const { return objects_; }
  // In the object whose path contains `part`; "" for any.
  std::optional<uint64_t> find(std::string_view part, std::string_view name) const;
  std::optional<uint64_t> in(const MappedObject& object, std::string_view name) const;

 private:
  std::vector<MappedObject> objects_;
};

}  // namespace plateau
