// SPDX-License-Identifier: Apache-2.0
// Names for code that a program wrote while it ran, from the files that its runtime leaves for
// profilers: "/tmp/perf-PID.map" (Node --perf-basic-prof, Java -XX:+DumpPerfMapAtExit, Python -X
// perf), a line per function, and "jit-PID.dump" (Node --perf-prof, Numba and others through LLVM),
// a binary log. Both say which addresses a function has; the newest that covers an address counts.
//
// Files come from other programs: whatever is not understood is skipped, and at most 256 MB are
// read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace plateau {

class JitNames {
 public:
  // What there is for a process; `directory` is where it may have left a dump, besides the usual
  // places.
  static JitNames of_process(int64_t pid, const std::string& directory = ".");

  // Hexadecimal begin, size, name: "3ef414c0 398 LazyCompile:~leak /app/leak.js:3".
  void add_perf_map(std::string_view text);
  void add_dump(std::string_view bytes);

  // "" if no code is known there.
  [[nodiscard]] std::string_view at(uint64_t address) const;
  [[nodiscard]] bool empty() const { return code_.empty(); }

 private:
  struct Code {
    uint64_t end = 0;
    std::string name;
  };
  void add(uint64_t begin, uint64_t bytes, std::string_view name);
  std::map<uint64_t, Code> code_;  // By first address; no two overlap.
};

}  // namespace plateau
