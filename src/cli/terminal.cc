// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "cli/terminal_diff.h"

namespace plateau {
namespace {

using std::chrono::steady_clock;

// A terminal sends the bytes of one key together; a network may take them apart by this much.
constexpr std::chrono::milliseconds kEscapePause{50};
// Larger than any screen; a terminal that claims more is not believed.
constexpr size_t kMostCells = 1000;

}  // namespace

Result<std::unique_ptr<Terminal>> Terminal::open(int in_fd, int out_fd) {
  if (isatty(out_fd) == 0) {
    return usage_error("the live screen needs a terminal");
  }
  const bool has_keys = isatty(in_fd) == 1;
  Result<TerminalGuard> guard = TerminalGuard::enter(has_keys ? in_fd : out_fd, out_fd);
  if (!guard) return guard.error();
  return std::unique_ptr<Terminal>(
      new Terminal(std::move(guard.value()), in_fd, out_fd, has_keys));  // NOLINT: private.
}

Terminal::Terminal(TerminalGuard guard, int in_fd, int out_fd, bool has_keys)
    : guard_(std::move(guard)), in_fd_(in_fd), out_fd_(out_fd), input_open_(has_keys) {}

int Terminal::wait_ms(int wanted_ms) const {
  if (!decoder_.pending()) return wanted_ms;
  const auto pause = static_cast<int>(kEscapePause.count());
  return wanted_ms < 0 ? pause : std::min(wanted_ms, pause);
}

void Terminal::read_keys(TerminalNews& news) {
  while (input_open_) {
    pollfd ready = {.fd = in_fd_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, 0) <= 0) break;
    std::array<char, 256> bytes = {};
    const ssize_t got = read(in_fd_, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      // A terminal has no end of file in this mode: it is gone.
      input_open_ = false;
      closed_ = true;
      break;
    }
    decoder_.feed(std::string_view(bytes.data(), static_cast<size_t>(got)));
    escape_since_ = steady_clock::now();
    while (const std::optional<Key> key = decoder_.next()) news.keys.push_back(*key);
  }
  if (decoder_.pending() && steady_clock::now() - escape_since_ >= kEscapePause) {
    while (const std::optional<Key> key = decoder_.flush()) news.keys.push_back(*key);
  }
}

TerminalNews Terminal::take_news() {
  TerminalNews news;
  const SignalNews signals = guard_.take_news();
  if (signals.resumed) shown_ = Frame();  // Nothing is known of what the screen shows.
  news.redraw = signals.resized || signals.resumed;
  news.quit_signal = signals.quit_signal;
  read_keys(news);
  news.closed = closed_;
  return news;
}

TerminalSize Terminal::size() const {
  winsize size = {};
  if (ioctl(out_fd_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {std::min<size_t>(size.ws_col, kMostCells), std::min<size_t>(size.ws_row, kMostCells)};
}

bool Terminal::takes_bytes() {
  pollfd ready = {.fd = out_fd_, .events = POLLOUT, .revents = 0};
  if (poll(&ready, 1, 0) <= 0) return false;
  if ((ready.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) closed_ = true;
  return !closed_ && (ready.revents & POLLOUT) != 0;
}

void Terminal::show(const Frame& frame) {
  if (closed_ || !takes_bytes()) return;
  const std::string encoded = encode_change(shown_, frame);
  std::string_view bytes = encoded;
  while (!bytes.empty()) {
    const ssize_t wrote = write(out_fd_, bytes.data(), bytes.size());
    if (wrote < 0 && (errno == EINTR || errno == EAGAIN)) {
      // Who was asked to end does not wait for a terminal that takes nothing.
      shown_ = Frame();
      if (guard_.quit_signal() != 0) return;
      pollfd ready = {.fd = out_fd_, .events = POLLOUT, .revents = 0};
      poll(&ready, 1, 100);
      continue;
    }
    if (wrote <= 0) {
      closed_ = true;
      return;
    }
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  shown_ = frame;
}

}  // namespace plateau
