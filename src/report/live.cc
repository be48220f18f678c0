// SPDX-License-Identifier: Apache-2.0
// Lays the live screen out: which pieces, how many rows each.
//
// The pieces above and below are fixed; plot and table share what lies between. Worked case, a
// terminal of 80 x 24: five head rows under the title, the plot takes 9 rows (6 of drawing, 2 of
// clock, 1 of events), the table 7 (its head and 6 processes), events 1, keys 1. Each further row
// goes to plot and table in turn, unless there are no more processes to show.
//
// Blind spot: on a screen of fewer than 20 rows there is no plot, and on one smaller than 60 x 12
// neither bars nor roles; the verdict is always there.
#include "report/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "base/units.h"
#include "report/live_parts.h"
#include "report/plot.h"
#include "words/phrases.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

constexpr size_t kCompactColumns = 60;
constexpr size_t kCompactRows = 12;
constexpr size_t kPlotFrom = 20;     // Rows of a screen that has a plot.
constexpr size_t kReasonsFrom = 30;  // ... that names who grows and why.
constexpr size_t kNotesFrom = 16;    // Rows of a plot that has a legend.
constexpr size_t kLeastPlot = 9;     // 6 of drawing, clock, events.
constexpr size_t kLeastTable = 7;    // Head and 6 processes.

void show(Frame& frame, size_t row, const LiveRow& line) {
  frame.put(row, 0, line.text);
  frame.reverse(row, line.reverse_from, line.reverse_to);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) lines.emplace_back(take_part(text, '\n'));
  return lines;
}

// At most `rows` lines, as many of them drawing as the marks and notes leave.
std::vector<std::string> plot_lines(const LiveState& state, const View& view, size_t rows) {
  if (!state.verdict || rows < 4) return {};
  PlotRoom room = {.rows = rows - 3, .notes = rows >= kNotesFrom};
  if (room.notes) room.rows -= 3;
  std::vector<std::string> lines = lines_of(render_plot(*state.verdict, view, room));
  if (lines.empty() || lines.size() >= rows) return lines;
  room.rows += rows - lines.size();
  return lines_of(render_plot(*state.verdict, view, room));
}

struct Shares {
  size_t plot = 0;
  size_t table = 0;
};

Shares share_out(size_t body, size_t screen_rows, size_t processes, bool has_plot) {
  const size_t wanted = std::max<size_t>(processes, 1) + 1;
  if (!has_plot || screen_rows < kPlotFrom || body < kLeastPlot + 2) return {0, body};
  size_t table = std::min(body - kLeastPlot, kLeastTable);
  const size_t rest = body - kLeastPlot - table;
  table += rest / 2;
  table = std::min(table, wanted);
  return {body - table, table};
}

Frame render_full(const LiveState& state, const LiveControls& controls, Frame frame,
                  const View& view) {
  const size_t rows = frame.rows();
  std::vector<LiveRow> head = {title_row(state, controls, view), verdict_row(state, view),
                               ahead_row(state, view), limit_row(state, view)};
  if (rows >= 14) head.push_back(memory_row(state, view));
  if (rows >= 16) head.push_back(system_row(state, view));
  if (rows >= kReasonsFrom) {
    for (LiveRow& row : reason_rows(state, view)) head.push_back(std::move(row));
  }
  const bool page = controls.detail || controls.help;
  size_t most_events = page || rows < kPlotFrom ? 0 : 1;
  if (!page && rows >= kReasonsFrom) most_events = 4;
  const std::vector<LiveRow> events = event_rows(state, view, most_events);
  for (size_t i = 0; i < head.size(); ++i) show(frame, i, head[i]);
  const size_t foot = rows - 1 - events.size();
  for (size_t i = 0; i < events.size(); ++i) show(frame, foot + i, events[i]);
  show(frame, rows - 1, keys_row(state, controls, view));

  size_t at = head.size();
  const size_t body = foot > at ? foot - at : 0;
  if (page) {
    const LiveProcess* process = selected_process(state, controls);
    const std::vector<LiveRow> text = controls.help ? help_rows(view)
                                      : process != nullptr
                                          ? detail_rows(state, *process, view)
                                          : std::vector<LiveRow>{{"no process to show", 0, 0}};
    const size_t most = text.size() > body ? text.size() - body : 0;
    const size_t first = std::min(controls.scroll, most);
    for (size_t i = first; i < std::min(text.size(), first + body); ++i) show(frame, at++, text[i]);
    return frame;
  }
  const bool plotted = !plot_lines(state, view, kLeastPlot).empty();
  const Shares shares = share_out(body, rows, state.processes.size(), plotted);
  for (const std::string& line : plot_lines(state, view, shares.plot)) frame.put(at++, 0, line);
  for (const LiveRow& row : process_rows(state, controls, view, shares.table)) {
    show(frame, at++, row);
  }
  return frame;
}

