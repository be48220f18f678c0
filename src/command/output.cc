// SPDX-License-Identifier: Apache-2.0
#include "command/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "command/exit_code.h"
#include "report/text.h"

namespace plateau {

void Output::note_failure() {
  if (error_ == 0) error_ = errno != 0 ? errno : EIO;
}

void Output::print(std::string_view text) {
  if (closed() || text.empty()) return;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), out_) != text.size()) note_failure();
}

void Output::flush() {
  errno = 0;
  if (!closed() && std::fflush(out_) != 0) note_failure();
}

void Output::complain(std::string_view verb, std::string_view message) {
  // On a shared terminal the complaint belongs after what was printed before it.
  flush();
  const std::string_view space = verb.empty() ? "" : " ";
  remark(fmt::format("{}{}{}: {}\n", program_, space, verb, printable(message)));
}

void Output::remark(std::string_view lines) {
  // Standard error is the last resort; if it fails there is nobody left to tell.
  (void)std::fwrite(lines.data(), 1, lines.size(), err_);
  (void)std::fflush(err_);
}

int Output::finish(int code) {
  flush();
  if (error_ == 0 || error_ == EPIPE) return code;
  complain("", fmt::format("standard output: {}", std::strerror(error_)));
  return kExitTrouble;
}

}  // namespace plateau
