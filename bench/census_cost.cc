// SPDX-License-Identifier: Apache-2.0
// What a census costs its target: how long it stands still, beside a census that it takes itself.
//
//   census_cost [PYTHON] [OBJECTS ...]      default /usr/bin/python3 100000 500000 1500000
//
// The target holds about OBJECTS tracked objects: half of them lists, a quarter each dicts and
// instances. For each number:
//   stop     wall time for which plateau stops it, median of 7 censuses, and least and most
//   holders  the same when it is also asked who holds them, in turns with the former
//   ours     CPU time of the whole census in our process, without and with holders, medians
//   inside   wall time of collections.Counter(map(type, gc.get_objects())) in the target, median of
//            7: the same answer without sizes, asked by the target itself, which holds its global
//            lock for that long
//   ratio    inside / stop
// Both take turns. A machine that does other things makes stop longer than the CPU time it needs.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "census/census.h"

namespace {

constexpr int kRounds = 7;

constexpr const char* kTarget = R"(
import collections, gc, sys, time
count = int(sys.argv[1]) // 4
class Planted:
    def __init__(self, number):
        self.number = number
        self.items = [number]
kept = [Planted(i) for i in range(count)]
kept.append([{"k%d" % (i % 50): [i], "b": i} for i in range(count)])
print("ready", flush=True)
for line in sys.stdin:
    begin = time.perf_counter()
    collections.Counter(map(type, gc.get_objects()))
    print(time.perf_counter() - begin, flush=True)
)";

double cpu_ms() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Target {
 public:
  Target(const std::string& python, const std::string& objects) {
    int to[2];
    int from[2];
    if (::pipe(to) != 0 || ::pipe(from) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(to[0], 0);
      ::dup2(from[1], 1);
      for (const int fd : {to[0], to[1], from[0], from[1]}) ::close(fd);
      ::execl(python.c_str(), python.c_str(), "-c", kTarget, objects.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    in_ = to[1];
    out_ = ::fdopen(from[0], "r");
    said();
  }
  ~Target() {
    ::close(in_);
    std::fclose(out_);
    ::waitpid(pid_, nullptr, 0);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  double count_inside_ms() {
    if (::write(in_, "\n", 1) != 1) return 0;
    return std::atof(said().c_str()) * 1e3;
  }

 private:
  std::string said() {
    char line[256] = "";
    if (std::fgets(line, sizeof line, out_) == nullptr) std::exit(2);
    return line;
  }
  pid_t pid_ = -1;
  int in_ = -1;
  std::FILE* out_ = nullptr;
};

bool measure(const std::string& python, const std::string& objects) {
  Target target(python, objects);
  std::vector<double> stops;
  std::vector<double> ours;
  std::vector<double> stops_with;
  std::vector<double> ours_with;
  std::vector<double> inside;
  plateau::Census last;
  for (int i = 0; i < kRounds; ++i) {
    for (const bool holders : {true, false}) {
      const double before = cpu_ms();
      auto census = plateau::take_census(target.pid(), {.max_stop_s = 30, .holders = holders});
      if (!census) {
        fmt::print(stderr, "{}\n", census.error().message);
        return false;
      }
      last = std::move(census.value());
      (holders ? stops_with : stops).push_back(last.stopped_s * 1e3);
      (holders ? ours_with : ours).push_back(cpu_ms() - before);
    }
    inside.push_back(target.count_inside_ms());
  }
  const auto [least, most] = std::minmax_element(stops.begin(), stops.end());
  fmt::print(
      "{:>9} {:>5} {:>7.0f} {:>8.1f} ({:.1f}-{:.1f}) {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f} "
      "{:>6.2f}\n",
      last.objects, fmt::format("3.{}", last.minor), static_cast<double>(last.bytes_read) / 1e6,
      median(stops), *least, *most, median(stops_with), median(ours), median(ours_with),
      median(inside), median(inside) / median(stops));
  return true;
}

}  // namespace

int main(int count, char** words) {
  const std::string python = count > 1 ? words[1] : "/usr/bin/python3";
  std::vector<std::string> sizes(words + std::min(count, 2), words + count);
  if (sizes.empty()) sizes = {"100000", "500000", "1500000"};
  fmt::print(
      "  objects    py MB read  stop ms (least-most)  holders  ours ms  holders inside ms  "
      "ratio\n");
  for (const std::string& objects : sizes) {
    if (!measure(python, objects)) return 1;
  }
  return 0;
}
