// SPDX-License-Identifier: Apache-2.0
#include "session/job_cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <chrono>
#include <thread>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/text.h"

namespace plateau {
namespace {

bool write_file(const std::string& path, std::string_view text) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Our own place in a hierarchy: the path after "N:controllers:" of /proc/self/cgroup. For version 2
// the controllers are empty.
std::string own_path(std::string_view self, std::string_view controller) {
  const std::string wanted = fmt::format(",{},", controller);
  while (!self.empty()) {
    std::string_view line = take_part(self, '\n');
    if (std::count(line.begin(), line.end(), ':') < 2) continue;
    take_part(line, ':');
    const std::string controllers = fmt::format(",{},", take_part(line, ':'));
    if (controllers == wanted ||
        (!controller.empty() && controllers.find(wanted) != std::string::npos)) {
      return std::string(line);
    }
  }
  return "";
}

struct Place {
  std::string parent;  // Where the new group is made.
  const char* limit_file;
};

std::vector<Place> places(const std::string& root, const std::string& self) {
  std::vector<Place> all;
  const std::string v1 = own_path(self, "memory");
  if (!v1.empty()) all.push_back({root + "/memory" + v1, "memory.limit_in_bytes"});
  const std::string v2 = own_path(self, "");
  if (!v2.empty()) {
    // A group that holds processes cannot hand controllers to children, so the parent is tried too.
    for (const std::string& base : {root + v2, root + v2.substr(0, v2.rfind('/'))}) {
      all.push_back({base, "memory.max"});
    }
  }
  return all;
}

}  // namespace

std::string job_cgroup_name() {
  return fmt::format("plateau-{}", getpid());
}

double backstop_mb(double limit_mb) {
  return limit_mb + std::max(64.0, 0.05 * limit_mb);
}

Result<JobCgroup> JobCgroup::create(const std::string& root, const std::string& self,
                                    double hard_limit_mb) {
  std::string reason = "no memory controller is mounted";
  const std::string bytes = fmt::format("{:.0f}", hard_limit_mb * 1e6);
  for (const Place& place : places(root, self)) {
    const std::string directory = fmt::format("{}/{}", place.parent, job_cgroup_name());
    // One of this name was left by a watcher that was killed, or holds orphans of our own.
    if (mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
      reason = std::strerror(errno);
      continue;
    }
    JobCgroup group(directory);
    if (write_file(fmt::format("{}/{}", directory, place.limit_file), bytes)) return group;
    reason = fmt::format("{} cannot be set there: {}", place.limit_file, std::strerror(errno));
  }
  return Error{Error::Kind::not_found,
               fmt::format("no cgroup limit ({}); sampling alone guards the limit", reason)};
}

JobCgroup::JobCgroup(JobCgroup&& other) noexcept
    : directory_(std::exchange(other.directory_, std::string())) {}

// What was just killed stays in the group until it is reaped, by whoever that is up to.
JobCgroup::~JobCgroup() {
  if (directory_.empty()) return;
  for (int tries = 0; tries < 50 && rmdir(directory_.c_str()) != 0 && errno == EBUSY; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace plateau
