// SPDX-License-Identifier: Apache-2.0
// Runs as tidy CSV: one row per run, instant and process, which any tool (and our own importer)
// reads back.
//
// Columns, of which only those that hold something are written:
//   run                      1, 2, …; only when there are several
//   t_s, step, epoch         the instant
//   event                    "eval", "checkpoint:text"; several are joined with ';'
//   proc or pid              the process's id; pid if all ids are pids
//   name, parent
//   <metric>_mb …            rss_mb, pss_anon_mb, …: MB, 1e6 bytes; empty = not read
//   threads, gauge.<name> …
//   context.<fact> …         examples, batch, epoch_steps, total_steps, limit_mb; constant
//
// Numbers are written so that they read back exactly. Not kept: labels of columns, sources of
// facts, roles, notes, bad lines; instants without any value; line ends and ';' inside event texts.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "recording/run.h"

namespace plateau {

// Calls `sink` with pieces of the text, about 64 KB each, so that long runs need no second copy.
void write_tidy_csv(std::span<const Run> runs, const std::function<void(std::string_view)>& sink);

std::string tidy_csv(std::span<const Run> runs);

}  // namespace plateau
