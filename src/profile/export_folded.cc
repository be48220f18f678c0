// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <string>

#include "profile/export.h"

namespace plateau {
namespace {

void append_name(const FrameName& frame, std::string& line) {
  if (!line.empty()) line += ';';
  for (const char c : frame_title(frame)) {
    const bool control = static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    line += c == ';' ? ':' : control ? ' ' : c;
  }
}

}  // namespace

std::string export_folded(const ExportProfile& profile) {
  std::map<std::string, double> sums;
  for (const ExportStack& stack : profile.stacks) {
    std::string line;
    for (const FrameName& frame : stack.frames) append_name(frame, line);
    sums[line.empty() ? "(no stack)" : line] += stack.bytes;
  }
  std::string text;
  for (const auto& [line, sum] : sums) {
    const double whole = std::round(sum);
    if (!(whole >= 1)) continue;
    text += line + " " + std::to_string(static_cast<int64_t>(whole)) + "\n";
  }
  return text;
}

}  // namespace plateau
