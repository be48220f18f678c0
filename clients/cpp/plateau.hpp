// SPDX-License-Identifier: Apache-2.0
// Tells Plateau how far a training loop is. One header, C++17, Linux, no dependencies.
//
//   plateau::Client watcher;  // Finds PLATEAU_SOCKET; without it, a no-op.
//   plateau::Facts facts;
//   facts.total_steps = 250;
//   watcher.run_facts(facts);
//   for (int step = 1; step <= 250; ++step) {
//     train();
//     watcher.step(step, step / 83.0);
//     if (step % 50 == 0) {
//       const auto phase = watcher.evaluate();  // Says "begin eval", and "end eval" at the brace.
//       evaluate();
//     }
//   }
//
// Promises. Nothing blocks, throws, raises SIGPIPE or fails the job: what cannot be sent is counted
// in lost(). Nothing is allocated, so the memory that is being watched is not disturbed. A watcher
// that restarts on the same path is found again and hears the facts anew. After fork() the child's
// copy is silent; a child that wants to speak makes a Client of its own.
//
// Threads: any thread may call any member at any time; a mutex is held around one non-blocking
// send. Do not call from a signal handler. The lines are described in docs/formats/step-clock.md.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <string_view>

namespace plateau {

// What is known of the run; zero means unknown.
struct Facts {
  double total_steps = 0;  // Planned optimizer steps.
  double examples = 0;     // In the training set.
  double batch = 0;        // Examples per optimizer step, over all devices.
  double epoch_steps = 0;  // Optimizer steps in one pass over the data.
};

namespace detail {

// A bounded piece of text. What does not fit is left out.
template <std::size_t Capacity>
class Text {
 public:
  std::string_view view() const noexcept { return {data_, size_}; }
  bool empty() const noexcept { return size_ == 0; }
  void clear() noexcept { size_ = 0; }

  // All of it or nothing, so that a line is never half there.
  bool add(std::string_view text) noexcept {
    if (text.size() > Capacity - size_) return false;
    std::memcpy(data_ + size_, text.data(), text.size());
    size_ += text.size();
    return true;
  }

  // As a line of its own.
  bool add_line(std::string_view line) noexcept {
    if (line.empty()) return true;
    if (line.size() + 1 > Capacity - size_) return false;
    return add(line) && add("\n");
  }

  // Foreign text, cut to `limit`; control characters, and with `one_word` spaces, become '_'.
  void add_clean(std::string_view text, std::size_t limit, bool one_word) noexcept {
    for (const char c : text.substr(0, limit)) {
      const bool bad = static_cast<unsigned char>(c) < 0x20 || c == 0x7f || (one_word && c == ' ');
      const char clean = bad ? '_' : c;
      add(std::string_view(&clean, 1));
    }
  }

  void add_number(double value) noexcept {
    char digits[40];
    const int length = std::snprintf(digits, sizeof(digits), "%.12g", value);
    if (length > 0) add_dotted(std::string_view(digits, static_cast<std::size_t>(length)));
  }

  // A printed number whose decimal sign may be any locale's, even of several bytes; ours is a dot.
  void add_dotted(std::string_view digits) noexcept {
    bool dotted = false;
    for (const char c : digits) {
      const bool plain = (c >= '0' && c <= '9') || c == 'e' || c == '+' || c == '-';
      if (plain) add(std::string_view(&c, 1));
      if (!plain && !dotted) dotted = add(".");
    }
  }

 private:
  char data_[Capacity] = {};
  std::size_t size_ = 0;
};

}  // namespace detail

class Client {
 public:
  // Ends its phase when it goes. The client has to outlive it.
  class Phase {
   public:
    Phase(const Phase&) = delete;
    Phase& operator=(const Phase&) = delete;
    ~Phase() { client_.end(name_.view()); }

   private:
    friend class Client;
    Phase(Client& client, std::string_view name) noexcept : client_(client) {
      name_.add_clean(name, kMaxName, true);
      client_.begin(name_.view());
    }
    static constexpr std::size_t kMaxName = 100;
    Client& client_;
    detail::Text<kMaxName> name_;
  };

  // Speaks to the sockets that PLATEAU_SOCKET names, at most four, separated by ':'.
  Client() noexcept : Client(std::getenv("PLATEAU_SOCKET")) {}

  // The same for `paths`; nullptr or "" makes a client that does nothing.
  explicit Client(const char* paths) noexcept : pid_(::getpid()) {
    std::string_view rest = paths == nullptr ? "" : paths;
    while (!rest.empty()) {
      const std::string_view path = rest.substr(0, rest.find(':'));
      rest.remove_prefix(path.size() < rest.size() ? path.size() + 1 : rest.size());
      add_target(path);
    }
    if (target_count_ > 0) fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  }

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() {
    if (fd_ >= 0) ::close(fd_);
  }

