// SPDX-License-Identifier: Apache-2.0
// Finds the interpreter in a process.
//
// All state of CPython hangs on one symbol, _PyRuntime, in libpython or in the program itself. From
// 3.13 on it begins with a cookie, the version, and where its parts stand; those offsets win over
// the table, because a vendor's build may differ. Before that the version is a symbol (3.11, 3.12)
// or stands in the name of the file, as every distribution has it: libpython3.9.so, python3.10; a
// renamed program is told by the modules it has loaded (python3.9/lib-dynload, .cpython-39-).
#include "census/find_python.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "ptrace/refusal.h"
#include "symbols/elf_symbols.h"

namespace plateau {
namespace {

constexpr std::array<char, 8> kCookie = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};
// Libraries beyond this are not searched for an embedded interpreter.
constexpr off_t kMostSearchedBytes = off_t{64} << 20;
constexpr uint64_t kMostOffset = uint64_t{1} << 24;

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

int number_after(std::string_view text, size_t at, size_t most_digits) {
  int value = -1;
  for (size_t i = at; i < text.size() && i - at < most_digits && is_digit(text[i]); ++i) {
    value = std::max(value, 0) * 10 + (text[i] - '0');
  }
  return value;
}

bool is_program(pid_t pid, const MappedObject& object) {
  return object.path == link_target("/proc/" + std::to_string(pid) + "/exe");
}

// The likely homes of an interpreter first, all other small libraries last.
int distance(pid_t pid, const MappedObject& object) {
  const std::string_view name = base_name(object.path);
  if (name.starts_with("libpython")) return 0;
  if (is_program(pid, object)) return 1;
  struct stat status = {};
  if (::stat(object.open_path.c_str(), &status) != 0) return -1;
  return status.st_size <= kMostSearchedBytes ? 2 : -1;
}

struct Home {
  MappedObject object;
  uint64_t runtime = 0;
};

std::optional<Home> find_home(pid_t pid, const std::vector<MappedObject>& objects) {
  for (int wanted = 0; wanted <= 2; ++wanted) {
    for (const MappedObject& object : objects) {
      if (distance(pid, object) != wanted) continue;
      const auto symbol = elf_symbol(object.open_path, "_PyRuntime");
      if (symbol.ok()) return Home{object, symbol.value().address + object.bias};
    }
  }
  return std::nullopt;
}

int minor_of_hex(uint64_t version) {
  return version >> 24 == 3 ? static_cast<int>(version >> 16 & 0xff) : -1;
}

// From the symbol Py_Version, else from names of files.
PythonName version_by_name(MemoryReader& memory, const Home& home,
                           const std::vector<MappedObject>& objects) {
  PythonName named = python_name(base_name(home.object.path));
  const auto symbol = elf_symbol(home.object.open_path, "Py_Version");
  if (symbol.ok()) {
    const auto version = read_value<uint32_t>(memory, symbol.value().address + home.object.bias);
    const int minor = version ? minor_of_hex(*version) : -1;
    if (minor > 0) named.minor = minor;
  }
  for (const MappedObject& object : objects) {
    if (named.minor >= 0) break;
    named = python_name(object.path);
  }
  return named;
}

// Puts what _PyRuntime says of itself over the table; nonsense is left out.
void take_stated_offsets(MemoryReader& memory, uint64_t runtime, PythonLayout& layout) {
  const auto take = [&](int32_t where, int32_t& offset) {
    const auto stated = read_member<uint64_t>(memory, runtime, where);
    if (stated && *stated < kMostOffset) offset = static_cast<int32_t>(*stated);
  };
  take(layout.debug_interpreters_head, layout.runtime_interpreters_head);
  take(layout.debug_interpreter_next, layout.interpreter_next);
  take(layout.debug_interpreter_gc, layout.gc);
  take(layout.debug_interpreter_threads_head, layout.interpreter_threads_head);
  take(layout.debug_interpreter_modules, layout.interpreter_modules);
  take(layout.debug_gc_collecting, layout.gc_collecting);
}

}  // namespace

Error unreadable(pid_t pid, std::string_view reason, std::string_view remedy) {
  return {.kind = Error::Kind::bad_input,
          .message = fmt::format("pid {} cannot be read: {}{}{}", pid, reason,
                                 remedy.empty() ? "" : "; ", remedy)};
}

bool census_knows(int minor) {
  return python_layout(minor) != nullptr;
}

std::string known_pythons() {
  return fmt::format("3.{} to 3.{}", kOldestPythonMinor, kNewestPythonMinor);
}

PythonName python_name(std::string_view path) {
  PythonName name;
  for (const std::string_view before : {"python3.", ".cpython-3"}) {
    const size_t at = path.rfind(before);
    if (at == std::string_view::npos) continue;
    size_t from = at + before.size();
    name.minor = number_after(path, from, 2);
    while (from < path.size() && is_digit(path[from])) ++from;
    name.free_threaded = name.minor >= 0 && from < path.size() && path[from] == 't';
    break;
  }
  return name;
}

Result<PythonPlace> place_of_runtime(pid_t pid, MemoryReader& memory, uint64_t runtime,
                                     PythonName named) {
  const auto cookie = read_value<std::array<char, 8>>(memory, runtime);
  if (!cookie) return explain_refusal(pid, look_at_target(pid));
  // The fields from the cookie to this flag stand alike in all versions that have them.
  const PythonLayout* newest = python_layout(kNewestPythonMinor);
  const bool states_itself = *cookie == kCookie && newest != nullptr;
  if (states_itself) {
    named.minor =
        minor_of_hex(read_member<uint64_t>(memory, runtime, newest->debug_version).value_or(0));
    named.free_threaded =
        read_member<uint64_t>(memory, runtime, newest->debug_free_threaded).value_or(0) != 0;
  }
  if (named.minor < 0) {
    return unreadable(pid, "it is CPython, but which version could not be told");
  }
  const std::string name = "CPython 3." + std::to_string(named.minor);
  if (named.free_threaded) {
    return unreadable(pid, "it is a free-threaded " + name + ", whose collector keeps no lists");
  }
  const PythonLayout* layout = python_layout(named.minor);
  if (layout == nullptr) {
    return unreadable(
        pid, fmt::format("it is {}; only the layouts of {} are known", name, known_pythons()));
  }
  PythonPlace place{.layout = *layout, .runtime = runtime};
  if (states_itself) take_stated_offsets(memory, runtime, place.layout);
  return place;
}

Result<PythonPlace> find_python(pid_t pid, MemoryReader& memory) {
  const std::vector<MappedObject> objects = mapped_objects(pid);
  const std::optional<Home> home = find_home(pid, objects);
  if (!home) {
    return unreadable(pid, "it is no CPython of 3.7 or later (nothing in it defines _PyRuntime)",
                      "give the pid of the Python process itself, not of its launcher");
  }
  return place_of_runtime(pid, memory, home->runtime, version_by_name(memory, *home, objects));
}

bool is_python(pid_t pid) {
  return find_home(pid, mapped_objects(pid)).has_value();
}

}  // namespace plateau
