// SPDX-License-Identifier: Apache-2.0
#include "profile/stack_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace plateau {
namespace {

// Longer template arguments say less than they take.
constexpr size_t kMostTemplateLetters = 24;
// Callers named in a title after the first, the outermost one included.
constexpr size_t kMostCallers = 3;

constexpr std::array<std::string_view, 39> kAllocators = {
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "mmap",
    "mmap64",
    "mremap",
    "strdup",
    "strndup",
    "xmalloc",
    "xcalloc",
    "xrealloc",
    "operator new",
    "operator new[]",
    "PyObject_Malloc",
    "PyObject_Calloc",
    "PyObject_Realloc",
    "PyMem_Malloc",
    "PyMem_Calloc",
    "PyMem_Realloc",
    "PyMem_RawMalloc",
    "PyMem_RawCalloc",
    "PyMem_RawRealloc",
    "_PyObject_Malloc",
    "_PyObject_GC_New",
    "_PyObject_GC_NewVar",
    "PyType_GenericAlloc",
    "_PyObject_New",
    "_PyMem_RawMalloc",
    "_PyMem_RawCalloc",
    "_PyMem_RawRealloc",
    "__libc_malloc",
    "__libc_calloc",
    "__libc_realloc",
};

constexpr std::array<std::string_view, 8> kStarters = {
    "_start",
    "__libc_start_main",
    "__libc_start_call_main",
    "__libc_start_main_impl",
    "start_thread",
    "clone",
    "clone3",
    "_dl_start_user",
};

constexpr std::array<std::string_view, 4> kPlumbing = {
    "std::", "__gnu_cxx::", "__cxxabiv1::", "fmt::"};

// Rust's own: by the file, as the compiler writes it for a library that came with it, and by name
// where there are no lines.
constexpr std::array<std::string_view, 4> kRustFiles = {"/rustc/", "/rust/deps/", "library/alloc/",
                                                        "library/core/"};
constexpr std::array<std::string_view, 14> kRustNames = {
    "alloc::alloc::", "alloc::boxed::", "alloc::collections::", "alloc::fmt::",  "alloc::raw_vec::",
    "alloc::rc::",    "alloc::slice::", "alloc::str::",         "alloc::string", "alloc::sync::",
    "alloc::vec::",   "core::ops::",    "core::iter::",         "hashbrown::"};
constexpr std::array<std::string_view, 3> kRustAllocators = {"__rust_", "__rdl_", "__rustc::__r"};

template <size_t N>
bool begins_with(const std::array<std::string_view, N>& beginnings, std::string_view text) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [text](std::string_view begin) { return text.starts_with(begin); });
}

bool is_rusts_own(const FrameName& frame) {
  std::string_view name = frame.function;
  while (name.starts_with('<') || name.starts_with('&')) name.remove_prefix(1);
  return begins_with(kRustFiles, frame.file) || begins_with(kRustNames, name) ||
         begins_with(kRustAllocators, name);
}

template <size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Matching brackets are one letter each: what is inside does not count.
void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

// Cuts parameters and return type off a demangled name. Stand-ins keep words that hold brackets or
// spaces in one piece: \1 "operator()", \2 "(anonymous namespace)", \3 "operator new".
std::string bare_name(std::string name) {
  replace_all(name, "operator()", "\1");
  replace_all(name, "(anonymous namespace)", "\2");
  replace_all(name, "operator new", "\3");
  replace_all(name, "operator<<", "\4");
  int depth = 0;
  size_t begin = 0, end = name.size();
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' && depth == 0 && i > begin) {
      end = i;
      break;
    }
    if (c == '<' || c == '(' || c == '[') ++depth;
    if ((c == '>' || c == ')' || c == ']') && depth > 0) --depth;
    if (c == ' ' && depth == 0) begin = i + 1;
  }
  std::string bare = name.substr(begin, end - begin);
  replace_all(bare, "\1", "operator()");
  replace_all(bare, "\2", "(anonymous namespace)");
  replace_all(bare, "\3", "operator new");
  replace_all(bare, "\4", "operator<<");
  return bare;
}

