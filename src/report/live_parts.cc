// SPDX-License-Identifier: Apache-2.0
#include "report/live_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"
#include "report/printable.h"
#include "words/finding_table.h"
#include "words/paragraphs.h"
#include "words/phrases.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

constexpr size_t kMargin = 8;  // "Memory  ", as in the report.
// Less time than this to the limit is an alarm.
constexpr double kSoonSeconds = 600;
// A chance of running out of memory from which on it is worth a colour.
constexpr double kWorthWarning = 0.1;
constexpr double kWorthAlarm = 0.5;

void clean(std::string& text) {
  text = printable(text);
}

LiveRow labelled(const View& view, std::string_view label, const std::vector<Piece>& pieces) {
  const size_t room = view.width > kMargin ? view.width - kMargin : 0;
  return {ink(view, Ink::dim, pad_right(label, kMargin)) + joined(view, pieces, room), 0, 0};
}

std::string forecast_phrase(const Verdict& verdict) {
  const Verdict::Forecast& forecast = *verdict.forecast;
  std::string text = fmt::format("level near {}", format_mb(forecast.plateau_mb));
  if (forecast.range.high > forecast.range.low) {
    text += fmt::format(" ({})", range_phrase(forecast.range));
  }
  if (forecast.at_step) text += " from " + moment_phrase(verdict.clock, *forecast.at_step);
  return text + (verdict.word == Word::undecided ? ", if growth ends" : "");
}

struct Kind {
  std::string_view name;
  double mb;
  Ink ink;
  std::string_view glyph;
  std::string_view ascii;
};

std::array<Kind, 4> kinds_of(const LiveTotals& totals) {
  return {{{"owned", totals.owned_mb, Ink::blue, "█", "#"},
           {"shared", totals.shared_mb, Ink::magenta, "▓", "="},
           {"file", totals.file_mb, Ink::cyan, "▒", "+"},
           {"swap", totals.swap_mb, Ink::yellow, "▞", "~"}}};
}

// A bar of `columns` cells that stands for `full_mb`. A kind that is there shows at least one cell.
std::string memory_bar(const View& view, const std::array<Kind, 4>& kinds, double full_mb,
                       size_t columns) {
  std::string bar;
  size_t used = 0;
  double sum_mb = 0;
  for (const Kind& kind : kinds) {
    if (!(kind.mb > 0)) continue;
    sum_mb += kind.mb;
    const double share = std::clamp(sum_mb / full_mb, 0.0, 1.0);
    const auto wanted = static_cast<size_t>(std::llround(share * static_cast<double>(columns)));
    const size_t to = std::min(columns, std::max(wanted, used + 1));
    std::string cells;
    for (; used < to; ++used) cells += view.utf8 ? kind.glyph : kind.ascii;
    bar += paint(view, kind.ink, cells);
  }
  std::string rest;
  for (; used < columns; ++used) rest += view.utf8 ? "·" : ".";
  return bar + paint(view, Ink::dim, rest);
}

}  // namespace

LiveState printable_state(LiveState state) {
  for (std::string* text : {&state.title, &state.clock_text, &state.limit.source,
                            &state.cgroup.path, &state.recording_path, &state.status}) {
    clean(*text);
  }
  for (LiveProcess& process : state.processes) {
    clean(process.name);
    clean(process.role_reason);
  }
  for (LiveGpu& gpu : state.gpus) clean(gpu.name);
  for (LiveEvent& event : state.events) clean(event.text);
  for (std::string& complaint : state.complaints) clean(complaint);
  if (state.verdict) state.verdict = printable_verdict(std::move(*state.verdict));
  return state;
}

LiveRow title_row(const LiveState& state, const LiveControls& controls, const View& view) {
  std::vector<Piece> right;
  if (controls.paused) right.push_back({"paused", Ink::yellow});
  if (state.ended) right.push_back({"ended", Ink::yellow});
  right.push_back({step_phrase(state)});
  if (std::isfinite(state.epoch)) right.push_back({fmt::format("epoch {:.2f}", state.epoch)});
  if (std::isfinite(state.steps_per_s)) {
    const double rate = state.steps_per_s;
    right.push_back({rate >= 0.1 || rate <= 0 ? fmt::format("{:.1f} steps/s", rate)
                                              : fmt::format("{:.1f} steps/min", rate * 60)});
  }
  if (std::isfinite(state.elapsed_s)) right.push_back({hms(state.elapsed_s)});
  right.push_back({state.clock_text, Ink::dim});
  const View colourless = {.width = view.width, .color = false, .utf8 = view.utf8, .plot = true};
  const size_t most = view.width * 2 / 3;
  const size_t right_width = display_width(joined(colourless, right, most));
  const size_t room = view.width > right_width + 2 ? view.width - right_width - 2 : 0;
  const std::string pid = state.root_pid >= 0 ? fmt::format("pid {}  ", state.root_pid) : "";
  const std::string left = fit(view, pid + state.title, room);
  return {ink(view, Ink::dim, pad_right(left, room)) + "  " + joined(view, right, most), 0, 0};
}

