// SPDX-License-Identifier: Apache-2.0
// The processes of the job as a table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"
#include "report/live_parts.h"
#include "words/phrases.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

// Deeper trees are drawn as if this deep: what matters then is the name, not the branch.
constexpr size_t kDeepest = 6;
// Growth worth a colour: this share of what the process owns, and this much.
constexpr double kGrownShare = 0.05;
constexpr double kGrownMb = 10;

struct Column {
  std::string_view head;
  size_t width;
  size_t from_view;  // Shown on screens at least this wide.
  std::string (*text)(const LiveProcess&);
};

// Right-aligned figures; pid before them and role and command after them are laid out apart.
constexpr std::array<Column, 9> kColumns = {{
    {"OWNED", 8, 0, [](const LiveProcess& p) { return amount(p.owned_mb); }},
    {"GROWTH", 8, 0, [](const LiveProcess& p) { return signed_amount(p.growth_mb); }},
    {"RSS", 8, 76, [](const LiveProcess& p) { return amount(p.rss_mb); }},
    {"SHARED", 8, 96, [](const LiveProcess& p) { return amount(p.shmem_mb); }},
    {"FILE", 8, 104, [](const LiveProcess& p) { return amount(p.file_mb); }},
    {"GPU", 8, 120, [](const LiveProcess& p) { return amount(p.gpu_mb); }},
    {"CPU%", 5, 66, [](const LiveProcess& p) { return percent_text(p.cpu_percent); }},
    {"THR", 5, 112, [](const LiveProcess& p) { return count_text(p.threads); }},
    {"FDS", 6, 132, [](const LiveProcess& p) { return count_text(p.fds); }},
}};
constexpr size_t kPidWidth = 7;
constexpr size_t kRoleWidth = 14;
constexpr size_t kRoleFrom = 56;  // Narrower screens show no roles.
constexpr size_t kCommandLeast = 8;

// The branches before a name: whether a later row hangs on the same branch decides each of them.
std::string branches(const LiveState& state, size_t index, bool utf8) {
  const size_t depth = std::min(state.processes[index].depth, kDeepest);
  std::string out;
  for (size_t level = 1; level <= depth; ++level) {
    bool goes_on = false;
    for (size_t i = index + 1; i < state.processes.size(); ++i) {
      if (state.processes[i].depth < level) break;
      if (state.processes[i].depth == level) {
        goes_on = true;
        break;
      }
    }
    if (level == depth) {
      out += utf8 ? (goes_on ? "├ " : "└ ") : (goes_on ? "|-" : "`-");
    } else {
      out += goes_on ? (utf8 ? "│ " : "| ") : "  ";
    }
  }
  return out;
}

Ink growth_ink(const LiveState& state, const LiveProcess& process) {
  const double grown = process.growth_mb;
  if (!(grown > kGrownMb) || !(grown > kGrownShare * process.owned_mb)) return Ink::plain;
  const bool leaks = state.verdict && state.verdict->word == Word::leak;
  const bool named = leaks && state.verdict->process && state.verdict->process->id_is_pid &&
                     state.verdict->process->id == process.pid;
  return named ? Ink::red : leaks ? Ink::yellow : Ink::plain;
}

std::string head_text(const View& view) {
  std::string text = " " + pad_left("PID", kPidWidth);
  for (const Column& column : kColumns) {
    if (view.width >= column.from_view) text += " " + pad_left(column.head, column.width);
  }
  if (view.width >= kRoleFrom) text += "  " + pad_right("ROLE", kRoleWidth);
  return text + "  PROCESS";
}

LiveRow process_row(const LiveState& state, size_t index, bool selected, bool tree,
                    const View& screen) {
  // The selected row is one bar: colours within it would be patches.
  View view = screen;
  view.color = screen.color && !selected;
  const LiveProcess& process = state.processes[index];
  const Ink base = process.alive ? Ink::plain : Ink::dim;
  std::string text = selected ? ">" : " ";
  text += ink(view, base, pad_left(fmt::format("{}", process.pid), kPidWidth));
  size_t used = 1 + kPidWidth;
  for (const Column& column : kColumns) {
    if (view.width < column.from_view) continue;
    const Ink grown = growth_ink(state, process);
    const bool tells = column.head == "GROWTH" && process.alive && grown != Ink::plain;
    text += " " + ink(view, tells ? grown : base, pad_left(column.text(process), column.width));
    used += 1 + column.width;
  }
  if (view.width >= kRoleFrom) {
    const std::string_view role =
        process.role == Role::unknown ? std::string_view("-") : role_name(process.role);
    text += "  " + ink(view, base, pad_right(fit(view, role, kRoleWidth), kRoleWidth));
    used += 2 + kRoleWidth;
  }
  const std::string branch = tree ? branches(state, index, view.utf8) : "";
  const size_t room = std::max(view.width > used + 2 ? view.width - used - 2 : 0, kCommandLeast);
  const std::string ended = process.alive ? "" : "(ended) ";
  text +=
      "  " + paint(view, Ink::dim, branch) +
      ink(view, base, fit(view, ended + process.name, room - std::min(room, 2 * process.depth)));
  LiveRow row = {text, 0, 0};
  if (selected && screen.color) row.reverse_to = view.width;
  return row;
}

// First of the rows to show so that the selected one stands near the middle.
size_t first_shown(size_t selected, size_t count, size_t room) {
  if (count <= room) return 0;
  const size_t half = room / 2;
  return std::min(selected > half ? selected - half : 0, count - room);
}

double sort_figure(const LiveProcess& process, LiveSort sort) {
  double figure = kMissing;
  if (sort == LiveSort::owned) figure = process.owned_mb;
  if (sort == LiveSort::growth) figure = process.growth_mb;
  if (sort == LiveSort::cpu) figure = process.cpu_percent;
  return std::isfinite(figure) ? figure : -std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<size_t> process_order(const LiveState& state, LiveSort sort) {
  std::vector<size_t> order(state.processes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (sort == LiveSort::tree) return order;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const LiveProcess& left = state.processes[a];
    const LiveProcess& right = state.processes[b];
    if (sort == LiveSort::pid) return left.pid < right.pid;
    return sort_figure(left, sort) > sort_figure(right, sort);
  });
  return order;
}

const LiveProcess* selected_process(const LiveState& state, const LiveControls& controls) {
  for (const LiveProcess& process : state.processes) {
    if (process.pid == controls.selected_pid) return &process;
  }
  if (state.processes.empty()) return nullptr;
  return &state.processes[process_order(state, controls.sort).front()];
}

std::vector<LiveRow> process_rows(const LiveState& state, const LiveControls& controls,
                                  const View& view, size_t rows) {
  std::vector<LiveRow> out;
  if (rows == 0) return out;
  const std::vector<size_t> order = process_order(state, controls.sort);
  const LiveProcess* chosen = selected_process(state, controls);
  size_t selected = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (&state.processes[order[i]] == chosen) selected = i;
  }
  const size_t room = rows - 1;
  const size_t first = first_shown(selected, order.size(), room);
  const size_t last = std::min(order.size(), first + room);
  std::string head = head_text(view);
  if (last - first < order.size()) {
    head += fmt::format(" {}-{}/{}", first + 1, last, order.size());
  }
  out.push_back({ink(view, Ink::dim, head), 0, 0});
  for (size_t i = first; i < last; ++i) {
    out.push_back(
        process_row(state, order[i], i == selected, controls.sort == LiveSort::tree, view));
  }
  if (order.empty() && room > 0) out.push_back({ink(view, Ink::dim, "  no processes"), 0, 0});
  return out;
}

}  // namespace plateau