// Long template arguments at the outermost level become "<...>".
std::string without_long_arguments(const std::string& name) {
  std::string out, inside;
  int depth = 0;
  for (const char c : name) {
    const bool operator_name = depth == 0 && out.ends_with("operator");
    if (c == '<' && !operator_name) ++depth;
    if (c == '<' && !operator_name && depth == 1) {
      inside.clear();
      continue;
    }
    const bool closes = c == '>' && !operator_name && depth > 0;
    if (closes) --depth;
    if (closes && depth == 0) {
      out += inside.size() > kMostTemplateLetters ? "<...>" : "<" + inside + ">";
      continue;
    }
    (depth > 0 ? inside : out).push_back(c);
  }
  return depth > 0 ? name : out;
}

// What a std::function calls stands in the name of its handler, often with its code inlined there:
// "main::{lambda}" of "std::_Function_handler<void (int), main::{lambda(int)#1}>::_M_invoke".
std::string called_by_handler(const std::string& bare) {
  constexpr std::string_view kHandler = "std::_Function_handler<";
  const size_t end = bare.rfind(">::_M_invoke");
  if (!bare.starts_with(kHandler) || end == std::string::npos) return bare;
  int depth = 0;
  size_t from = std::string::npos;
  for (size_t i = kHandler.size(); i < end; ++i) {
    const char c = bare[i];
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
    if (c == ',' && depth == 0) from = i + 2;
  }
  if (from == std::string::npos || from >= end) return bare;
  std::string called = bare.substr(from, end - from);
  const size_t parameters = called.rfind("{lambda(");
  return parameters == std::string::npos ? called : called.substr(0, parameters) + "{lambda}";
}

bool is_interpreter(const FrameName& frame) {
  return frame.kind == FrameKind::interpreter || frame.module.starts_with("libpython") ||
         frame.module.starts_with("python3") || frame.module == "python";
}

bool is_machinery(const FrameName& frame, bool has_python) {
  if (frame.kind == FrameKind::python) return false;
  if (frame.module.starts_with("libplateau_tracer")) return true;  // It wraps Python's allocator.
  if (has_python && is_interpreter(frame)) return true;
  const std::string name = short_function(frame);
  if (name.empty()) {
    return frame.module.starts_with("libc.so") || frame.module.starts_with("ld-linux");
  }
  return among(kAllocators, name) || among(kStarters, name) || begins_with(kPlumbing, name) ||
         is_rusts_own(frame);
}

bool is_library_file(const std::string& path) {
  return path.find("site-packages/") != std::string::npos ||
         path.find("dist-packages/") != std::string::npos ||
         path.find("/lib/python3") != std::string::npos || path.starts_with("<frozen");
}

std::string python_words(const FrameName& frame) {
  return frame.line > 0
             ? fmt::format("{} ({}:{})", short_function(frame), short_file(frame.file), frame.line)
             : fmt::format("{} ({})", short_function(frame), short_file(frame.file));
}

// "_imaging.so" of "_imaging.cpython-311-x86_64-linux-gnu.so": the rest is the same for all.
std::string short_module(const std::string& module) {
  const size_t tag = module.find(".cpython-");
  return tag == std::string::npos || !module.ends_with(".so") ? module
                                                              : module.substr(0, tag) + ".so";
}

// The callers of frame `from`, the nearest first: the innermost line outside of libraries with its
// place, the others by name.
std::string callers(const std::vector<FrameName>& frames, size_t from) {
  std::vector<std::string> names;
  bool placed = false;
  for (size_t i = from; i < frames.size(); ++i) {
    const FrameName& frame = frames[i];
    const bool own = !placed && frame.kind == FrameKind::python && !is_library_file(frame.file);
    placed = placed || own;
    names.push_back(own ? python_words(frame) : short_function(frame));
    if (names.back().empty()) names.back() = frame_words(frame);
    if (own) break;
  }
  if (!placed && names.size() > kMostCallers) names.resize(kMostCallers);
  if (names.size() > kMostCallers) {
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(kMostCallers) - 1, names.end() - 1);
    names.insert(names.end() - 1, "...");
  }
  return fmt::format("{}", fmt::join(names, " <- "));
}

}  // namespace

