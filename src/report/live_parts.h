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

namespace plateau {

// A piece of a row in one colour.
struct Piece {
  std::string text;
  Ink ink = Ink::plain;
};

struct LiveRow {
  std::string text;         // May be painted.
  size_t reverse_from = 0;  // Columns shown dark on light; none if from == to.
  size_t reverse_to = 0;
};

// The same state with every text made harmless, and the verdict's too.
LiveState printable_state(LiveState state);

// "8.20 GB", "-" if it is not known.
std::string amount(double mb);
// "+1.20 GB", "-".
std::string signed_amount(double mb);
// "0:12:34".
std::string hms(double seconds);
// "step 120/250", "step 120"; "" if there is no step.
std::string step_phrase(const LiveState& state);
// "+170 MB/step", what memory does now; "level" when it has settled or does not move.
std::string pace_phrase(const Verdict& verdict);
// "owned memory +170 MB/step", "level at 17.4 GB since step 83"; "" if nothing is known.
std::string movement_phrase(const Verdict& verdict);

// In the view's alphabet, cut to `width` columns with a mark where something was cut.
std::string fit(const View& view, std::string_view text, size_t width);
// In the view's alphabet and colour.
std::string ink(const View& view, Ink color, std::string_view text);
// Pieces with a dot between them, as many from the front as fit; the first is cut if it must be.
std::string joined(const View& view, const std::vector<Piece>& pieces, size_t width);

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
