// SPDX-License-Identifier: Apache-2.0
#include "serve/reader.h"

#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/fd.h"

namespace plateau {
namespace {

constexpr double kListS = 0.3;
constexpr int kNicer = 5;

// Blocks from here on are mappings of their own, which end when they are freed. glibc would raise
// the bound to the largest such block that was ever freed.
constexpr int kMappedBytes = 256 << 10;

// Reading a file takes many times the memory of what is kept of it. The C library holds on to that,
// and to more with every recording that has grown since: a server that followed one job for ten
// minutes went from 1.4 to 44 MB.
void give_back() {
  malloc_trim(0);
}

}  // namespace

// What the two threads share. It outlives whichever of them ends first.
struct Reader::Desk {
  struct Waiting {
    uint64_t ticket = 0;
    Wish wish;
  };

  Fd event{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::condition_variable wished;
  std::deque<Waiting> queue;
  uint64_t last_ticket = 0;
  uint64_t current = 0;  // The ticket that is worked on.
  uint64_t done = 0;     // All up to here are.
  bool stop = false;
  std::shared_ptr<const Catalogue> catalogue;  // New since it was last taken.
  std::string path;                            // Of the file that is being read,
  FileStamp stamp;                             // and what it was like.
  double wish_since_s = 0;                     // Of the wish that is worked on; 0: none is.
  double listed_s = -1e300;                    // When a list was last done.
  std::thread thread;

  void raise() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = write(event.get(), &one, sizeof one);
  }
};

namespace {

void fulfil(Shelf& shelf, const Reader::Wish& wish) {
  switch (wish.kind) {
    case Reader::Wish::Kind::list:
      return shelf.look(kListS, wish.even_if_soon);
    case Reader::Wish::Kind::run:
      return shelf.look_at(wish.id, wish.even_if_soon);
    case Reader::Wish::Kind::page:
      // What went wrong is among the run's facts.
      (void)shelf.page(wish.id);
      return;
    case Reader::Wish::Kind::comparison:
      return shelf.compare_runs(wish.id);
  }
}

}  // namespace

Reader::Reader(ShelfOptions options, double most_s)
    : options_(std::move(options)), most_s_(most_s), desk_(std::make_shared<Desk>()) {
  mallopt(M_MMAP_THRESHOLD, kMappedBytes);
  start();
}

Reader::~Reader() {
  bool busy = false;
  {
    const std::lock_guard lock(desk_->mutex);
    desk_->stop = true;
    busy = is_stuck();
  }
  desk_->wished.notify_all();
  if (!desk_->thread.joinable()) return;
  if (busy) {
    desk_->thread.detach();
  } else {
    desk_->thread.join();
  }
}

namespace {

// The reader's thread: a shelf, and the catalogue that was last handed over.
class Work {
 public:
  Work(std::shared_ptr<Reader::Desk> desk, ShelfOptions options)
      : desk_(std::move(desk)), shelf_(watched(std::move(options))) {}

  void run() {
    // Answers come before reading. Of a thread, on Linux; nothing depends on it.
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + kNicer);
    Reader::Wish wish;
    while (take(wish)) {
      fulfil(shelf_, wish);
      if (hand_over(true)) give_back();
      if (wish.kind != Reader::Wish::Kind::list) continue;
      const std::lock_guard lock(desk_->mutex);
      desk_->listed_s = monotonic_now_s();
    }
  }

 private:
  // What is known so far is handed over before the next file is begun, which may take its time.
  ShelfOptions watched(ShelfOptions options) {
    options.reading = [this](const std::string& path, const FileStamp& stamp) {
      if (!path.empty()) hand_over(false);
      const std::lock_guard lock(desk_->mutex);
      desk_->path = path;
      desk_->stamp = stamp;
    };
    return options;
  }

  bool take(Reader::Wish& wish) {
    std::unique_lock lock(desk_->mutex);
    desk_->wished.wait(lock, [this] { return desk_->stop || !desk_->queue.empty(); });
    if (desk_->stop) return false;
    wish = desk_->queue.front().wish;
    desk_->current = desk_->queue.front().ticket;
    desk_->queue.pop_front();
    desk_->wish_since_s = monotonic_now_s();
    return true;
  }

  // Whether anything is new.
  bool hand_over(bool finished) {
    Catalogue now = shelf_.catalogue();
    const bool changed =
        now.runs != last_.runs || now.complete != last_.complete || now.compared != last_.compared;
    if (changed) last_ = std::move(now);
    if (!changed && !finished) return false;
    {
      const std::lock_guard lock(desk_->mutex);
      if (changed) desk_->catalogue = std::make_shared<const Catalogue>(last_);
      if (finished) desk_->done = desk_->current;
      if (finished) desk_->wish_since_s = 0;
    }
    desk_->raise();
    return changed;
  }

  std::shared_ptr<Reader::Desk> desk_;
  Shelf shelf_;
  Catalogue last_;
};

}  // namespace

// Signals are for the thread that serves: the new one begins, and stays, with all of them blocked.
void Reader::start() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  desk_->thread = std::thread([desk = desk_, options = options_] { Work(desk, options).run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

uint64_t Reader::ask(const Wish& wish) {
  const std::lock_guard lock(desk_->mutex);
  const auto same = std::ranges::find(desk_->queue, wish, &Desk::Waiting::wish);
  if (same != desk_->queue.end()) return same->ticket;
  desk_->queue.push_back({++desk_->last_ticket, wish});
  desk_->wished.notify_one();
  return desk_->last_ticket;
}

bool Reader::done(uint64_t ticket) const {
  const std::lock_guard lock(desk_->mutex);
  return ticket <= desk_->done;
}

// Requires: the desk's mutex is held.
bool Reader::is_stuck() const {
  return desk_->wish_since_s > 0 && monotonic_now_s() - desk_->wish_since_s > most_s_;
}

double Reader::busy_s() const {
  const std::lock_guard lock(desk_->mutex);
  return desk_->wish_since_s > 0 ? monotonic_now_s() - desk_->wish_since_s : 0;
}

double Reader::age_s() const {
  const std::lock_guard lock(desk_->mutex);
  return monotonic_now_s() - desk_->listed_s;
}

int Reader::fd() const {
  return desk_->event.get();
}

void Reader::news() {
  bool stuck = false;
  {
    const std::lock_guard lock(desk_->mutex);
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = read(desk_->event.get(), &count, sizeof count);
    if (desk_->catalogue) catalogue_ = std::exchange(desk_->catalogue, nullptr);
    stuck = is_stuck();
  }
  if (stuck && given_up_ < kMostGivenUp) give_up();
}

void Reader::give_up() {
  const std::shared_ptr<Desk> old = desk_;
  auto fresh = std::make_shared<Desk>();
  {
    const std::lock_guard lock(old->mutex);
    old->stop = true;
    fresh->queue = std::exchange(old->queue, {});
    fresh->last_ticket = old->last_ticket;
    fresh->done = old->current;
    if (!old->path.empty()) options_.given_up[old->path] = old->stamp;
  }
  old->thread.detach();
  for (const std::shared_ptr<const ServedRun>& run : catalogue_->runs) {
    options_.first_version = std::max(options_.first_version, run->facts.version);
  }
  desk_ = std::move(fresh);
  if (++given_up_ < kMostGivenUp) start();
  desk_->raise();
}

}  // namespace plateau
