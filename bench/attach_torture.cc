// SPDX-License-Identifier: Apache-2.0
// Attaches the tracer to a process and takes it out again, N times, and says how long threads stood
// still. Ends at the first failure. See attach_torture.sh.
//
//   attach_torture PID N LIBRARY DIRECTORY
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "inject/inject.h"

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int failed(const char* what, int round, const std::string& why) {
  std::fprintf(stderr, "%s in round %d: %s\n", what, round, why.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const auto pid = static_cast<pid_t>(std::atoi(argv[1]));
  const int rounds = std::atoi(argv[2]);
  plateau::AttachRequest request{.tracer = argv[3], .directory = argv[4]};
  const plateau::InjectOptions options{.timeout_s = 30};
  std::vector<double> in;
  std::vector<double> out;
  for (int round = 0; round < rounds; ++round) {
    // From every 4 KB to the default; a fine one is in many hooks at once.
    request.interval_bytes = uint64_t{4096} << (round % 8);
    const auto attached = plateau::attach_tracer(pid, request, options);
    if (!attached.ok()) return failed("attach", round, attached.error().message);
    in.push_back(attached.value().stopped_s * 1e3);
    ::usleep(static_cast<useconds_t>(2000 + round * 7919 % 40000));
    const auto detached = plateau::detach_tracer(pid, options);
    if (!detached.ok()) return failed("detach", round, detached.error().message);
    if (!detached.value().left_behind.empty()) {
      return failed("detach", round, detached.value().left_behind);
    }
    out.push_back(detached.value().stopped_s * 1e3);
    for (const auto& entry : std::filesystem::directory_iterator(request.directory)) {
      std::filesystem::remove(entry);
    }
  }
  std::printf(
      "%d times; one thread stood still: attach median %.2f ms, worst %.2f ms; detach "
      "median %.2f ms, worst %.2f ms\n",
      rounds, median(in), *std::max_element(in.begin(), in.end()), median(out),
      *std::max_element(out.begin(), out.end()));
  return 0;
}
