// SPDX-License-Identifier: Apache-2.0
// What a sample costs us: CPU time per sample of the Sampler, of a bare C loop and of two psutil
// scripts, over the same tree, side by side.
//
//   probe_cost [--mb-each N] [--parent-mb N] [--children N] [--rounds N] [--pause-us N] [--idle]
//
// The tree is this program's child with 20 children (default: 20 MB each); every 10 ms each of them
// touches and frees some pages, unless --idle. Samples are 25 ms apart, so that caches are as cold
// as a watcher's; --pause-us 0 takes them back to back. The contestants take turns; the median of
// the rounds is printed. Time is CPU time of the sampling process, user and system.
//
// First row, cheap figures only:
//   ours          discovery, statm or status of every process, and, as often as a watcher does by
//                 the Sampler's clock, stat, machine and cgroup; walks and descriptor scans off.
//                 Told for a clock of 0.1 s (a job's first 40 s) and of 1 s (after 400 s).
//   bare C        the pids known: open, read and parse status and stat, and read `children`.
//   psutil light  children(recursive=True); per process create_time, ppid, name, memory_info,
//                 cpu_times, num_threads and status in oneshot(); virtual_memory, swap_memory.
// Second row, the same numbers as a snapshot holds:
//   ours          all of it, with walks and descriptor scans as often as the budget lets them: the
//                 cost of a run divided by its samples. In between PSS and USS are carried, which
//                 psutil cannot do; psutil has them measured in every sample.
//                 400 samples each, a fifth of the pause apart.
//   psutil same   as light, with memory_full_info (USS, PSS, swap) in place of memory_info.
// Both scripts are bench/probe_cost_psutil.py.
//
// Then the Sampler runs as a watcher does, 600 samples 1 s apart by its clock, walks and scans
// included, and its share of one core is printed.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probe/sampler.h"

