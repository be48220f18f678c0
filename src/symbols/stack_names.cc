// SPDX-License-Identifier: Apache-2.0
#include "symbols/stack_names.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "symbols/jit_names.h"
#include "symbols/merge_frames.h"
#include "symbols/module_names.h"

namespace plateau {
namespace {

std::string hex_offset(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// A debuginfod server that does not answer costs minutes per file. Once opening files has taken so
// long, servers are no longer asked.
constexpr double kMostOpeningSeconds = 20;

}  // namespace

std::string frame_title(const FrameName& frame) {
  if (frame.function.empty() && frame.offset == 0 && !frame.module.empty()) return frame.module;
  if (frame.function.empty()) {
    return (frame.module.empty() ? std::string("?") : frame.module) + hex_offset(frame.offset);
  }
  if (!frame.file.empty()) {
    const std::string line = frame.line > 0 ? ":" + std::to_string(frame.line) : "";
    return frame.function + " (" + base_name(frame.file) + line + ")";
  }
  return frame.module.empty() ? frame.function : frame.function + " [" + frame.module + "]";
}

struct StackNames::State {
  explicit State(const HeapTrack& heap_track) : track(heap_track) {}

  const HeapTrack& track;
  std::map<std::pair<std::string, std::string>, ModuleNames> modules;  // By path and build id.
  std::unordered_map<uint64_t, NativeFrame> known;
  std::vector<std::string> notes;
  double opening_s = 0;
  std::optional<JitNames> jit;  // Once it is asked for.

  // The last one that was told of: a library can be unloaded and another take its place.
  [[nodiscard]] const HeapModule* module_at(uint64_t address) const {
    const auto found = std::find_if(
        track.modules.rbegin(), track.modules.rend(),
        [&](const HeapModule& module) { return module.begin <= address && address < module.end; });
    return found == track.modules.rend() ? nullptr : &*found;
  }

  void take_note(const std::string& note) {
    if (note.empty() || std::ranges::find(notes, note) != notes.end()) return;
    notes.push_back(note);
  }

  FrameName jit_frame(uint64_t address) {
    if (!jit) jit = JitNames::of_process(track.pid);
    const std::string_view name = jit->at(address);
    return name.empty() ? FrameName{.offset = address}
                        : FrameName{.function = std::string(name), .module = "jit"};
  }

  NativeFrame name_of(uint64_t return_address) {
    // The call is what matters; the instruction after it may belong to another line or function.
    const uint64_t address = return_address - 1;
    const HeapModule* module = module_at(address);
    if (module == nullptr) return {.names = {jit_frame(address)}};
    auto [found, fresh] =
        modules.try_emplace(std::pair(module->path, module->build_id), module->path,
                            module->build_id, opening_s < kMostOpeningSeconds);
    const double begin_s = fresh ? monotonic_now_s() : 0;
    NativeNames names = found->second.at(address - module->bias);
    if (fresh) opening_s += monotonic_now_s() - begin_s;
    take_note(found->second.note());
    return {.names = std::move(names.frames),
            .runs_python = std::ranges::any_of(
                names.symbols, [](const std::string& name) { return is_interpreter_loop(name); }),
            .of_interpreter = is_interpreter_file(base_name(module->path))};
  }
};

StackNames::StackNames(const HeapTrack& track) : state_(make_hidden<State>(track)) {}

std::vector<FrameName> StackNames::frames(const HeapStack& stack) {
  std::vector<NativeFrame> native;
  for (const uint64_t address : stack.native) {
    auto found = state_->known.find(address);
    if (found == state_->known.end()) {
      found = state_->known.emplace(address, state_->name_of(address)).first;
    }
    native.push_back(found->second);
  }
  std::vector<NamedPythonFrame> python;
  for (const PythonFrame& frame : stack.python) {
    FrameName name{.kind = FrameKind::python};
    if (frame.code < state_->track.codes.size()) {
      const PythonCode& code = state_->track.codes[frame.code];
      name.function = code.function;
      name.file = code.file;
      name.line = python_line(code, frame.instruction);
    }
    if (name.function.empty()) name.function = "?";
    python.push_back({.name = std::move(name), .entry = frame.entry});
  }
  return merge_frames(native, python, stack.truncated);
}

const std::vector<std::string>& StackNames::notes() const {
  return state_->notes;
}

}  // namespace plateau
