// SPDX-License-Identifier: Apache-2.0
#include "inject/ask_allocator.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace plateau {
namespace {

// struct mallinfo2 as glibc has it since 2.33; mallinfo has the same fields as ints.
constexpr size_t kArena = 0;        // Bytes in arenas, from the kernel.
constexpr size_t kMappedBytes = 4;  // Bytes of blocks in mappings of their own.
constexpr size_t kInUse = 7;        // Of the arenas: handed out (a thread's store counts too).
constexpr size_t kFreeBytes = 8;    // Of the arenas: not handed out.
constexpr size_t kGlibcFieldCount = 10;

Result<AllocatorFigures> ask_glibc(SafePoint& point, const AllocatorDesk& desk) {
  // The structure is too large for registers: the caller passes where it is to go.
  std::array<uint64_t, kGlibcFieldCount> fields = {};
  const Result<uint64_t> room = point.place(fields.data(), sizeof fields);
  if (!room.ok()) return room.error();
  const Result<uint64_t> answer = point.call(desk.ask, {room.value()});
  if (!answer.ok()) return answer.error();
  const Result<std::string> bytes = point.read(room.value(), sizeof fields);
  if (!bytes.ok()) return bytes.error();
  AllocatorFigures figures{.name = "glibc"};
  if (desk.ask_old) {
    std::array<int32_t, kGlibcFieldCount> narrow = {};
    std::memcpy(narrow.data(), bytes.value().data(), sizeof narrow);
    for (size_t i = 0; i < narrow.size(); ++i) {
      if (narrow[i] < 0) return figures;
      fields[i] = static_cast<uint64_t>(narrow[i]);
    }
  } else {
    std::memcpy(fields.data(), bytes.value().data(), sizeof fields);
  }
  figures.in_use = fields[kInUse] + fields[kMappedBytes];
  figures.free = fields[kFreeBytes];
  figures.system = fields[kArena] + fields[kMappedBytes];
  return figures;
}

Result<uint64_t> placed_text(SafePoint& point, const std::string& text) {
  return point.place(text.c_str(), text.size() + 1);
}

// mallctl(name, &value, &length, nullptr, 0)
Result<uint64_t> jemalloc_value(SafePoint& point, const AllocatorDesk& desk,
                                const std::string& name) {
  const std::array<uint64_t, 2> room = {0, sizeof(uint64_t)};
  const Result<uint64_t> text = placed_text(point, name);
  if (!text.ok()) return text.error();
  const Result<uint64_t> value = point.place(room.data(), sizeof room);
  if (!value.ok()) return value.error();
  const Result<uint64_t> answer =
      point.call(desk.ask, {text.value(), value.value(), value.value() + 8, 0, 0});
  if (!answer.ok()) return answer.error();
  if (static_cast<int>(answer.value()) != 0) {
    return Error{Error::Kind::not_found, "jemalloc does not know " + name};
  }
  const Result<std::string> bytes = point.read(value.value(), sizeof(uint64_t));
  if (!bytes.ok()) return bytes.error();
  uint64_t number = 0;
  std::memcpy(&number, bytes.value().data(), sizeof number);
  return number;
}

Result<AllocatorFigures> ask_jemalloc(SafePoint& point, const AllocatorDesk& desk) {
  AllocatorFigures figures{.name = "jemalloc"};
  // Statistics are those of the last epoch; a write to it makes them new.
  const uint64_t one = 1;
  const Result<uint64_t> epoch = placed_text(point, "epoch");
  if (!epoch.ok()) return epoch.error();
  const Result<uint64_t> value = point.place(&one, sizeof one);
  if (!value.ok()) return value.error();
  const Result<uint64_t> renewed =
      point.call(desk.ask, {epoch.value(), 0, 0, value.value(), sizeof one});
  if (!renewed.ok()) return renewed.error();
  const Result<uint64_t> allocated = jemalloc_value(point, desk, "stats.allocated");
  const Result<uint64_t> resident = jemalloc_value(point, desk, "stats.resident");
  if (allocated.ok()) figures.in_use = allocated.value();
  if (resident.ok()) figures.system = resident.value();
  if (allocated.ok() && resident.ok() && resident.value() >= allocated.value()) {
    figures.free = resident.value() - allocated.value();
  }
  return figures;
}

Result<AllocatorFigures> ask_tcmalloc(SafePoint& point, const AllocatorDesk& desk) {
  AllocatorFigures figures{.name = "tcmalloc"};
  const auto property = [&](const char* name) -> std::optional<uint64_t> {
    const uint64_t zero = 0;
    const Result<uint64_t> text = placed_text(point, name);
    const Result<uint64_t> room = point.place(&zero, sizeof zero);
    if (!text.ok() || !room.ok()) return std::nullopt;
    const Result<uint64_t> known = point.call(desk.ask, {text.value(), room.value()});
    if (!known.ok() || (known.value() & 0xff) == 0) return std::nullopt;
    const Result<std::string> bytes = point.read(room.value(), sizeof zero);
    if (!bytes.ok()) return std::nullopt;
    uint64_t number = 0;
    std::memcpy(&number, bytes.value().data(), sizeof number);
    return number;
  };
  figures.in_use = property("generic.current_allocated_bytes");
  const std::optional<uint64_t> heap = property("generic.heap_size");
  const std::optional<uint64_t> unmapped = property("tcmalloc.pageheap_unmapped_bytes");
  if (heap && unmapped && *heap >= *unmapped) figures.system = *heap - *unmapped;
  if (figures.system && figures.in_use && *figures.system >= *figures.in_use) {
    figures.free = *figures.system - *figures.in_use;
  }
  return figures;
}

// mi_process_info(&elapsed, &user, &system, &rss, &peak rss, &commit, &peak commit, &faults); how
// much is handed out it does not tell.
Result<AllocatorFigures> ask_mimalloc(SafePoint& point, const AllocatorDesk& desk) {
  constexpr size_t kCommit = 5;
  std::array<uint64_t, 8> fields = {};
  const Result<uint64_t> room = point.place(fields.data(), sizeof fields);
  if (!room.ok()) return room.error();
  std::vector<uint64_t> arguments;
  arguments.reserve(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) arguments.push_back(room.value() + 8 * i);
  const Result<uint64_t> answer = point.call(desk.ask, arguments);
  if (!answer.ok()) return answer.error();
  const Result<std::string> bytes = point.read(room.value(), sizeof fields);
  if (!bytes.ok()) return bytes.error();
  std::memcpy(fields.data(), bytes.value().data(), sizeof fields);
  AllocatorFigures figures{.name = "mimalloc"};
  figures.system = fields[kCommit];
  return figures;
}

// What each family is asked and told with, in the order of AllocatorFamily.
struct Calls {
  Result<AllocatorFigures> (*asked)(SafePoint&, const AllocatorDesk&);
  std::string_view ask, ask_else;
  std::string_view release;  // Empty: the same as `ask`.
  std::string_view words;
};
constexpr std::array<Calls, 4> kCalls = {{
    {ask_glibc, "mallinfo2", "mallinfo", "malloc_trim", "malloc_trim(0)"},
    {ask_jemalloc, "mallctl", "je_mallctl", "", "mallctl(\"arena.4096.purge\")"},
    {ask_tcmalloc, "MallocExtension_GetNumericProperty", "", "MallocExtension_ReleaseFreeMemory",
     "MallocExtension_ReleaseFreeMemory()"},
    {ask_mimalloc, "mi_process_info", "", "mi_collect", "mi_collect(true)"},
}};

}  // namespace

