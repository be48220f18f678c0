// SPDX-License-Identifier: Apache-2.0
// Standard output and standard error, with failures noticed.
//
// A reader that goes away (`| head`) is not an error: printing stops quietly and the exit code
// stays what it was. A full disk is one: it is reported once, at the end, with exit code 2.
// Requires: SIGPIPE is ignored, as main() arranges.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace plateau {

class Output {
 public:
  Output(std::FILE* out, std::FILE* err, std::string program = "plateau")
      : out_(out), err_(err), program_(std::move(program)) {}

  // To standard output; flushed by finish() and before complain().
  void print(std::string_view text);
  // What was printed goes out now: for readers that follow along.
  void flush();
  // One line to standard error, made printable, with "PROGRAM VERB: " in front.
  void complain(std::string_view verb, std::string_view message);
  // Lines to standard error as they are.
  void remark(std::string_view lines);

  // True once nobody reads standard output or it cannot be written: more work is in vain.
  [[nodiscard]] bool closed() const { return error_ != 0; }

  // Flushes. Returns `code`, or kExitTrouble after saying why if output was lost.
  int finish(int code);

 private:
  void note_failure();

  std::FILE* out_;
  std::FILE* err_;
  std::string program_;
  int error_ = 0;  // errno of the first failed write.
};

}  // namespace plateau