LiveRow verdict_row(const LiveState& state, const View& view) {
  if (!state.verdict) {
    return {ink(view, Ink::yellow, " WAITING ") + "  no verdict yet: too few samples", 0, 0};
  }
  const Verdict& verdict = *state.verdict;
  const std::string badge = fmt::format(" {} ", word_upper(verdict.word));
  std::vector<Piece> pieces;
  if (verdict.confidence != 0) pieces.push_back({percent_phrase(verdict.confidence), Ink::bold});
  pieces.push_back({movement_phrase(verdict)});
  if (verdict.decides_at_step) {
    pieces.push_back(
        {"open until " + moment_phrase(verdict.clock, *verdict.decides_at_step), Ink::bold});
  }
  if (verdict.process && !verdict.settled) {
    pieces.push_back({"in " + process_phrase(*verdict.process)});
  }
  pieces.push_back({headline_of(verdict)});
  const size_t used = badge.size() + 1;
  const size_t room = view.width > used ? view.width - used : 0;
  // Without colour there is no light on dark either, and a badge would only be indented text.
  LiveRow row;
  row.text = ink(view, word_ink(verdict.word), badge) + " " + joined(view, pieces, room);
  row.reverse_to = view.color ? badge.size() : 0;
  return row;
}

LiveRow ahead_row(const LiveState& state, const View& view) {
  std::vector<Piece> pieces;
  if (!state.verdict) {
    pieces.push_back({"-"});
    return labelled(view, "Ahead", pieces);
  }
  const Verdict& verdict = *state.verdict;
  const bool open = verdict.word == Word::undecided || verdict.word == Word::warming;
  const bool ends = verdict.word == Word::plateau;
  if (open && verdict.forecast) pieces.push_back({forecast_phrase(verdict)});
  if (ends && verdict.settled) pieces.push_back({"stays near " + format_mb(verdict.settled->mb)});
  if (verdict.word == Word::leak) pieces.push_back({"no end in sight"});
  if (verdict.forecast_at_total_steps_mb && verdict.total_steps && !ends) {
    pieces.push_back({fmt::format("{} at {}", format_mb(*verdict.forecast_at_total_steps_mb),
                                  moment_phrase(verdict.clock, *verdict.total_steps))});
  }
  if (verdict.risk.at_step && !ends) {
    pieces.push_back({fmt::format("{}passes the limit at {}",
                                  !open              ? ""
                                  : verdict.forecast ? "if not, "
                                                     : "if growth continues, ",
                                  moment_phrase(verdict.clock, *verdict.risk.at_step))});
  }
  if (verdict.word == Word::undecided) {
    pieces.push_back({tell(verdict.undecided_because, verdict)});
  }
  if (std::all_of(pieces.begin(), pieces.end(), [](const Piece& p) { return p.text.empty(); })) {
    pieces.push_back({"no forecast yet"});
  }
  return labelled(view, "Ahead", pieces);
}

LiveRow limit_row(const LiveState& state, const View& view) {
  const LiveLimit& limit = state.limit;
  if (!std::isfinite(limit.mb) || limit.mb <= 0) {
    return labelled(view, "Limit", {{"none known; --limit 20GB would say whether it is reached"}});
  }
  const double used = std::isfinite(limit.used_mb) ? limit.used_mb : state.totals.owned_mb;
  const double risk = state.verdict ? state.verdict->risk.oom.value_or(0) : 0;
  const double seconds = limit.seconds_to_limit.value_or(kMissing);
  Ink alarm = Ink::plain;
  if (risk >= kWorthWarning) alarm = Ink::yellow;
  if (risk >= kWorthAlarm || seconds < kSoonSeconds) alarm = Ink::red;
  std::vector<Piece> pieces;
  pieces.push_back({format_mb(limit.mb) + (limit.source.empty() ? "" : " " + limit.source)});
  pieces.push_back({std::isfinite(seconds)
                        ? fmt::format("reached in {}", format_seconds(std::max(seconds, 0.0)))
                        : "not approached",
                    alarm});
  if (std::isfinite(used)) {
    pieces.push_back({fmt::format("{:.0f} % used", 100 * used / limit.mb)});
  }
  if (state.verdict && state.verdict->risk.oom) {
    pieces.push_back({fmt::format("OOM risk {}", percent_phrase(risk)), alarm});
  }
  return labelled(view, "Limit", pieces);
}