  // True if there is a socket to speak to; whether somebody listens is not known beforehand.
  bool active() const noexcept { return fd_ >= 0 && ::getpid() == pid_; }
  // Datagrams that were sent, and words that were dropped.
  std::uint64_t sent() const noexcept { return sent_; }
  std::uint64_t lost() const noexcept { return lost_; }

  // Said at once, and again to every watcher that comes later.
  void run_facts(const Facts& facts) noexcept {
    if (!active()) return;
    Line line;
    line.add("run");
    add_fact(line, " total_steps=", facts.total_steps);
    add_fact(line, " examples=", facts.examples);
    add_fact(line, " batch=", facts.batch);
    add_fact(line, " epoch_steps=", facts.epoch_steps);
    const std::lock_guard<std::mutex> hold(mutex_);
    facts_ = line;
    for (Target& target : targets_) target.knows_facts = false;
    send(Line(), false);
  }

  // The optimizer step `step` has ended; `epoch` may be fractional.
  void step(std::int64_t step, double epoch = std::numeric_limits<double>::quiet_NaN()) noexcept {
    if (!active() || step < 0) return;
    char digits[32];
    std::snprintf(digits, sizeof(digits), "step %lld", static_cast<long long>(step));
    Line line;
    line.add(digits);
    if (std::isfinite(epoch) && epoch >= 0) {
      line.add(" epoch=");
      line.add_number(epoch);
    }
    say(line, false);
  }

  [[nodiscard]] Phase phase(std::string_view name) noexcept { return Phase(*this, name); }
  [[nodiscard]] Phase evaluate() noexcept { return phase("eval"); }
  [[nodiscard]] Phase save() noexcept { return phase("save"); }
  void begin(std::string_view name) noexcept { say_named("begin ", name, kMaxWord, true); }
  void end(std::string_view name) noexcept { say_named("end ", name, kMaxWord, true); }

  // An event in words; "eval", "checkpoint", "epoch" and "restart" mean what they say.
  void mark(std::string_view text) noexcept { say_named("mark ", text, kMaxText, false); }

  // A number followed over the steps.
  void gauge(std::string_view name, double value) noexcept {
    if (!active() || name.empty() || !std::isfinite(value)) return;
    Line line;
    line.add("gauge ");
    line.add_clean(name, kMaxWord, true);
    line.add(" ");
    line.add_number(value);
    say(line, false);
  }

 private:
  static constexpr std::size_t kMaxTargets = 4;
  static constexpr std::size_t kMaxWord = 100;
  static constexpr std::size_t kMaxText = 1000;
  static constexpr std::uint64_t kFactsEvery = 100;
  using Line = detail::Text<1100>;

  struct Target {
    sockaddr_un address = {};
    bool knows_facts = false;
    std::uint64_t said = 0;
    detail::Text<4096> kept;  // Events that found the queue full.
  };

  void add_target(std::string_view path) noexcept {
    if (target_count_ == kMaxTargets || path.empty()) return;
    sockaddr_un& address = targets_[target_count_].address;
    if (path.size() >= sizeof(address.sun_path)) return;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    ++target_count_;
  }

  static void add_fact(Line& line, std::string_view key, double value) noexcept {
    if (!std::isfinite(value) || value <= 0) return;
    line.add(key);
    line.add_number(value);
  }

  void say_named(std::string_view verb, std::string_view text, std::size_t limit,
                 bool one_word) noexcept {
    if (!active() || text.empty()) return;
    Line line;
    line.add(verb);
    line.add_clean(text, limit, one_word);
    say(line, true);
  }

  void say(const Line& line, bool is_event) noexcept {
    const std::lock_guard<std::mutex> hold(mutex_);
    send(line, is_event);
  }

  // One datagram per watcher: facts it has not heard, events that wait, then the line. A lost step
  // is replaced by the next one; an event is not, so it is kept. Requires: mutex_ is held.
  void send(const Line& line, bool is_event) noexcept {
    for (std::size_t i = 0; i < target_count_; ++i) {
      Target& target = targets_[i];
      // Now and then unasked: a watcher may restart between two sends without our noticing.
      if (++target.said % kFactsEvery == 0) target.knows_facts = false;
      detail::Text<8192> datagram;
      if (!target.knows_facts) datagram.add_line(facts_.view());
      datagram.add(target.kept.view());
      datagram.add_line(line.view());
      if (datagram.empty()) continue;
      const std::string_view bytes = datagram.view();
      // By path each time, so that a new watcher on the old path is found.
      const ssize_t status =
          ::sendto(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                   reinterpret_cast<const sockaddr*>(&target.address), sizeof(target.address));
      if (status >= 0) {
        ++sent_;
        target.knows_facts = true;
        target.kept.clear();
        continue;
      }
      const bool full = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
      if (!full) target.knows_facts = false;
      const bool kept = full && is_event && target.kept.add_line(line.view());
      if (!kept && !line.empty()) ++lost_;
    }
  }

  const pid_t pid_;
  int fd_ = -1;
  std::size_t target_count_ = 0;
  Target targets_[kMaxTargets];
  Line facts_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace plateau
