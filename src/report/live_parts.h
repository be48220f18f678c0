// SPDX-License-Identifier: Apache-2.0
// The pieces a live screen is made of: rows of painted text, made for a width. Used by live.cc.
//
// Requires throughout: a state from printable_state(). Rows may be longer than the width; the
// frame cuts them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/live.h"
#include "report/live_words.h"

namespace plateau {

struct LiveRow {
  std::string text;         // May be painted.
  size_t reverse_from = 0;  // Columns shown dark on light; none if from == to.
  size_t reverse_to = 0;
};

// The same state with every text made harmless, and the verdict's too.
LiveState printable_state(LiveState state);

// Rows above the plot. view.width is the width.
LiveRow title_row(const LiveState& state, const LiveControls& controls, const View& view);
LiveRow verdict_row(const LiveState& state, const View& view);
LiveRow ahead_row(const LiveState& state, const View& view);
LiveRow limit_row(const LiveState& state, const View& view);
LiveRow memory_row(const LiveState& state, const View& view);
LiveRow system_row(const LiveState& state, const View& view);
// Who grows, and why; as many as there is something to say about.
std::vector<LiveRow> reason_rows(const LiveState& state, const View& view);
// The latest events and complaints, at most `most` rows, the latest last.
std::vector<LiveRow> event_rows(const LiveState& state, const View& view, size_t most);
LiveRow keys_row(const LiveState& state, const LiveControls& controls, const View& view);

// The table: a head row and at most `rows` - 1 processes, scrolled so that the selected one shows.
std::vector<LiveRow> process_rows(const LiveState& state, const LiveControls& controls,
                                  const View& view, size_t rows);
// The process that the controls select, null if there is none.
const LiveProcess* selected_process(const LiveState& state, const LiveControls& controls);
// Everything known about one process.
std::vector<LiveRow> detail_rows(const LiveState& state, const LiveProcess& process,
                                 const View& view);
std::vector<LiveRow> help_rows(const View& view);

}  // namespace plateau
