// SPDX-License-Identifier: Apache-2.0
// A terminal that shows frames and gives keys.
//
//   Result<std::unique_ptr<Terminal>> terminal = Terminal::open(STDIN_FILENO, STDOUT_FILENO);
//   while (!controls.quit) {
//     poll({input_fd, news_fd}, wait_ms(until_next_tick));
//     const TerminalNews news = (*terminal)->take_news();
//     ... keys, quit_signal, closed ...
//     const TerminalSize size = (*terminal)->size();
//     (*terminal)->show(render_live(state, controls, size.columns, size.rows, view));
//   }
//
// Single-threaded. How the terminal is given back is told in terminal_guard.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.h"
#include "cli/terminal_guard.h"
#include "cli/terminal_keys.h"
#include "report/frame.h"

namespace plateau {

struct TerminalSize {
  size_t columns = 80;
  size_t rows = 24;
};

struct TerminalNews {
  std::vector<Key> keys;
  bool redraw = false;  // Resized or resumed: show() a frame now, of size().
  int quit_signal = 0;  // Asked to end by this signal; 0: not asked.
  bool closed = false;  // The terminal went away; nothing shows any more.
};

class Terminal {
 public:
  // Enters the screen. `out_fd` must be a terminal; `in_fd` need not be one: then there are no
  // keys. Both stay open and the caller's. At most one Terminal is alive at a time.
  static Result<std::unique_ptr<Terminal>> open(int in_fd, int out_fd);

  // To wait on for POLLIN: keys (-1 if none can come), signals.
  [[nodiscard]] int input_fd() const { return input_open_ ? in_fd_ : -1; }
  [[nodiscard]] int news_fd() const { return guard_.news_fd(); }
  // `wanted_ms` or, if a lone escape waits to become a key, less. Negative is forever.
  [[nodiscard]] int wait_ms(int wanted_ms) const;

  // What has come; never waits.
  TerminalNews take_news();

  [[nodiscard]] TerminalSize size() const;

  // Shows the frame, writing only what changed. A terminal that takes no bytes at the moment keeps
  // its picture: the watcher does not wait for its watchers.
  void show(const Frame& frame);

 private:
  Terminal(TerminalGuard guard, int in_fd, int out_fd, bool has_keys);

  void read_keys(TerminalNews& news);
  [[nodiscard]] bool takes_bytes();

  TerminalGuard guard_;
  int in_fd_;
  int out_fd_;
  bool input_open_;
  bool closed_ = false;
  KeyDecoder decoder_;
  std::chrono::steady_clock::time_point escape_since_;
  Frame shown_;
};

}  // namespace plateau