std::vector<FrameName> visible_frames(const std::vector<FrameName>& frames) {
  const bool has_python = std::any_of(frames.begin(), frames.end(), [](const FrameName& frame) {
    return frame.kind == FrameKind::python;
  });
  std::vector<FrameName> visible;
  for (const FrameName& frame : frames) {
    if (is_machinery(frame, has_python)) continue;
    const bool nameless = frame.kind != FrameKind::python && frame.function.empty();
    if (nameless && !visible.empty() && visible.back().kind != FrameKind::python &&
        visible.back().function.empty() && visible.back().module == frame.module) {
      continue;
    }
    visible.push_back(frame);
    if (nameless && !frame.module.empty()) visible.back().offset = 0;
  }
  if (visible.empty() && !frames.empty()) visible.push_back(frames.front());
  return visible;
}

std::string short_function(const FrameName& frame) {
  if (frame.kind == FrameKind::python) {
    // "Image.load.<locals>.inner" is "Image.load.inner" to its author.
    std::string name = frame.function;
    replace_all(name, ".<locals>", "");
    return name;
  }
  // What a runtime says of its own code is no declaration: "LazyCompile:~leak /app/leak.js:3".
  if (frame.module == "jit") return frame.function;
  return without_long_arguments(called_by_handler(bare_name(frame.function)));
}

std::string short_file(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return path;
  if (!is_library_file(path)) return path.substr(slash + 1);
  const size_t parent = slash > 0 ? path.rfind('/', slash - 1) : std::string::npos;
  const std::string two = path.substr(parent == std::string::npos ? 0 : parent + 1);
  // Directly below a package directory there is no package to name.
  const bool bare = two.starts_with("site-packages/") || two.starts_with("dist-packages/") ||
                    two.starts_with("python3");
  return bare ? path.substr(slash + 1) : two;
}

std::string frame_words(const FrameName& frame) {
  if (frame.kind == FrameKind::python) return python_words(frame);
  const std::string name = short_function(frame);
  if (name.empty()) {
    if (frame.module.empty()) return fmt::format("{:#x}", frame.offset);
    const std::string module = short_module(frame.module);
    return frame.offset == 0 ? module : fmt::format("{}+{:#x}", module, frame.offset);
  }
  if (!frame.file.empty() && frame.line > 0) {
    return fmt::format("{} ({}:{})", name, short_file(frame.file), frame.line);
  }
  return frame.module.empty() ? name : fmt::format("{} [{}]", name, short_module(frame.module));
}

std::string frame_key(const FrameName& frame, bool lines) {
  if (frame.kind != FrameKind::python && frame.function.empty()) return frame_words(frame);
  return fmt::format("{}\n{}\n{}", frame.function,
                     frame.kind == FrameKind::python ? frame.file : frame.module,
                     lines ? frame.line : 0);
}

std::string site_title(const std::vector<FrameName>& frames) {
  if (frames.empty()) return "(no stack)";
  std::string title = frame_words(frames.front());
  size_t at = 1;
  if (frames.front().kind != FrameKind::python) {
    // A native call is placed by the nearest line of Python.
    while (at < frames.size() && frames[at].kind != FrameKind::python) ++at;
    if (at == frames.size()) {
      const std::string names = callers(frames, 1);
      return names.empty() ? title : title + " <- " + names;
    }
    title += " called from " + python_words(frames[at++]);
  }
  const std::string names = callers(frames, at);
  return names.empty() ? title : title + " <- " + names;
}

std::string site_place(const std::vector<FrameName>& frames) {
  for (const FrameName& frame : frames) {
    if (frame.kind == FrameKind::python) return python_words(frame);
  }
  return frames.empty() ? "(no stack)" : frame_words(frames.front());
}

}  // namespace plateau
