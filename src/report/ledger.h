// SPDX-License-Identifier: Apache-2.0
// The ledger of resident memory as a table for a terminal and as JSON. No arithmetic here.
#pragma once

#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "ledger/ledger.h"
#include "report/text.h"

namespace plateau {

// "resident 1.53 GB =" and a row per line that is not zero, the rest last, then the notes. Within
// the view's width; ASCII where the view is.
std::string ledger_text(const Ledger& ledger, const View& view);

// The same of a change, with signs: "resident +168 MB from step 10 to step 90 =".
std::string ledger_growth_text(const LedgerGrowth& growth, const View& view);

// One object: rss_mb, lines (name, mb, source), rest_mb, notes.
void write_ledger_json(JsonWriter& json, const Ledger& ledger);
// The same with from_step, to_step (null before the first step), from_s and to_s before it.
void write_ledger_growth_json(JsonWriter& json, const LedgerGrowth& growth);

// "held by the allocator" for "allocator-held"; the name itself if it is not known.
std::string_view ledger_line_words(std::string_view name);

}  // namespace plateau
