// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstddef>
#include <cstring>

#include "tracer/python.h"

namespace plateau::trace {
namespace {

constexpr uint64_t kArenaBytesTo39 = uint64_t{256} << 10;
constexpr uint64_t kArenaBytesFrom310 = uint64_t{1} << 20;
constexpr int kFirstMinorWithLargeArenas = 10;

// An interpreter is never changed once it is published; a new find takes the next place.
constexpr uint32_t kPlaces = 8;
PythonInterpreter g_places[kPlaces];
std::atomic<uint32_t> g_next_place{0};
std::atomic<const PythonInterpreter*> g_found{nullptr};

// "3.11.2 (main, ...": the minor version; 0 if it is none we know how to read.
int parse_minor(const char* version) {
  if (version == nullptr || strncmp(version, "3.", 2) != 0) return 0;
  if (strstr(version, "free-threading") != nullptr) return 0;
  int minor = 0;
  for (const char* at = version + 2; *at >= '0' && *at <= '9' && minor < 1000; ++at) {
    minor = minor * 10 + (*at - '0');
  }
  return minor;
}

template <typename Function>
bool find_function(const LoadedObject& object, const char* name, Function& out) {
  out = reinterpret_cast<Function>(find_export(object, name));
  return out != nullptr;
}

}  // namespace

const PythonInterpreter* python_interpreter() noexcept {
  return g_found.load(std::memory_order_acquire);
}

void look_for_python(const LoadedObject& object) noexcept {
  if (python_interpreter() != nullptr) return;
  PythonInterpreter found;
  const char* (*version)() = nullptr;
  if (!find_function(object, "PyGILState_GetThisThreadState", found.this_thread_state) ||
      !find_function(object, "Py_GetVersion", version) ||
      !find_function(object, "PyGILState_Check", found.holds_gil) ||
      !find_function(object, "PyMem_GetAllocator", found.get_allocator) ||
      !find_function(object, "PyMem_SetAllocator", found.set_allocator)) {
    return;
  }
  found.code_type = find_export(object, "PyCode_Type");
  found.text_type = find_export(object, "PyUnicode_Type");
  found.bytes_type = find_export(object, "PyBytes_Type");
  found.layout = python_layout(parse_minor(version()));
  if (found.code_type == 0 || found.text_type == 0 || found.bytes_type == 0) return;
  if (found.layout == nullptr) return;
  found.begin = object.begin;
  found.end = object.end;
  PythonInterpreter& place = g_places[g_next_place.fetch_add(1) % kPlaces];
  place = found;
  g_found.store(&place, std::memory_order_release);
}

void forget_python() noexcept {
  g_found.store(nullptr, std::memory_order_release);
}

BlockKind mapping_kind(uint64_t caller, uint64_t bytes) noexcept {
  if (bytes != kArenaBytesTo39 && bytes != kArenaBytesFrom310) return BlockKind::mapping;
  if (python_interpreter() == nullptr) {
    LoadedObject object;
    if (find_object(caller, object)) look_for_python(object);
  }
  const PythonInterpreter* python = python_interpreter();
  if (python == nullptr || caller < python->begin || caller >= python->end) {
    return BlockKind::mapping;
  }
  const uint64_t arena =
      python->layout->minor >= kFirstMinorWithLargeArenas ? kArenaBytesFrom310 : kArenaBytesTo39;
  return bytes == arena ? BlockKind::arena : BlockKind::mapping;
}

}  // namespace plateau::trace
