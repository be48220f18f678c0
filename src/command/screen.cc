// SPDX-License-Identifier: Apache-2.0
#include "command/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace plateau {
namespace {

constexpr size_t kNarrowest = 40;
constexpr size_t kWidest = 400;

bool wants_color(const Surroundings& around, std::string_view color) {
  if (color == "always") return true;
  if (color == "never") return false;
  if (!around.variable("NO_COLOR").value_or("").empty()) return false;
  const std::string force = around.variable("CLICOLOR_FORCE").value_or("");
  if (!force.empty() && force != "0") return true;
  return around.is_terminal && around.variable("TERM").value_or("dumb") != "dumb";
}

// The first of the three that is set decides, as setlocale() has it.
bool utf8_locale(const Surroundings& around) {
  for (const std::string_view name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = around.variable(name).value_or("");
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

std::optional<size_t> columns_variable(const Surroundings& around) {
  const std::string text = around.variable("COLUMNS").value_or("");
  size_t columns = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (read.ec != std::errc() || columns == 0) return std::nullopt;
  return columns;
}

}  // namespace

Surroundings look_around(int fd) {
  Surroundings around;
  around.is_terminal = isatty(fd) == 1;
  winsize size = {};
  if (around.is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    around.terminal_columns = size.ws_col;
  }
  around.variable = [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
  return around;
}

View choose_view(const Surroundings& around, std::string_view color, std::optional<size_t> width) {
  View view;
  view.color = wants_color(around, color);
  view.utf8 = utf8_locale(around);
  if (!width) width = around.terminal_columns;
  if (!width) width = columns_variable(around);
  view.width = std::clamp(width.value_or(80), kNarrowest, kWidest);
  return view;
}

bool stdin_is_terminal() {
  return isatty(STDIN_FILENO) == 1;
}
bool stderr_is_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

}  // namespace plateau
