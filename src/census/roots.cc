// SPDX-License-Identifier: Apache-2.0
#include "census/roots.h"

#include <algorithm>

#include "census/python_text.h"
#include "census/references.h"
#include "symbols/stack_names.h"

namespace plateau {
namespace {

constexpr int kMostInterpreters = 64;
constexpr int kMostThreads = 1024;
constexpr size_t kMostFrames = 1024;  // Of a thread; the innermost.
constexpr size_t kMostModules = 100'000;
constexpr uint64_t kMostLocals = 4096;
constexpr size_t kCodeBytes = 256;  // All that is read of a code object itself.
constexpr size_t kTextBytes = 320;  // A str with as much text as is read of it.
constexpr uint64_t kMostLineTableBytes = uint64_t{1} << 20;
constexpr int64_t kMostBytecodeBytes = int64_t{1} << 28;
constexpr uint64_t kWordBytes = sizeof(uint64_t);

uint64_t at(uint64_t address, int32_t offset) {
  return address + static_cast<uint32_t>(offset);
}

class RootFinder {
 public:
  RootFinder(MemoryReader& memory, const PythonLayout& layout, Announcer& announcer)
      : memory_(memory), layout_(layout), announcer_(announcer) {}

  Roots find(uint64_t runtime) {
    uint64_t interpreter = word(runtime, layout_.runtime_interpreters_head);
    for (int i = 0; i < kMostInterpreters && interpreter != 0; ++i) {
      find_modules(word(interpreter, layout_.interpreter_modules));
      find_threads(word(interpreter, layout_.interpreter_threads_head));
      interpreter = word(interpreter, layout_.interpreter_next);
    }
    return std::move(roots_);
  }

 private:
  uint64_t word(uint64_t address, int32_t offset) {
    return read_member<uint64_t>(memory_, address, offset).value_or(0);
  }

  void find_modules(uint64_t modules) {
    announcer_.dict(modules);
    std::vector<ModuleRoot> found;
    References references(memory_, layout_);
    references.of_namespace(modules, [&](const Edge& edge) {
      if (found.size() < kMostModules) found.push_back({edge.name, edge.target});
    });
    for (ModuleRoot& module : found) {
      announcer_.text(module.name);
      memory_.expect(module.dict, kWordBytes * 4);
      // Anything may be put into sys.modules; what has no dict there gives none.
      module.dict = word(module.dict, layout_.module_dict);
      if (!announcer_.is_dict(module.dict)) continue;
      announcer_.dict(module.dict);
      references.of_namespace(module.dict, [&](const Edge& edge) {
        announcer_.text(edge.name);
        announcer_.named(edge.target);
      });
      roots_.modules.push_back(module);
    }
  }

  void find_threads(uint64_t thread) {
    std::vector<uint64_t> threads;
    for (int i = 0; i < kMostThreads && thread != 0; ++i) {
      threads.push_back(thread);
      thread = word(thread, layout_.thread_next);
    }
    // New threads are hung in front.
    std::ranges::reverse(threads);
    for (const uint64_t each : threads) {
      find_frames(each);
      const uint64_t values = word(each, layout_.thread_dict);
      if (!announcer_.is_dict(values)) continue;
      announcer_.dict(values);
      roots_.thread_values.push_back(values);
    }
  }

  void find_frames(uint64_t thread) {
    uint64_t frame = layout_.thread_frame != kNoOffset
                         ? word(thread, layout_.thread_frame)
                         : word(word(thread, layout_.thread_cframe), layout_.cframe_current_frame);
    std::vector<FrameRoot> frames;
    References references(memory_, layout_);
    for (size_t i = 0; i < kMostFrames && frame != 0; ++i) {
      const uint64_t code = untagged(word(frame, layout_.frame_code));
      if (is_code(code)) {
        frames.push_back({frame, code, instruction_of(frame, code)});
        expect_frame(frame, code);
        references.of_frame(frame, [&](const Edge& edge) { announcer_.named(edge.target); });
      }
      frame = word(frame, layout_.frame_back);
    }
    roots_.frames.insert(roots_.frames.end(), frames.rbegin(), frames.rend());
  }

  // Frames of the interpreter's own, between C and Python, have none.
  bool is_code(uint64_t code) {
    const uint64_t type = word(code, layout_.object_type);
    if (type == 0) return false;
    if (type == code_type_) return true;
    if (read_c_string(memory_, word(type, layout_.type_name)) != "code") return false;
    code_type_ = type;
    return true;
  }

  void expect_frame(uint64_t frame, uint64_t code) {
    expect_code(memory_, layout_, code);
    const auto places = [&](int32_t offset) {
      const auto count = read_member<int32_t>(memory_, code, offset).value_or(0);
      return std::clamp<uint64_t>(static_cast<uint32_t>(std::max(count, 0)), 0, kMostLocals);
    };
    const uint64_t locals = places(layout_.code_locals) + places(layout_.code_stack_places);
    constexpr uint64_t kCells = 256;  // Up to 3.10 they are not counted among the locals.
    memory_.expect(frame,
                   static_cast<uint32_t>(layout_.frame_locals) + (locals + kCells) * kWordBytes);
  }

