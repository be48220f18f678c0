// SPDX-License-Identifier: Apache-2.0
// Puts Python frames where the interpreter ran them.
//
// CPython runs bytecode in one C function. Up to 3.10 every Python call is a call of that function;
// from 3.11 on one call of it can run a chain of Python frames, of which the outermost is marked as
// its entry. So Python frames, innermost first, fall into groups that end with an entry, and there
// are as many groups as native frames in the loop. Group i takes the place of loop frame i.
//
// Worked case, innermost first: native  malloc_caller, method_call, LOOP, vectorcall, LOOP, main;
// Python  decode, load (entry), train (entry).
// Result:  malloc_caller, method_call, decode, load, vectorcall, train, main.
//
// When the numbers differ (a stack was cut at its limit, the loop was not recognised) the innermost
// are taken to belong together, because cuts are at the outside: loop frames that are left over
// stay as machinery, groups that are left over follow the last loop frame, or the end of the stack
// if that was cut. Where no loop frame is known at all, the Python frames come before the first
// frame of the interpreter's file.
//
// Machinery: frames of the interpreter's file that stand outside the innermost Python frame. Inside
// it they may be what allocates (list_resize), so there only known helpers of calls count, and
// whatever stands between Python and code of another library.
#include "symbols/merge_frames.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace plateau {
namespace {

using Group = std::vector<const FrameName*>;

std::vector<Group> groups_of(const std::vector<NamedPythonFrame>& python) {
  std::vector<Group> groups;
  bool ended = true;
  for (const NamedPythonFrame& frame : python) {
    if (ended) groups.emplace_back();
    groups.back().push_back(&frame.name);
    ended = frame.entry;
  }
  return groups;
}

bool of_c_library(const NativeFrame& frame) {
  const std::string& module = frame.names.back().module;
  return module.starts_with("libc.so") || module.starts_with("libc-2") ||
         module.starts_with("ld-linux");
}

class Merge {
 public:
  Merge(const std::vector<NativeFrame>& native, std::vector<Group> groups)
      : native_(native), groups_(std::move(groups)) {}

  std::vector<FrameName> run(bool truncated) {
    const auto loops =
        static_cast<size_t>(std::ranges::count(native_, true, &NativeFrame::runs_python));
    const size_t paired = std::min(loops, groups_.size());
    size_t loop = 0;
    for (const NativeFrame& frame : native_) {
      if (paired == 0 && frame.of_interpreter) put_groups(groups_.size());
      if (!frame.runs_python) {
        put_native(frame);
        continue;
      }
      if (loop < paired) {
        put_groups(next_group_ + 1);
      } else {
        put_native(frame);
      }
      ++loop;
      if (loop == paired && !truncated) put_groups(groups_.size());
    }
    put_groups(groups_.size());
    return std::move(merged_);
  }

 private:
  void put_groups(size_t until) {
    for (; next_group_ < until; ++next_group_) {
      for (const FrameName* name : groups_[next_group_]) merged_.push_back(*name);
    }
  }

  void put_native(const NativeFrame& frame) {
    const bool machinery = !groups_.empty() && is_machinery(frame);
    if (!frame.of_interpreter && !of_c_library(frame)) seen_other_code_ = true;
    for (const FrameName& name : frame.names) {
      merged_.push_back(name);
      if (machinery) merged_.back().kind = FrameKind::interpreter;
    }
  }

  [[nodiscard]] bool is_machinery(const NativeFrame& frame) const {
    if (frame.runs_python) return true;
    if (is_call_machinery(frame.names.back().function)) return true;
    return frame.of_interpreter && (next_group_ > 0 || seen_other_code_);
  }

  const std::vector<NativeFrame>& native_;
  std::vector<Group> groups_;
  std::vector<FrameName> merged_;
  size_t next_group_ = 0;
  bool seen_other_code_ = false;
};

}  // namespace

std::vector<FrameName> merge_frames(const std::vector<NativeFrame>& native,
                                    const std::vector<NamedPythonFrame>& python, bool truncated) {
  return Merge(native, groups_of(python)).run(truncated);
}

bool is_interpreter_loop(std::string_view symbol) {
  return symbol.substr(0, symbol.find('.')) == "_PyEval_EvalFrameDefault";
}

bool is_call_machinery(std::string_view symbol) {
  constexpr std::array<std::string_view, 26> kBeginnings = {
      "PyObject_Call",
      "_PyObject_Call",
      "PyObject_Vectorcall",
      "_PyObject_Vectorcall",
      "PyVectorcall_",
      "_PyVectorcall_",
      "_PyObject_FastCall",
      "_PyObject_MakeTpCall",
      "_PyFunction_",
      "_PyStack_",
      "_PyEval_",
      "PyEval_",
      "PyCFunction_Call",
      "_PyMethodDef_Raw",
      "_PyMethodDescr_",
      "_PyCFunction_",
      "method_vectorcall",
      "method_call",
      "cfunction_",
      "vectorcall_",
      "slot_tp_",
      "type_call",
      "function_code_fastcall",
      "call_function",
      "object_vacall",
      "wrapperdescr_",
  };
  const std::string_view base = symbol.substr(0, symbol.find('.'));
  return std::ranges::any_of(kBeginnings,
                             [&](std::string_view begin) { return base.starts_with(begin); });
}

bool is_interpreter_file(std::string_view base_name) {
  if (base_name.starts_with("libpython")) return true;
  constexpr std::string_view kProgram = "python";
  if (!base_name.starts_with(kProgram)) return false;
  return base_name.find_first_not_of("0123456789.", kProgram.size()) == std::string_view::npos;
}

}  // namespace plateau
