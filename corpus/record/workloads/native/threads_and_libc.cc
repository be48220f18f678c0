// SPDX-License-Identifier: Apache-2.0
// Threads with memory of their own, and memory that libc holds for its caller: mode=
//   0 thread caches: `limit` threads, each with a cache that is made when it first gets work, at
//   random;
//     1: each step starts a thread whose cache a table keeps after it ended.
//   2 environment: `limit` values are set in turn; 3: setenv with a value never set before, of
//   which
//     glibc keeps each for ever.
//   4 patterns: regcomp, the last `limit` patterns are kept; 5: regfree is never called.
//   6 streams: fopen with a buffer, the last `limit` stay open; 7: fclose is never called.
//   8 trimmed: blocks pile up over `limit` steps and are freed together; 9: and a few are
//   forgotten. 10 fragments: blocks of changing sizes, the bytes alive never exceed a bound; 11:
//   now and then one
//     small block survives and pins its page.
// `count` items of `bytes` come at each step; 9 and 11 forget `rest` bytes.
#include <malloc.h>
#include <regex.h>
#include <sys/resource.h>

#include "steps.h"

namespace {

using Buffer = std::unique_ptr<char[]>;

struct ThreadCaches : Parameters {
  using Parameters::Parameters;
  std::vector<Buffer> caches;
  size_t made = 0;
  void step(Job& job, int step) {
    if (!leaks) caches.resize(limit);
    for (size_t i = 0; i < count; ++i) {
      const size_t place = leaks ? caches.size() : job.random()() % limit;
      if (leaks) caches.emplace_back();
      std::thread([&] {
        if (!caches[place]) {
          caches[place] = Job::filled(bytes);
          ++made;
        }
      }).join();
      if (leaks) job.leak(bytes);
    }
    if (!leaks && made == limit) job.growth_ends(step);
  }
};

struct Environment : Parameters {
  using Parameters::Parameters;
  size_t next = 0;
  void step(Job& job, int step) {
    for (size_t i = 0; i < count; ++i, ++next) {
      std::string value = std::to_string(leaks ? next : next % limit);
      value.resize(bytes, 'v');
      setenv("PLATEAU_STATE", value.c_str(), 1);
      if (leaks) job.leak(bytes);
    }
    if (!leaks && next >= limit) job.growth_ends(step);
  }
};

struct Patterns : Parameters {
  using Parameters::Parameters;
  std::deque<regex_t> made;
  void step(Job& job, int step) {
    for (size_t i = 0; i < count; ++i) {
      std::string pattern = "^(";
      while (pattern.size() < bytes) pattern += std::to_string(job.random()()) + "|";
      const auto before = mallinfo2().uordblks;
      regcomp(&made.emplace_back(), (pattern + "x)$").c_str(), REG_EXTENDED);
      if (leaks) job.leak(std::max<size_t>(bytes, mallinfo2().uordblks - before));
      if (leaks || made.size() <= limit) continue;
      regfree(&made.front());
      made.pop_front();
      job.growth_ends(step);
    }
  }
};

struct Streams : Parameters {
  std::deque<std::pair<FILE*, Buffer>> open;
  explicit Streams(const Job& job) : Parameters(job) {
    rlimit most;
    getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
  }
  void step(Job& job, int step) {
    for (size_t i = 0; i < count; ++i) {
      FILE* stream = std::fopen("/dev/null", "w");
      open.emplace_back(stream, Job::filled(bytes));
      std::setvbuf(stream, open.back().second.get(), _IOFBF, bytes);
      std::fwrite(Job::filled(bytes - 1).get(), 1, bytes - 1, stream);
      if (leaks) job.leak(bytes);
      if (leaks || open.size() <= limit) continue;
      std::fclose(open.front().first);
      open.pop_front();
      job.growth_ends(step);
    }
  }
};

// What 9 and 11 forget at a time.
size_t rest_of(const Job& job) {
  return static_cast<size_t>(job.get("rest", 64));
}

struct Trimmed : Parameters {
  using Parameters::Parameters;
  std::vector<Buffer> pile, kept;
  void step(Job& job, int step) {
    const size_t rest = rest_of(job);
    for (size_t i = 0; i < count; ++i)
      pile.push_back(Job::filled(static_cast<size_t>(bytes * job.uniform(0.5, 1.5))));
    if (leaks) {
      kept.push_back(Job::filled(rest));
      job.leak(rest);
    }
    if (step % limit != 0) return;
    pile.clear();
    malloc_trim(0);
    if (!leaks) job.growth_ends(step);
  }
};

struct Fragments : Parameters {
  using Parameters::Parameters;
  std::deque<std::pair<int, Buffer>> alive;
  std::vector<Buffer> survivors;
  void step(Job& job, int step) {
    const size_t rest = rest_of(job);
    const double scale = 0.3 + 1.4 * ((step * 7) % 50) / 50.0;
    for (size_t i = 0; i < count; ++i) {
      const auto size = static_cast<size_t>(bytes * scale * job.uniform(0.2, 1.8)) + 16;
      alive.emplace_back(step + static_cast<int>(job.uniform(1, static_cast<double>(limit))),
                         Job::filled(size));
      if (!leaks || i % 16 != 0) continue;
      survivors.push_back(Job::filled(rest));
      job.leak(rest);
    }
    std::erase_if(alive, [&](const auto& block) { return block.first <= step; });
    if (!leaks && static_cast<size_t>(step) > limit + 50) job.growth_ends(step);
  }
};

}  // namespace

int main(int argc, char** argv) {
  Job job(argc, argv);
  switch (mechanism_of(job)) {
    case 0:
      run<ThreadCaches>(job);
      break;
    case 1:
      run<Environment>(job);
      break;
    case 2:
      run<Patterns>(job);
      break;
    case 3:
      run<Streams>(job);
      break;
    case 4:
      run<Trimmed>(job);
      break;
    default:
      run<Fragments>(job);
  }
}
