// SPDX-License-Identifier: Apache-2.0
// Question: which Python functions is this thread in, and at which instruction of each?
//
// Method. The thread's own state is at hand (PyGILState_GetThisThreadState reads one thread-local
// value). Its chain of frames changes only when this thread calls or returns, and it does neither
// while it is inside malloc, so the chain can be followed without the interpreter lock. Up to
// 3.10 a frame is an object; from 3.11 on it is a few words on a stack of the interpreter, reached
// through the C frame (3.11, 3.12) or the thread state (3.13 on).
//
// Merging with native frames. Up to 3.10 every Python call runs a new evaluation loop in C. Later
// one loop runs many Python frames, and `entry` marks the outermost of each loop: 3.11 has a flag
// in the frame, later versions put a sentinel frame, owned by the C stack or
// the interpreter, below it.
//     f -> g -> sorted() -> key function h:  Python frames h(entry) g f(entry), two C loops
//
// A code object is sent once, named by a hash of its address and of what identifies its content: an
// address alone is reused. The recorder decodes the line table later.
//
// Blind spots. A thread that switches to another interpreter keeps the state of its first one here.
// A frame that is being built when a signal handler allocates is left out, as far as it can be
// told: every pointer is checked for a plausible value and every code object for its type, but a
// stray pointer into nowhere would fault.
#include <atomic>
#include <cstddef>
#include <cstring>

#include "tracer/at_address.h"
#include "tracer/lane_writer.h"
#include "tracer/mix.h"
#include "tracer/python.h"
#include "tracer/text_copy.h"

