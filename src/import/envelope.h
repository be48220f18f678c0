// SPDX-License-Identifier: Apache-2.0
// What a collector writes before each line of a program's output: "2026-03-03T10:00:00Z app-7 INFO
// ".
//
// journald, `docker logs -t`, `kubectl logs --timestamps`, CI systems and loggers put a time before
// every line, and a few words that are the same in all of them, a level aside.
// What stands behind is the program's own text, which may be a table, a section, a name above a
// number: forms that are known by how a line begins. So the head is also read without it, and the
// better of the two readings is taken.
//
// Worked: "2026-03-03T10:00:00Z app-7 INFO  NAME  CPU  MEMORY" and, below, "… app-7 INFO  web-1 12m
// 330Mi": the time, "app-7" and "INFO" are in all lines, "NAME" and "web-1" are not.
// A word that means something ("step", "rss") is never a part of it, nor is one that differs: it
// may say whose line it is. Blind spot: a collector that writes the process id of each of several
// programs.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "import/cells.h"
#include "import/sheet.h"

namespace plateau {

class Envelope {
 public:
  // That of these lines; nullopt if they have none.
  static std::optional<Envelope> of(const std::vector<std::string_view>& lines);

  struct Opened {
    std::string_view rest;  // Of the line, its indentation kept.
    Stamp time;
    size_t time_at = 0;
  };
  // nullopt if the line has none.
  [[nodiscard]] std::optional<Opened> open(std::string_view line) const;

 private:
  size_t words_ = 0;  // Behind the time.
  size_t gap_ = 0;    // Blanks behind them; more are the indentation of the rest.
};

// Reads the lines without it, and appends what was found: sheets whose layouts open it themselves.
void add_sheets_in(const Envelope& envelope, const std::vector<std::string_view>& lines,
                   const NumberStyle& style, std::vector<Sheet>& sheets);

// Cuts what is in the envelope as `inner` does; the time on it is that of lines that have no other.
std::unique_ptr<LogLayout> layout_in(const Envelope& envelope, std::unique_ptr<LogLayout> inner);

}  // namespace plateau