  int32_t instruction_of(uint64_t frame, uint64_t code) {
    constexpr int kFirstMinorCountingInstructions = 10;  // f_lasti counts instructions, not bytes.
    int64_t offset = 0;
    if (layout_.code_bytecode == kNoOffset) {
      offset = read_member<int32_t>(memory_, frame, layout_.frame_instruction).value_or(-1);
      if (layout_.minor >= kFirstMinorCountingInstructions) offset *= 2;
    } else {
      const uint64_t where = word(frame, layout_.frame_instruction);
      offset = static_cast<int64_t>(where - at(code, layout_.code_bytecode));
    }
    return offset >= 0 && offset < kMostBytecodeBytes ? static_cast<int32_t>(offset) : -1;
  }

  MemoryReader& memory_;
  const PythonLayout& layout_;
  Announcer& announcer_;
  uint64_t code_type_ = 0;
  Roots roots_;
};

std::string line_table_of(MemoryReader& memory, const PythonLayout& layout, uint64_t code) {
  const auto table = read_member<uint64_t>(memory, code, layout.code_line_table).value_or(0);
  const auto bytes = read_member<uint64_t>(memory, table, layout.var_size).value_or(0);
  if (bytes > kMostLineTableBytes) return {};
  std::string text(bytes, '\0');
  if (!memory.read(at(table, layout.bytes_data), text.data(), text.size(), false)) return {};
  return text;
}

std::optional<std::string> item_text(MemoryReader& memory, const PythonLayout& layout,
                                     uint64_t tuple, uint64_t index) {
  const auto size = read_member<uint64_t>(memory, tuple, layout.var_size);
  if (!size || index >= *size || *size > kMostLocals) return std::nullopt;
  const auto text =
      read_value<uint64_t>(memory, at(tuple, layout.tuple_items) + index * kWordBytes);
  return text ? read_python_str(memory, layout, *text) : std::nullopt;
}

void expect_tuple_of_text(MemoryReader& memory, const PythonLayout& layout, uint64_t tuple) {
  memory.expect(tuple, kWordBytes * 4);
  const auto size = read_member<uint64_t>(memory, tuple, layout.var_size).value_or(0);
  if (size > kMostLocals) return;
  memory.expect(at(tuple, layout.tuple_items), size * kWordBytes);
  for (uint64_t i = 0; i < size; ++i) {
    const uint64_t place = at(tuple, layout.tuple_items) + i * kWordBytes;
    memory.expect(read_value<uint64_t>(memory, place).value_or(0), kTextBytes);
  }
}

}  // namespace

void expect_code(MemoryReader& memory, const PythonLayout& layout, uint64_t code) {
  memory.expect(code, kCodeBytes);
  const auto word = [&](int32_t offset) {
    return offset == kNoOffset ? 0 : read_member<uint64_t>(memory, code, offset).value_or(0);
  };
  for (const int32_t text : {layout.code_filename, layout.code_name, layout.code_qualname}) {
    memory.expect(word(text), kTextBytes);
  }
  for (const int32_t names :
       {layout.code_local_names, layout.code_cell_names, layout.code_free_names}) {
    expect_tuple_of_text(memory, layout, word(names));
  }
  const uint64_t table = word(layout.code_line_table);
  memory.expect(table, kWordBytes * 4);
  const auto bytes = read_member<uint64_t>(memory, table, layout.var_size).value_or(0);
  if (bytes <= kMostLineTableBytes) memory.expect(at(table, layout.bytes_data), bytes);
}

Roots find_roots(MemoryReader& memory, const PythonPlace& place, Announcer& announcer) {
  return RootFinder(memory, place.layout, announcer).find(place.runtime);
}

CodeText read_code(MemoryReader& memory, const PythonLayout& layout, uint64_t code,
                   int32_t instruction) {
  const auto text = [&](int32_t offset) {
    const auto where = read_member<uint64_t>(memory, code, offset);
    return where ? read_python_str(memory, layout, *where).value_or("") : std::string();
  };
  const int32_t name = layout.code_qualname != kNoOffset ? layout.code_qualname : layout.code_name;
  CodeText read{.function = text(name), .file = text(layout.code_filename)};
  const PythonCode lines{
      .first_line = read_member<int32_t>(memory, code, layout.code_first_line).value_or(0),
      .minor = static_cast<uint16_t>(layout.minor),
      .line_table = line_table_of(memory, layout, code)};
  read.line = python_line(lines, instruction);
  return read;
}

std::optional<std::string> local_name(MemoryReader& memory, const PythonLayout& layout,
                                      uint64_t code, uint64_t index) {
  for (const int32_t offset :
       {layout.code_local_names, layout.code_cell_names, layout.code_free_names}) {
    if (offset == kNoOffset) continue;
    const auto names = read_member<uint64_t>(memory, code, offset);
    const auto size = read_member<uint64_t>(memory, names.value_or(0), layout.var_size);
    if (!size) return std::nullopt;
    if (index < *size) return item_text(memory, layout, *names, index);
    index -= *size;
  }
  return std::nullopt;
}

std::optional<std::string> free_name(MemoryReader& memory, const PythonLayout& layout,
                                     uint64_t code, uint64_t index) {
  if (layout.code_free_names != kNoOffset) {
    const auto names = read_member<uint64_t>(memory, code, layout.code_free_names);
    return names ? item_text(memory, layout, *names, index) : std::nullopt;
  }
  const auto all = read_member<int32_t>(memory, code, layout.code_locals);
  const auto free = read_member<int32_t>(memory, code, layout.code_free_count);
  if (!all || !free || *free < 0 || *all < *free) return std::nullopt;
  return local_name(memory, layout, code, static_cast<uint64_t>(*all - *free) + index);
}

}  // namespace plateau