LiveRow memory_row(const LiveState& state, const View& view) {
  constexpr size_t kShortestBar = 8;
  constexpr size_t kLongestBar = 60;
  const std::array<Kind, 4> kinds = kinds_of(state.totals);
  double sum_mb = 0;
  std::string legend;
  size_t legend_width = 0;
  const size_t room = view.width > kMargin ? view.width - kMargin : 0;
  for (const Kind& kind : kinds) {
    if (kind.mb > 0) sum_mb += kind.mb;
    // Swap is worth its place only when there is some.
    if (kind.name == "swap" && !(kind.mb > 0)) continue;
    const std::string text = fmt::format("{} {}", kind.name, amount(kind.mb));
    const size_t width = 4 + text.size();
    if (legend_width + width + kShortestBar > room) break;
    legend += "  " + ink(view, kind.ink, view.utf8 ? kind.glyph : kind.ascii) + " " + text;
    legend_width += width;
  }
  const size_t columns = std::min(kLongestBar, room > legend_width ? room - legend_width : 0);
  const double full = std::isfinite(state.limit.mb) ? std::max(state.limit.mb, sum_mb) : sum_mb;
  const std::string bar = memory_bar(view, kinds, full > 0 ? full : 1, columns);
  return {ink(view, Ink::dim, pad_right("Memory", kMargin)) + bar + legend, 0, 0};
}

LiveRow system_row(const LiveState& state, const View& view) {
  std::vector<Piece> pieces;
  pieces.push_back({fmt::format("{} of {} free", amount(state.system_available_mb),
                                amount(state.system_total_mb))});
  for (const LiveGpu& gpu : state.gpus) {
    pieces.push_back(
        {fmt::format("GPU {} {}/{}", gpu.index, amount(gpu.used_mb), amount(gpu.total_mb))});
  }
  if (state.gpus.empty() && state.totals.gpu_mb > 0) {
    pieces.push_back({"GPU " + amount(state.totals.gpu_mb)});
  }
  if (state.cgroup.oom_kills > 0) {
    pieces.push_back({fmt::format("OOM kills {}", state.cgroup.oom_kills), Ink::red});
  }
  if (std::isfinite(state.cost.watcher_cpu_percent)) {
    pieces.push_back({fmt::format("watching {:.1f} % CPU", state.cost.watcher_cpu_percent)});
  }
  if (std::isfinite(state.cgroup.usage_mb)) {
    const bool limited = std::isfinite(state.cgroup.limit_mb);
    pieces.push_back({fmt::format("cgroup {}{}", amount(state.cgroup.usage_mb),
                                  limited ? "/" + amount(state.cgroup.limit_mb) : "")});
  }
  if (std::isfinite(state.cost.walk_percent)) {
    pieces.push_back({fmt::format("page walks {:.2f} %", state.cost.walk_percent)});
  }
  if (std::isfinite(state.cost.interval_s)) {
    pieces.push_back({fmt::format("every {:.3g} s", state.cost.interval_s)});
  }
  return labelled(view, "System", pieces);
}

std::vector<LiveRow> reason_rows(const LiveState& state, const View& view) {
  std::vector<LiveRow> rows;
  if (!state.verdict) return rows;
  const Verdict& verdict = *state.verdict;
  const std::string culprit = plain(culprit_of(verdict));
  if (!culprit.empty()) rows.push_back(labelled(view, "Who", {{culprit}}));
  if (!verdict.causes.empty()) {
    const std::string cause = plain(cause_paragraph(verdict.causes.front(), verdict));
    rows.push_back(labelled(view, "Why", {{cause}}));
  } else if (!verdict.evidence.empty()) {
    rows.push_back(labelled(view, "Why", {{tell(verdict.evidence.front(), verdict)}}));
  }
  return rows;
}

std::vector<LiveRow> event_rows(const LiveState& state, const View& view, size_t most) {
  std::vector<LiveRow> rows;
  // A complaint is said once and stays true: it takes one row, events have the others.
  const size_t for_events = state.complaints.empty() || most < 2 ? most : most - 1;
  const size_t first = state.events.size() - std::min(state.events.size(), for_events);
  for (size_t i = first; i < state.events.size(); ++i) {
    rows.push_back(labelled(view, i == first ? "Events" : "",
                            {{hms(state.events[i].time_s) + "  " + state.events[i].text}}));
  }
  if (!state.complaints.empty() && rows.size() < most) {
    const size_t more = state.complaints.size() - 1;
    const std::string others = more > 0 ? fmt::format(" (and {} more)", more) : "";
    rows.push_back(labelled(view, "Note", {{state.complaints.back() + others, Ink::yellow}}));
  }
  return rows;
}

LiveRow keys_row(const LiveState& state, const LiveControls& controls, const View& view) {
  std::vector<Piece> pieces;
  if (!state.status.empty()) pieces.push_back({state.status, Ink::bold});
  if (controls.help) {
    pieces.insert(pieces.end(), {{"esc back"}, {"j/k scroll"}, {"q quit"}});
  } else if (controls.detail) {
    pieces.insert(
        pieces.end(),
        {{"esc back"}, {"j/k next"}, {"page keys scroll"}, {"m mark"}, {"? help"}, {"q quit"}});
  } else {
    pieces.insert(pieces.end(), {{"q quit"},
                                 {"? help"},
                                 {"j/k select"},
                                 {"enter detail"},
                                 {fmt::format("s sort: {}", sort_name(controls.sort))},
                                 {"m mark"},
                                 {"space pause"}});
  }
  if (!state.recording_path.empty()) pieces.push_back({"to " + state.recording_path, Ink::dim});
  return {joined(view, pieces, view.width), 0, 0};
}

}  // namespace plateau
