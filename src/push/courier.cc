// SPDX-License-Identifier: Apache-2.0
#include "push/courier.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/clock.h"
#include "base/units.h"
#include "push/delivery.h"
#include "push/letters.h"
#include "push/snappy.h"

namespace plateau::push {
namespace {

constexpr double kAdoptEveryS = 60;
constexpr double kIdleS = 1;
constexpr int kMostOutagesTold = 3;
constexpr size_t kLongestAnswer = size_t{64} << 10;

std::chrono::duration<double> seconds(double s) {
  return std::chrono::duration<double>(s);
}

}  // namespace

struct Courier::Inside {
  Inside(const CourierOptions& given, std::optional<HttpClient> http, std::optional<Spool> opened)
      : options(given), client(std::move(http)), spool(std::move(opened)) {}

  void say(const std::string& text) const {
    const std::string line = text + "\n";
    send(socket.get(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  void deliver(const Letter& letter);
  void send_all();
  bool send_one(std::unique_lock<std::mutex>& lock);
  void weigh(const Spool::Pending& pending, const Outcome& outcome);
  void wait(std::unique_lock<std::mutex>& lock);
  void remark_losses();
  void farewell();

  const CourierOptions options;
  std::optional<HttpClient> client;
  Fd socket;

  std::mutex mutex;  // For all below.
  std::condition_variable news;
  std::optional<Spool> spool;
  bool fresh = false;  // Something was appended since the last look.
  bool closing = false;
  double deadline_s = 0;  // Of the farewell.
  bool finished = false;  // Nothing is sent any more.
  int failures = 0;       // In a row.
  double next_try_s = 0;
  bool pause_asked = false;  // By the receiver.
  double next_adoption_s = 0;
  int outages = 0;
  bool outage_told = false;
  uint64_t sent_late = 0;  // Samples, since the outage ended.
  uint64_t refused = 0;    // Samples.
  uint64_t told_dropped = 0;
  std::set<int> told_statuses;
  bool told_disk = false;
  bool told_damage = false;
  bool told_textfile = false;
};

void Courier::Inside::deliver(const Letter& letter) {
  if (letter.kind == Letter::Kind::text) {
    const std::string trouble = replace_textfile(options.textfile, letter.content);
    if (!trouble.empty() && !told_textfile) say("--textfile: " + trouble);
    told_textfile = told_textfile || !trouble.empty();
    return;
  }
  if (!spool) return;
  const bool plain = options.format == Format::otlp;
  Frame frame{.body = plain ? letter.content : snappy_block(letter.content),
              .samples = letter.samples,
              .at_ms = letter.at_ms};
  const std::lock_guard lock(mutex);
  spool->append(std::move(frame));
  fresh = true;
  remark_losses();
  news.notify_all();
}

void Courier::Inside::remark_losses() {
  if (const int error = spool->disk_error(); error != 0 && !told_disk) {
    told_disk = true;
    say(fmt::format("--push: {}: {}; samples wait in memory, the newest {} of them",
                    spool->directory(), strerror(error),
                    format_mb(static_cast<double>(Spool::kMemoryBytes) / kBytesPerMb)));
  }
  if (spool->dropped_samples() > 0 && told_dropped == 0) {
    told_dropped = spool->dropped_samples();
    say(fmt::format("--push: the spool {} is full; the oldest samples are dropped",
                    spool->directory()));
  }
  if (spool->damaged_segments() > 0 && !told_damage) {
    told_damage = true;
    say(fmt::format("--push: part of what an earlier run left in {} cannot be read and is left out",
                    spool->directory()));
  }
}

void Courier::Inside::weigh(const Spool::Pending& pending, const Outcome& outcome) {
  if (outcome.fate == Fate::later) {
    spool->keep();
    if (++failures == 1 && ++outages <= kMostOutagesTold) {
      outage_told = true;
      say(fmt::format("--push: {}; samples wait in {} and are sent when it takes them",
                      outcome.words, spool->directory()));
    }
    next_try_s = monotonic_now_s() + pause_s(failures, outcome.retry_after_s);
    pause_asked = outcome.retry_after_s > 0;
    return;
  }
  spool->done(pending);
  if (outcome.fate == Fate::refused) {
    refused += pending.frame.samples;
    if (told_statuses.insert(outcome.status).second) {
      say(fmt::format("--push: {}; what it refuses is not sent again", outcome.words));
    }
  }
  failures = 0;
  if (!outage_told || outcome.fate == Fate::refused) return;
  sent_late += pending.frame.samples;
  if (spool->waiting_samples() > 0) return;
  say(fmt::format("--push: {} takes samples again; {} were sent late", origin_of(options.url),
                  sent_late));
  sent_late = 0;
  outage_told = false;
}

// Sends the oldest; false if there is none. The lock is not held meanwhile.
bool Courier::Inside::send_one(std::unique_lock<std::mutex>& lock) {
  const std::optional<Spool::Pending> pending = spool->oldest();
  remark_losses();
  if (!pending) return false;
  lock.unlock();
  HttpRequest request = options.identity;
  request.url = options.url;
  request.body = pending->frame.body;
  if (options.format == Format::otlp) {
    request.content_type = "application/json";
  } else {
    request.content_type = "application/x-protobuf";
    request.headers.emplace_back("Content-Encoding: snappy");
    request.headers.emplace_back("X-Prometheus-Remote-Write-Version: 0.1.0");
  }
  request.total_s = options.request_s;
  request.connect_s = std::min(request.connect_s, options.request_s);
  request.most_bytes = kLongestAnswer;
  const Outcome outcome = outcome_of(client->post(request), options.url);
  lock.lock();
  weigh(*pending, outcome);
  return true;
}

// For news, or until the next try. Who is asked to end tries once more at once, unless the receiver
// has asked for a pause.
void Courier::Inside::wait(std::unique_lock<std::mutex>& lock) {
  const double pause = failures > 0 ? next_try_s - monotonic_now_s() : kIdleS;
  const bool was_closing = closing;
  news.wait_for(lock, seconds(std::max(pause, 0.01)),
                [&] { return closing != was_closing || (failures == 0 && fresh); });
  if (closing != was_closing && failures > 0 && !pause_asked) {
    failures = 1;
    next_try_s = 0;
  }
}

void Courier::Inside::send_all() {
  std::unique_lock lock(mutex);
  while (true) {
    if (monotonic_now_s() >= next_adoption_s) {
      next_adoption_s = monotonic_now_s() + kAdoptEveryS;
      spool->adopt();
    }
    const bool may_try = failures == 0 || monotonic_now_s() >= next_try_s;
    fresh = false;
    if (may_try && send_one(lock)) continue;
    if (closing && (failures == 0 || next_try_s > deadline_s)) break;
    wait(lock);
  }
  finished = true;
  news.notify_all();
}

void Courier::Inside::farewell() {
  std::unique_lock lock(mutex);
  closing = true;
  deadline_s = monotonic_now_s() + options.farewell_s;
  news.notify_all();
  if (!spool) return;
  news.wait_for(lock, seconds(options.farewell_s), [this] { return finished; });
  spool->settle();
  if (const uint64_t left = spool->waiting_samples(); left > 0) {
    say(fmt::format(
        "--push: {} samples wait in {}; the next 'plateau run --push' or 'watch --push' "
        "to the same address sends them",
        left, spool->directory()));
  }
  if (refused > 0) say(fmt::format("--push: {} samples were refused for good", refused));
  if (spool->dropped_samples() > 0) {
    say(fmt::format("--push: {} samples were dropped, the oldest first: there was no room for more",
                    spool->dropped_samples()));
  }
  if (finished) spool->close();
}

Result<Courier> Courier::prepare(const CourierOptions& options) {
  std::optional<HttpClient> client;
  std::optional<Spool> spool;
  if (!options.url.empty()) {
    Result<HttpClient> http = HttpClient::open();
    if (!http) return http.error();
    client = std::move(http.value());
    Result<Spool> opened = Spool::open(options.spool, options.spool_bytes);
    if (!opened) {
      return Error{opened.error().kind,
                   fmt::format("--push: {}; say where with --push-spool", opened.error().message)};
    }
    spool = std::move(opened.value());
  }
  return Courier(std::make_shared<Inside>(options, std::move(client), std::move(spool)));
}

void Courier::run(Fd socket) {
  Inside& in = *inside_;
  in.socket = std::move(socket);
  if (in.spool) {
    // It keeps what it uses alive; at the end it may hang in a request.
    std::thread([kept = inside_] { kept->send_all(); }).detach();
  }
  LetterReader reader;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t n = recv(in.socket.get(), buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    for (const Letter& letter : reader.feed({buffer.data(), static_cast<size_t>(n)})) {
      in.deliver(letter);
    }
  }
  in.farewell();
}

}  // namespace plateau::push