// The least that still answers the question, the verdict first.
std::vector<LiveRow> compact_rows(const LiveState& state, const LiveControls& controls,
                                  const View& view, size_t rows) {
  std::vector<LiveRow> out = {verdict_row(state, view)};
  std::vector<Piece> now = {{"owned " + amount(state.totals.owned_mb)}};
  if (state.verdict) {
    const Verdict& verdict = *state.verdict;
    std::vector<Piece> answer = {{confidence_phrase(verdict.confidence), Ink::bold}};
    if (verdict.decides_at_step) {
      answer.push_back({"open until " + moment_phrase(verdict.clock, *verdict.decides_at_step)});
    }
    answer.push_back({headline_of(verdict)});
    out[0].text = ink(view, word_ink(verdict.word), fmt::format(" {} ", word_upper(verdict.word)));
    const size_t used = word_upper(verdict.word).size() + 3;
    out[0].text += " " + joined(view, answer, view.width > used ? view.width - used : 0);
    now.push_back({verdict.settled ? movement_phrase(verdict) : pace_phrase(verdict)});
  }
  out.push_back({joined(view, now, view.width), 0, 0});
  std::string limit = "limit " + amount(state.limit.mb);
  if (state.limit.seconds_to_limit) {
    limit += " in " + format_seconds(*state.limit.seconds_to_limit);
  }
  out.push_back({joined(view, {{limit}, {state.limit.source}}, view.width), 0, 0});
  std::vector<Piece> clock = {{step_phrase(state)}, {hms(state.elapsed_s)}, {state.title}};
  out.push_back({joined(view, clock, view.width), 0, 0});
  if (rows > out.size() + 3) {
    for (LiveRow& row : process_rows(state, controls, view, rows - out.size() - 1)) {
      out.push_back(std::move(row));
    }
  }
  return out;
}

Frame render_compact(const LiveState& state, const LiveControls& controls, Frame frame,
                     const View& view) {
  const size_t rows = frame.rows();
  std::vector<LiveRow> text;
  const LiveProcess* process = selected_process(state, controls);
  if (controls.help) {
    text = help_rows(view);
  } else if (controls.detail && process != nullptr) {
    text = detail_rows(state, *process, view);
  } else {
    text = compact_rows(state, controls, view, rows);
  }
  const bool keys = rows >= 4;
  const size_t room = keys ? rows - 1 : rows;
  const size_t first = controls.help || controls.detail
                           ? std::min(controls.scroll, text.size() - std::min(text.size(), room))
                           : 0;
  for (size_t i = first; i < std::min(text.size(), first + room); ++i) {
    show(frame, i - first, text[i]);
  }
  if (keys) show(frame, rows - 1, keys_row(state, controls, view));
  return frame;
}

}  // namespace

Frame render_live(const LiveState& state, const LiveControls& controls, size_t columns, size_t rows,
                  const View& view) {
  Frame frame(columns, rows);
  if (columns == 0 || rows == 0) return frame;
  View fitted = view;
  fitted.width = columns;
  const LiveState clean = printable_state(state);
  const bool compact = columns < kCompactColumns || rows < kCompactRows;
  return compact ? render_compact(clean, controls, std::move(frame), fitted)
                 : render_full(clean, controls, std::move(frame), fitted);
}

}  // namespace plateau
