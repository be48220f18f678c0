// SPDX-License-Identifier: Apache-2.0
// The least that a recorder can be: runs a command and empties the segments that appear in a
// directory, looking at nothing.
//
//   drain DIRECTORY COMMAND...
//
// So the cost of the tracer alone can be measured with rings that never fill up. Prints what was
// drained and dropped to standard error.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <string>

#include "tracer/segment.h"

namespace {

using plateau::trace::kSegmentBytes;
using plateau::trace::SegmentHeader;

struct Drain {
  std::string directory;
  std::map<std::string, SegmentHeader*> segments{};
  uint64_t bytes = 0;

  void find() {
    DIR* entries = opendir(directory.c_str());
    if (entries == nullptr) {
      return;
    }
    while (const dirent* entry = readdir(entries)) {
      const std::string name = entry->d_name;
      if (!name.ends_with(".segment") || segments.contains(name)) {
        continue;
      }
      const std::string path = directory + "/" + name;
      const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
      if (fd < 0) {
        continue;
      }
      void* memory = mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      close(fd);
      if (memory != MAP_FAILED) {
        segments[name] = static_cast<SegmentHeader*>(memory);
        unlink(path.c_str());
      }
    }
    closedir(entries);
  }

  void empty() {
    for (auto& [name, segment] : segments) {
      for (plateau::trace::Lane& lane : segment->lanes) {
        const uint64_t written = lane.written.load(std::memory_order_acquire);
        bytes += written - lane.read.load(std::memory_order_relaxed);
        lane.read.store(written, std::memory_order_release);
      }
    }
  }

  void tell() const {
    uint64_t samples = 0;
    uint64_t dropped = 0;
    for (const auto& [name, segment] : segments) {
      samples += segment->samples.load();
      dropped += segment->dropped_allocs.load() + segment->dropped_frees.load();
    }
    fprintf(stderr, "drained %.1f MB of %zu segments, %llu allocs, %llu dropped\n",
            static_cast<double>(bytes) * 1e-6, segments.size(),
            static_cast<unsigned long long>(samples), static_cast<unsigned long long>(dropped));
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: drain DIRECTORY COMMAND...\n");
    return 2;
  }
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  Drain drain{.directory = argv[1]};
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    drain.find();
    drain.empty();
    const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
    nanosleep(&pause, nullptr);
  }
  drain.find();
  drain.empty();
  drain.tell();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
