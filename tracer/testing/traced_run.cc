// SPDX-License-Identifier: Apache-2.0
#include "tracer/testing/traced_run.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace plateau::trace::testing {
namespace {

namespace fs = std::filesystem;

fs::path fresh_directory() {
  const char* base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  std::string pattern = std::string(base) + "/plateau-test-XXXXXX";
  return mkdtemp(pattern.data()) != nullptr ? fs::path(pattern) : fs::path();
}

SegmentHeader* map_segment(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    return nullptr;
  }
  void* memory = mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<SegmentHeader*>(memory);
}

// In the child: becomes the program.
[[noreturn]] void become(const RunRequest& request, const std::string& directory, int input,
                         int output) {
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  unsetenv("PLATEAU_HEAP");
  std::string preload = request.mode.empty() ? "" : tracer_library();
  if (!request.also_preload.empty()) {
    preload += (preload.empty() ? "" : ":") + request.also_preload;
  }
  if (!preload.empty()) {
    setenv("LD_PRELOAD", preload.c_str(), 1);
  }
  if (!request.mode.empty()) {
    setenv("PLATEAU_HEAP", (directory + ":" + request.mode).c_str(), 1);
  }
  std::vector<char*> arguments;
  for (const std::string& word : request.command) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

void ask_account(const fs::path& directory) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() != ".segment") {
      continue;
    }
    if (SegmentHeader* segment = map_segment(entry.path())) {
      segment->account.asked.store(1, std::memory_order_release);
      munmap(segment, kSegmentBytes);
    }
  }
}

// Closes `input` of the target once it said something and was asked.
std::string read_all(int fd, int& input, const RunRequest& request, const fs::path& directory) {
  std::string out;
  char bytes[4096];
  for (;;) {
    const ssize_t got = read(fd, bytes, sizeof(bytes));
    if (got <= 0) {
      return out;
    }
    out.append(bytes, static_cast<size_t>(got));
    if (input >= 0) {
      if (request.ask_account) {
        ask_account(directory);
      }
      close(std::exchange(input, -1));
    }
  }
}

}  // namespace

const SegmentContents* TracedRun::of(uint32_t pid) const {
  const SegmentContents* found = nullptr;
  for (const SegmentContents& segment : segments) {
    found = segment.pid == pid ? &segment : found;
  }
  return found;
}

TracedRun run_traced(const RunRequest& request) {
  const fs::path fresh = fresh_directory();
  const fs::path directory = request.directory.empty() ? fresh : fs::path(request.directory);
  int ends[2];
  int inputs[2];
  if (pipe2(ends, O_CLOEXEC) != 0 || pipe2(inputs, O_CLOEXEC) != 0) {
    return {.status = -1};
  }
  const pid_t child = fork();
  if (child == 0) {
    become(request, directory.string(), inputs[0], ends[1]);
  }
  close(ends[1]);
  close(inputs[0]);
  TracedRun run;
  run.output = read_all(ends[0], inputs[1], request, directory);
  close(ends[0]);
  if (inputs[1] >= 0) {
    close(inputs[1]);
  }
  waitpid(child, &run.status, 0);
  std::error_code error;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    SegmentHeader* segment = path.extension() == ".segment" ? map_segment(path) : nullptr;
    if (segment != nullptr) {
      run.segments.push_back(read_segment(*segment));
      munmap(segment, kSegmentBytes);
    }
  }
  fs::remove_all(fresh, error);
  return run;
}

std::string target_program(const std::string& name) {
  return PLATEAU_TRACER_TARGETS "/" + name;
}
std::string tracer_library() {
  return PLATEAU_TRACER_LIBRARY;
}

}  // namespace plateau::trace::testing