namespace {

constexpr int kSamples = 40;
constexpr int kRunSamples = 400;

struct Plan {
  size_t mb_each = 20;
  size_t parent_mb = 20;
  int children = 20;
  int rounds = 7;
  bool idle = false;
  useconds_t pause_us = 25'000;
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void fill(size_t mb) {
  const size_t bytes = mb << 20;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) std::exit(2);
  madvise(at, bytes, MADV_NOHUGEPAGE);
  std::memset(at, 1, bytes);
}

[[noreturn]] void live(const Plan& plan) {
  constexpr size_t kToggled = 1 << 20;
  void* at = mmap(nullptr, kToggled, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (size_t pages = 1;; pages = pages % 200 + 1) {
    if (plan.idle) pause();
    std::memset(at, 1, pages * 4096);
    usleep(10'000);
    madvise(at, kToggled, MADV_DONTNEED);
  }
}

pid_t make_tree(const Plan& plan) {
  int ready[2];
  if (pipe(ready) != 0) std::exit(2);
  const pid_t root = fork();
  if (root != 0) {
    char byte = 0;
    for (int i = 0; i <= plan.children; ++i) {
      if (read(ready[0], &byte, 1) != 1) std::exit(2);
    }
    return root;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  fill(plan.parent_mb);
  for (int i = 0; i < plan.children; ++i) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fill(plan.mb_each);
    if (write(ready[1], "x", 1) != 1) _exit(2);
    live(plan);
  }
  if (write(ready[1], "x", 1) != 1) _exit(2);
  live(plan);
}

// The least one can do with plain system calls.
class BareLoop {
 public:
  explicit BareLoop(const std::vector<pid_t>& pids) {
    for (const pid_t pid : pids) {
      files_.push_back(fmt::format("/proc/{}/status", pid));
      files_.push_back(fmt::format("/proc/{}/stat", pid));
      files_.push_back(fmt::format("/proc/{0}/task/{0}/children", pid));
    }
  }

  uint64_t sample() {
    uint64_t sum = 0;
    for (const std::string& file : files_) {
      const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
      const ssize_t got = read(fd, buffer_.data(), buffer_.size() - 1);
      close(fd);
      if (got <= 0) continue;
      buffer_[static_cast<size_t>(got)] = '\0';
      if (file.ends_with("status")) {
        for (const char* key : {"VmRSS:", "RssAnon:", "RssFile:", "RssShmem:", "VmSwap:"}) {
          if (const char* at = std::strstr(buffer_.data(), key)) {
            sum += std::strtoull(at + std::strlen(key), nullptr, 10);
          }
        }
      } else if (const char* at = std::strrchr(buffer_.data(), ')')) {
        char* next = const_cast<char*>(at) + 3;
        for (int field = 4; field <= 22; ++field) sum += std::strtoull(next, &next, 10);
      }
    }
    return sum;
  }

 private:
  std::vector<std::string> files_;
  std::array<char, 8192> buffer_{};
};

double microseconds(useconds_t pause_us, const std::function<void()>& sample) {
  double spent = 0;
  for (int i = 0; i < kSamples; ++i) {
    if (pause_us > 0) usleep(pause_us);
    const double begin = cpu_seconds();
    sample();
    spent += cpu_seconds() - begin;
  }
  return spent / kSamples * 1e6;
}

double psutil_microseconds(const char* script, int samples, useconds_t pause_us, pid_t root) {
  const std::string command =
      fmt::format("/usr/bin/python3 {}/bench/probe_cost_psutil.py {} {} {} {}", PLATEAU_SOURCE_DIR,
                  script, root, samples, pause_us);
  FILE* pipe = popen(command.c_str(), "r");
  double told = 0;
  if (pipe == nullptr || std::fscanf(pipe, "%lf", &told) != 1) told = 0;
  if (pipe != nullptr) pclose(pipe);
  return told;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

plateau::Sampler sampler_of(pid_t root, const plateau::ProbeOptions& options) {
  auto sampler = plateau::Sampler::of_pid(root, options, true);
  if (!sampler.ok()) {
    fmt::print("{}\n", sampler.error().message);
    std::exit(2);
  }
  return std::move(sampler.value());
}

// The cheap figures at one pace of the Sampler's clock.
class CheapTicks {
 public:
  CheapTicks(pid_t root, double step_s) : sampler_(sampler_of(root, options())), step_s_(step_s) {}

  plateau::Snapshot sample() { return sampler_.sample(now_s_ += step_s_); }
  void round(useconds_t pause_us) {
    told_.push_back(microseconds(pause_us, [this] { sample(); }));
  }
  [[nodiscard]] double us() const { return median(told_); }

 private:
  static plateau::ProbeOptions options() {
    plateau::ProbeOptions options;
    options.walk_cpu_share = 1e-12;  // One scan at the start, none after it.
    return options;
  }

  plateau::Sampler sampler_;
  double step_s_;
  double now_s_ = 0;
  std::vector<double> told_;
};

void compare_cheap(const Plan& plan, pid_t root) {
  CheapTicks fast(root, 0.1);
  CheapTicks slow(root, 1);
  std::vector<pid_t> pids;
  slow.sample();
  for (const auto& process : fast.sample().processes) pids.push_back(process.key.pid);
  BareLoop bare(pids);
  std::vector<double> c_loop;
  std::vector<double> psutil;
  uint64_t sum = 0;
  for (int round = 0; round < plan.rounds; ++round) {
    fast.round(plan.pause_us);
    slow.round(plan.pause_us);
    c_loop.push_back(microseconds(plan.pause_us, [&] { sum += bare.sample(); }));
    psutil.push_back(psutil_microseconds("light", kSamples, plan.pause_us, root));
  }
  const double bare_us = median(c_loop);
  const double psutil_us = median(psutil);
  fmt::print("{} processes, {}, cheap figures: bare C {:.0f} us, psutil light {:.0f} us a sample\n",
             pids.size(), plan.idle ? "idle" : "active", bare_us, psutil_us);
  for (const auto& [pace, us] : {std::pair("0.1 s", fast.us()), std::pair("1 s", slow.us())}) {
    fmt::print(
        "  ours every {}: {:.0f} us; ours / bare C {:.2f} (target <= 1.5), psutil / ours {:.1f}\n",
        pace, us, us / bare_us, psutil_us / us);
  }
  if (sum == 0) std::exit(2);
}

// CPU time per sample of a run, walks and scans in it, from `from_s` on after its first sample.
double amortised_us(const Plan& plan, pid_t root, double step_s, double from_s = 0) {
  plateau::Sampler sampler = sampler_of(root, {});
  const double before_s = from_s > 0 ? sampler.sample(0).cost.cpu_s : 0;
  double cpu_s = 0;
  for (int i = 0; i < kRunSamples; ++i) {
    if (plan.pause_us > 0) usleep(plan.pause_us / 5);
    cpu_s = sampler.sample(from_s + i * step_s).cost.cpu_s - before_s;
  }
  return cpu_s / kRunSamples * 1e6;
}

void compare_same(const Plan& plan, pid_t root) {
  std::vector<double> psutil;
  std::vector<double> fast;
  std::vector<double> slow;
  std::vector<double> later;
  for (int round = 0; round < plan.rounds; ++round) {
    fast.push_back(amortised_us(plan, root, 0.1));
    slow.push_back(amortised_us(plan, root, 1));
    later.push_back(amortised_us(plan, root, 1, 3600));
    psutil.push_back(psutil_microseconds("same", kRunSamples, plan.pause_us / 5, root));
  }
  const double psutil_us = median(psutil);
  fmt::print("the same numbers, walks and scans in: psutil same {:.0f} us a sample\n", psutil_us);
  for (const auto& [pace, us] : {std::pair("0.1 s, the first 40 s", median(fast)),
                                 std::pair("1 s, the first 400 s", median(slow)),
                                 std::pair("1 s, after an hour", median(later))}) {
    fmt::print("  ours every {}: {:.0f} us; psutil / ours {:.1f} (target >= 20)\n", pace, us,
               psutil_us / us);
  }
}

void watch(pid_t root) {
  constexpr int kSeconds = 600;
  plateau::Sampler sampler = sampler_of(root, {});
  plateau::Snapshot last;
  int sweeps = 0;
  for (int second = 0; second < kSeconds; ++second) {
    last = sampler.sample(second);
    sweeps += last.walked ? 1 : 0;
  }
  int64_t rss_kb = 0;
  for (const auto& process : last.processes) rss_kb += process.rss_kb;
  fmt::print(
      "watching {} processes, {:.1f} GB of RSS in all, for {} s: {:.3f} % of a core "
      "(target < 1), {} sweeps, {:.2f} s in walks, worst target {:.3f} % of its life\n",
      last.processes.size(), static_cast<double>(rss_kb) / 1e6, kSeconds,
      100 * last.cost.cpu_s / kSeconds, sweeps, last.cost.walks_s, 100 * last.cost.worst_share);
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const long value = i + 1 < argc ? std::strtol(argv[i + 1], nullptr, 10) : 0;
    if (word == "--mb-each") plan.mb_each = static_cast<size_t>(std::max(1L, value));
    if (word == "--parent-mb") plan.parent_mb = static_cast<size_t>(std::max(1L, value));
    if (word == "--children") plan.children = static_cast<int>(std::clamp(value, 1L, 1000L));
    if (word == "--rounds") plan.rounds = static_cast<int>(std::clamp(value, 1L, 100L));
    if (word == "--pause-us")
      plan.pause_us = static_cast<useconds_t>(std::clamp(value, 0L, 900'000L));
    if (word == "--idle") plan.idle = true;
  }
  const pid_t root = make_tree(plan);
  compare_cheap(plan, root);
  compare_same(plan, root);
  watch(root);
  kill(root, SIGKILL);
  waitpid(root, nullptr, 0);
  return 0;
}
