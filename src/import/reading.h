// SPDX-License-Identifier: Apache-2.0
// How a log is read, once that is settled: which column is memory, in which unit, by which clock,
// and whose it is. Learned from the head of a file (learn_reading), applied to all of it
// (mined_log.cc), shown to users (how_read).
//
// The method, in the order of the files: cells.h says which numbers are the same number later,
// sheet.h collects them, this chooses. Every column gets a weight: what its words say
// (slot_name.h), +4 for written units, +2 for one in its title, -12 for rates and times, -8 for
// signs, -5 for percent, up to +1.5 for a smooth course, +0.9 for each tenfold of readings. The
// heaviest is the memory, if it reaches kEnough; ten of weight is a column nobody doubts. A label
// is what cuts the course of that column into smoother ones; a clock is what rises with it.
//
// Worked: jest's "PASS a.test.js (60 MB heap size)", 500 lines: heap 7 - 1 for "size", unit 4,
// smooth 1.5, 0.9 * log10(500) = 2.4: 13.9. The number in the file's name: no words, 2.4: no.
// Blind spot: words that nobody in this table uses, with figures that show neither unit nor page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "import/cells.h"
#include "import/reading_wishes.h"
#include "import/unit_evidence.h"
#include "recording/run.h"

namespace plateau {

struct MemoryColumn {
  uint32_t column = kNoColumn;
  Metric metric = Metric::memory;
  std::string title;
  double bare_mb = 1;           // Of figures without a unit,
  double kb_mb = kKbInMb;       // and of those in kB: the kernel's have 1024 bytes.
  bool falls = false;           // Free memory: what is used is what it fell by.
  double total_mb = 0;          // Written beside what is free, the same in every line; 0: not.
  std::vector<uint32_t> plus;   // More of the same, to be added: free + buffers + cache.
  std::vector<uint32_t> alike;  // Columns that are this one under another name.
};

enum class SeriesBy : uint8_t { nothing, prefix, column, occurrence, title };
enum class PairTakes : uint8_t { all, first, last };  // Of "a -> b".

struct Reading {
  std::unique_ptr<LogLayout> layout;
  bool has_memory = false;
  std::string missing;  // What the user named and the log does not have: a clock or a series.
  // The first decides; the others are other measures of it or, by title, other series.
  std::vector<MemoryColumn> memory;
  // Figures of the same lines that could be it instead; see recording/other_figures.h.
  std::vector<MemoryColumn> others;
  PairTakes pair = PairTakes::all;

  uint32_t step_column = kNoColumn;
  uint32_t time_column = kNoColumn;  // Seconds, or counted from 1970; kNoColumn: see `stamps`.
  double time_scale = 1;
  bool stamps = false;        // Times stand in the lines,
  bool carried_time = false;  // or before them: the last one seen holds.
  bool carried_step = false;

  SeriesBy series = SeriesBy::nothing;
  uint32_t series_column = kNoColumn;
  std::string series_title;
  bool apart = false;  // By title: each in lines of its own.
  bool series_is_pid = false;
  double round_s = 0;  // Seconds between two readings of one series; 0 if unknown.

  bool transposed = false;    // Time runs to the right; see transposed.h.
  bool own_numerals = false;  // "3,99", "180.004 KB" or "4 005 MB", which no other reader knows.
  size_t expected = 0;        // Readings in the head,
  std::vector<double> firsts_mb;  // and the first few.
  double weight = 0;              // Of the column chosen.
  bool sure = false;
  bool moves = false;                // Its figures are not all the same.
  bool told_apart = false;           // From others of the same name, which fewer words would not.
  std::vector<std::string> remarks;  // For the run's notes: units guessed, peaks, percent.
  std::vector<std::string> account;  // For --how-read: every column that was considered.
  std::vector<std::string> found;    // For a refusal: what was there.
};

// Requires: `head` is text. Never fails: has_memory says whether anything was found.
Reading learn_reading(std::string_view head, const ReadingWishes& wishes);

}  // namespace plateau