namespace plateau::trace {
namespace {

// Which code objects were sent, as in objects.cc.
constexpr uint64_t kAnnouncedPlaces = 4096;
std::atomic<uint64_t> g_announced[kAnnouncedPlaces];
std::atomic<uint64_t> g_round{1};

constexpr uint64_t kHashSeed = 0x51ed270b0a1c7f35;
constexpr int kFirstMinorCountingInstructions = 10;  // f_lasti counts instructions, not bytes.
constexpr int64_t kInstructionBytes = 2;
constexpr int64_t kMaxBytecodeBytes = int64_t{1} << 28;
constexpr uint32_t kMaxTextCopyBytes = 1024;

template <typename T>
T field(uint64_t object, int32_t offset) {
  T value;
  memcpy(&value, at_address<char>(object) + offset, sizeof value);
  return value;
}

bool plausible(uint64_t pointer) {
  return pointer >= 0x10000 && pointer < uint64_t{1} << 47 && pointer % 8 == 0;
}

bool is_object_of(const PythonLayout& layout, uint64_t object, uint64_t type) {
  return plausible(object) && field<uint64_t>(object, layout.object_type) == type;
}

uint64_t innermost_frame(const PythonLayout& layout, uint64_t thread) {
  if (layout.thread_frame != kNoOffset) return field<uint64_t>(thread, layout.thread_frame);
  const auto cframe = field<uint64_t>(thread, layout.thread_cframe);
  return plausible(cframe) ? field<uint64_t>(cframe, layout.cframe_current_frame) : 0;
}

// Byte offset of the running instruction; -1 if the frame has not begun.
int32_t instruction_of(const PythonLayout& layout, uint64_t frame, uint64_t code) {
  int64_t offset = 0;
  if (layout.code_bytecode == kNoOffset) {
    offset = field<int32_t>(frame, layout.frame_instruction);
    if (layout.minor >= kFirstMinorCountingInstructions) offset *= kInstructionBytes;
  } else {
    const auto at = field<uint64_t>(frame, layout.frame_instruction);
    offset = static_cast<int64_t>(at - code - static_cast<uint64_t>(layout.code_bytecode));
  }
  return offset >= 0 && offset < kMaxBytecodeBytes ? static_cast<int32_t>(offset) : -1;
}

// The text of a str as UTF-8: its own bytes if it is ASCII, else converted into `room`.
Piece text_of(const PythonInterpreter& python, uint64_t text, char* room) {
  const PythonLayout& layout = *python.layout;
  if (!is_object_of(layout, text, python.text_type)) return {};
  const auto state = field<uint32_t>(text, layout.unicode_state);
  const auto length = field<int64_t>(text, layout.unicode_length);
  if ((state >> layout.unicode_compact_bit & 1U) == 0 || length < 0) return {};
  if ((state >> layout.unicode_ascii_bit & 1U) != 0) {
    const auto bytes = length < kMaxTextBytes ? static_cast<size_t>(length) : kMaxTextBytes;
    return {at_address<char>(text) + layout.ascii_data, bytes};
  }
  const uint32_t unit_bytes = state >> layout.unicode_kind_bit & 7U;
  const auto* units = at_address<char>(text) + layout.compact_data;
  return {room,
          copy_as_utf8(units, static_cast<uint64_t>(length), unit_bytes, room, kMaxTextCopyBytes)};
}

Piece line_table_of(const PythonInterpreter& python, uint64_t code) {
  const PythonLayout& layout = *python.layout;
  const auto table = field<uint64_t>(code, layout.code_line_table);
  if (!is_object_of(layout, table, python.bytes_type)) return {};
  const auto bytes = field<int64_t>(table, layout.var_size);
  if (bytes < 0) return {};
  return {at_address<char>(table) + layout.bytes_data,
          bytes < kMaxLineTableBytes ? static_cast<size_t>(bytes) : kMaxLineTableBytes};
}

__attribute__((noinline)) bool send_code(const PythonInterpreter& python, uint64_t code,
                                         uint64_t id) {
  const PythonLayout& layout = *python.layout;
  char file_room[kMaxTextCopyBytes];
  char function_room[kMaxTextCopyBytes];
  const int32_t name = layout.code_qualname != kNoOffset ? layout.code_qualname : layout.code_name;
  const Piece file = text_of(python, field<uint64_t>(code, layout.code_filename), file_room);
  const Piece function = text_of(python, field<uint64_t>(code, name), function_room);
  const Piece lines = line_table_of(python, code);
  CodeRecord record;
  record.head.type = RecordType::code;
  record.id = id;
  record.first_line = field<int32_t>(code, layout.code_first_line);
  record.minor = static_cast<uint16_t>(layout.minor);
  record.file_bytes = static_cast<uint16_t>(file.count);
  record.function_bytes = static_cast<uint16_t>(function.count);
  record.line_table_bytes = static_cast<uint16_t>(lines.count);
  const Piece pieces[] = {{&record, sizeof record}, file, function, lines};
  return put_record(pieces, 4);
}

// The name of a code object towards the recorder, who is told about it if need be.
uint64_t announce_code(const PythonInterpreter& python, uint64_t code) {
  const PythonLayout& layout = *python.layout;
  uint64_t id = mix(kHashSeed, code);
  id = mix(id, field<uint64_t>(code, layout.code_filename));
  id = mix(id, field<uint64_t>(code, layout.code_name));
  id = mix(id, static_cast<uint64_t>(field<int32_t>(code, layout.code_first_line))) | 1;
  const uint64_t key = mix(id, g_round.load(std::memory_order_relaxed));
  std::atomic<uint64_t>& place = g_announced[(id >> 40) % kAnnouncedPlaces];
  if (place.load(std::memory_order_relaxed) != key && send_code(python, code, id)) {
    place.store(key, std::memory_order_relaxed);
  }
  return id;
}

}  // namespace

PythonWalk walk_python(PythonFrameWords* frames, uint32_t room) noexcept {
  PythonWalk walk;
  const PythonInterpreter* python = python_interpreter();
  if (python == nullptr) return walk;
  const auto thread = reinterpret_cast<uint64_t>(python->this_thread_state());
  if (!plausible(thread)) return walk;
  hook_python_objects(*python);
  const PythonLayout& layout = *python->layout;
  walk.hash = kHashSeed;
  uint64_t frame = innermost_frame(layout, thread);
  // Sentinels count as steps too; the bound only matters if the chain were a circle.
  for (uint32_t steps = 0; plausible(frame) && steps < 4 * room; ++steps) {
    const bool sentinel =
        layout.frame_owned_by_c != kNoOffset &&
        field<uint8_t>(frame, layout.frame_owner) >= static_cast<uint8_t>(layout.frame_owned_by_c);
    const uint64_t code = untagged(field<uint64_t>(frame, layout.frame_code));
    if (sentinel) {
      if (walk.count > 0) frames[walk.count - 1].entry = 1;
    } else if (!is_object_of(layout, code, python->code_type)) {
      break;
    } else if (walk.count == room) {
      walk.truncated = true;
      break;
    } else {
      PythonFrameWords& out = frames[walk.count++];
      out.code = announce_code(*python, code);
      out.instruction = instruction_of(layout, frame, code);
      out.entry = layout.minor <= 10 ? 1 : 0;
      if (layout.frame_is_entry != kNoOffset) {
        out.entry = field<uint8_t>(frame, layout.frame_is_entry) != 0 ? 1 : 0;
      }
      walk.hash = mix(walk.hash, out.code + static_cast<uint32_t>(out.instruction) +
                                     (uint64_t{out.entry} << 32));
    }
    frame = field<uint64_t>(frame, layout.frame_back);
  }
  return walk;
}

void forget_announced_code() noexcept {
  g_round.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace plateau::trace
