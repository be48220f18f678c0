// SPDX-License-Identifier: Apache-2.0
#include "cli/watch_loop.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal.h"
#include "cli/watch_state.h"
#include "report/live.h"
#include "session/signals.h"

namespace plateau {
namespace {

constexpr double kEndedViewSeconds = 1e9;  // The last picture stays until a key is pressed.
constexpr double kStatusSeconds = 4;       // A passing message.

int to_ms(double seconds) {
  return static_cast<int>(std::ceil(std::clamp(seconds, 0.0, 3600.0) * 1000));
}

bool time_is_up(const Session& session, const LookOptions& look) {
  return look.for_s && session.now() >= *look.for_s;
}

double seconds_to_wait(const Watcher& watcher, const LookOptions& look) {
  const Session& session = watcher.session();
  double wait_s = watcher.over() ? 3600 : session.seconds_to_tick();
  if (look.for_s) wait_s = std::min(wait_s, *look.for_s - session.now());
  return wait_s;
}

void wait_for(std::vector<pollfd>& polled, Watcher& watcher, int timeout_ms) {
  polled.push_back({watcher.session().socket_fd(), POLLIN, 0});
  if (poll(polled.data(), polled.size(), timeout_ms) <= 0) return;
  if (polled.back().revents != 0) watcher.listen();
}

class Screen {
 public:
  Screen(Watcher& watcher, const LookOptions& look, Terminal& terminal)
      : watcher_(watcher), session_(watcher.session()), look_(look), terminal_(terminal) {}

  void run() {
    while (!controls_.quit && !time_is_up(session_, look_)) {
      if (!watcher_.over() && session_.seconds_to_tick() <= 0) tick();
      if (redraw_) draw();
      wait();
    }
  }

 private:
  void tick() {
    watcher_.tick();
    state_.tick(watcher_);
    for (const std::string& trouble : session_.troubles()) say(trouble);
    if (watcher_.over()) {
      state_.note(session_.now(), "the job has ended");
      say("the job has ended; q leaves and prints the verdict");
      status_until_s_ = kEndedViewSeconds;
    }
    redraw_ = redraw_ || !controls_.paused;
  }

  void draw() {
    const std::string status = session_.now() < status_until_s_ ? status_ : "";
    last_ = state_.state(watcher_, status);
    const TerminalSize size = terminal_.size();
    terminal_.show(render_live(last_, controls_, size.columns, size.rows, look_.view));
    redraw_ = false;
  }

  void wait() {
    std::vector<pollfd> polled = {{terminal_.input_fd(), POLLIN, 0},
                                  {terminal_.news_fd(), POLLIN, 0}};
    wait_for(polled, watcher_, terminal_.wait_ms(to_ms(seconds_to_wait(watcher_, look_))));
    const TerminalNews news = terminal_.take_news();
    for (const Key& key : news.keys) {
      controls_ = handle_key(controls_, key, last_);
      redraw_ = true;
    }
    if (news.redraw) redraw_ = true;
    if (news.closed || news.quit_signal != 0) controls_.quit = true;
    if (controls_.mark) mark();
  }

  void mark() {
    controls_.mark = false;
    const int64_t step = session_.journal().step();
    const std::string text = step >= 0 ? fmt::format("mark at step {}", step) : "mark";
    session_.event(EventKind::mark, text);
    state_.note(session_.now(), text);
    say(text + " recorded");
  }

  void say(const std::string& text) {
    status_ = text;
    status_until_s_ = session_.now() + kStatusSeconds;
    redraw_ = true;
  }

  Watcher& watcher_;
  Session& session_;
  const LookOptions& look_;
  Terminal& terminal_;
  WatchState state_;
  LiveControls controls_;
  LiveState last_;
  std::string status_;
  double status_until_s_ = 0;
  bool redraw_ = true;
};

}  // namespace

void watch_on_screen(Watcher& watcher, const LookOptions& look, Output& out) {
  Result<std::unique_ptr<Terminal>> terminal = Terminal::open(STDIN_FILENO, STDOUT_FILENO);
  if (!terminal) {
    out.complain("watch", terminal.error().message + "; printing lines instead");
    watch_in_lines(watcher, look, out);
    return;
  }
  Screen(watcher, look, *terminal.value()).run();
}

void watch_in_lines(Watcher& watcher, const LookOptions& look, Output& out) {
  SignalReader signals({SIGINT, SIGTERM, SIGHUP});
  WatchState state;
  Session& session = watcher.session();
  double next_print_s = 0;
  while (!time_is_up(session, look) && !out.closed()) {
    if (session.seconds_to_tick() <= 0) {
      watcher.tick();
      state.tick(watcher);
      for (const std::string& trouble : session.troubles()) out.complain("watch", trouble);
      if (watcher.over()) return;
    }
    if (!look.quiet && session.now() >= next_print_s) {
      const LiveState now = state.state(watcher, "");
      out.print((look.json ? live_json(now) : live_line(now, look.view)) + "\n");
      out.flush();
      next_print_s += look.print_every_s;
    }
    std::vector<pollfd> polled = {{signals.fd(), POLLIN, 0}};
    wait_for(polled, watcher, to_ms(seconds_to_wait(watcher, look)));
    if (polled[0].revents != 0 && !signals.read_all().empty()) return;
  }
}

}  // namespace plateau