Result<AllocatorDesk> find_desk(pid_t pid) {
  const RemoteNames names(pid);
  const Result<TargetAllocator> allocator = find_allocator(pid, names.objects());
  if (!allocator.ok()) return allocator.error();
  const MappedObject& object = allocator.value().object;
  AllocatorDesk desk{.family = allocator.value().family};
  if (desk.family == AllocatorFamily::other) return desk;
  const Calls& calls = kCalls[static_cast<size_t>(desk.family)];
  const auto address = [&](std::string_view name) { return names.in(object, name).value_or(0); };
  desk.ask = address(calls.ask);
  desk.ask_old = desk.ask == 0 && desk.family == AllocatorFamily::glibc;
  if (desk.ask == 0 && !calls.ask_else.empty()) desk.ask = address(calls.ask_else);
  desk.release = calls.release.empty() ? desk.ask : address(calls.release);
  desk.release_words = calls.words;
  return desk;
}

Result<AllocatorFigures> ask_at(SafePoint& point, const AllocatorDesk& desk) {
  if (desk.ask == 0 || desk.family == AllocatorFamily::other) {
    return AllocatorFigures{.name = std::string(allocator_name(desk.family))};
  }
  return kCalls[static_cast<size_t>(desk.family)].asked(point, desk);
}

Result<uint64_t> release_at(SafePoint& point, const AllocatorDesk& desk) {
  if (desk.release == 0) {
    return Error{Error::Kind::not_found,
                 fmt::format("the allocator of this process ({}) has no function known to us that "
                             "gives memory back",
                             allocator_name(desk.family))};
  }
  switch (desk.family) {
    case AllocatorFamily::jemalloc: {
      const Result<uint64_t> text = placed_text(point, "arena.4096.purge");  // All arenas.
      if (!text.ok()) return text.error();
      return point.call(desk.release, {text.value(), 0, 0, 0, 0});
    }
    case AllocatorFamily::mimalloc:
      return point.call(desk.release, {1});
    default:
      return point.call(desk.release, {0});
  }
}

Result<AllocatorFigures> ask_allocator(pid_t pid, const InjectOptions& options) {
  const Result<AllocatorDesk> desk = find_desk(pid);
  if (!desk.ok()) return desk.error();
  if (desk.value().ask == 0) {
    return AllocatorFigures{.name = std::string(allocator_name(desk.value().family))};
  }
  Result<SafePoint> point = SafePoint::reach(pid, options);
  if (!point.ok()) return point.error();
  return ask_at(point.value(), desk.value());
}

}  // namespace plateau
