// SPDX-License-Identifier: Apache-2.0
// What keys do on the live screen, and the page that says so.
#include <algorithm>
#include <array>

#include "report/live_parts.h"

namespace plateau {
namespace {

constexpr std::array<std::string_view, 5> kSortNames = {"tree", "owned", "growth", "cpu", "pid"};
// How far the page keys go; the screen's height is not known here.
constexpr int64_t kPage = 10;

// How far a key moves; the ends of a list are farther away than any list is long.
int64_t moves(const Key& key) {
  constexpr int64_t kFar = 1 << 20;
  switch (key.kind) {
    case Key::Kind::up:
      return -1;
    case Key::Kind::down:
      return 1;
    case Key::Kind::page_up:
      return -kPage;
    case Key::Kind::page_down:
      return kPage;
    case Key::Kind::home:
      return -kFar;
    case Key::Kind::end:
      return kFar;
    case Key::Kind::character:
      return key.character == U'k' ? -1 : key.character == U'j' ? 1 : 0;
    default:
      return 0;
  }
}

void move_selection(LiveControls& controls, const LiveState& state, int64_t by) {
  const std::vector<size_t> order = process_order(state, controls.sort);
  const LiveProcess* chosen = selected_process(state, controls);
  if (chosen == nullptr) return;
  int64_t at = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (&state.processes[order[i]] == chosen) at = static_cast<int64_t>(i);
  }
  const int64_t last = static_cast<int64_t>(order.size()) - 1;
  const auto to = static_cast<size_t>(std::clamp<int64_t>(at + by, 0, last));
  controls.selected_pid = state.processes[order[to]].pid;
}

void go_back(LiveControls& controls) {
  // Help lies over the detail view, so it goes first.
  (controls.help ? controls.help : controls.detail) = false;
  controls.scroll = 0;
}

void press(LiveControls& controls, char32_t character, const LiveState& state) {
  switch (character) {
    case U'q':
      controls.quit = true;
      break;
    case U'?':
    case U'h':
      controls.help = !controls.help;
      controls.scroll = 0;
      break;
    case U's':
      controls.sort =
          static_cast<LiveSort>((static_cast<size_t>(controls.sort) + 1) % kSortNames.size());
      break;
    case U'd':
      controls.detail = !controls.detail && !state.processes.empty();
      controls.scroll = 0;
      break;
    case U'm':
      controls.mark = true;
      break;
    case U' ':
      controls.paused = !controls.paused;
      break;
    default:
      break;
  }
}

}  // namespace

std::string_view sort_name(LiveSort sort) {
  return kSortNames[static_cast<size_t>(sort)];
}

LiveControls handle_key(LiveControls controls, const Key& key, const LiveState& state) {
  if (const int64_t by = moves(key); by != 0) {
    const bool paging = key.kind == Key::Kind::page_up || key.kind == Key::Kind::page_down;
    if (controls.help || (controls.detail && paging)) {
      // A page has an end, which the renderer holds to; this only keeps a held key from running
      // up a scroll that it takes as long to run down.
      constexpr int64_t kLongestPage = 40;
      const int64_t to =
          std::clamp<int64_t>(static_cast<int64_t>(controls.scroll) + by, 0, kLongestPage);
      controls.scroll = static_cast<size_t>(to);
    } else {
      move_selection(controls, state, by);
      controls.scroll = 0;
    }
    return controls;
  }
  switch (key.kind) {
    case Key::Kind::interrupt:
      controls.quit = true;
      break;
    case Key::Kind::escape:
    case Key::Kind::backspace:
    case Key::Kind::left:
      go_back(controls);
      break;
    case Key::Kind::enter:
    case Key::Kind::right:
      if (!controls.help && !state.processes.empty()) controls.detail = true;
      break;
    case Key::Kind::character:
      press(controls, key.character, state);
      break;
    default:
      break;
  }
  return controls;
}

std::vector<LiveRow> help_rows(const View& view) {
  constexpr std::array<std::array<std::string_view, 2>, 17> kLines = {{
      {"j k, arrows", "select a process; page keys, home and end jump"},
      {"enter, d", "everything about the selected process"},
      {"esc, backspace", "back"},
      {"s", "sort: tree, owned, growth, cpu, pid"},
      {"m", "set a mark in the recording, drawn as m"},
      {"space", "freeze the screen; sampling continues"},
      {"q, ^C", "quit; the job keeps running"},
      {"", ""},
      {"PLATEAU", "growth has ended, or there was none"},
      {"WARMING", "growing, and it will end"},
      {"LEAK", "growth that no bounded explanation fits"},
      {"UNDECIDED", "not known yet; the first line says when it will be"},
      {"", ""},
      {"OWNED", "private pages and swap, shared ones divided: what is judged"},
      {"GROWTH", "of owned memory since the process was first seen"},
      {"FILE", "file pages; the kernel reclaims them when needed"},
      {"SHARED", "shared memory and tmpfs; counted in full for each process"},
  }};
  std::vector<LiveRow> rows;
  rows.reserve(kLines.size());
  for (const auto& [key, meaning] : kLines) {
    rows.push_back({ink(view, Ink::bold, pad_right(key, 16)) + std::string(meaning), 0, 0});
  }
  return rows;
}

}  // namespace plateau
