// SPDX-License-Identifier: Apache-2.0
#include "import/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fd.h"

namespace plateau {
namespace {

constexpr uint64_t kProgressEvery = 4u << 20;

// Counts what passes and reports it now and then.
class ProgressMeter {
 public:
  ProgressMeter(ByteProgress progress, uint64_t total)
      : progress_(std::move(progress)), total_(total) {}

  void passed(size_t bytes) {
    done_ += bytes;
    const bool due = bytes == 0 || done_ - reported_ >= kProgressEvery;
    if (!progress_ || !due || done_ == reported_) return;
    reported_ = done_;
    progress_(done_, total_);
  }

 private:
  ByteProgress progress_;
  uint64_t total_;
  uint64_t done_ = 0;
  uint64_t reported_ = 0;
};

class FileSource : public ByteSource {
 public:
  // Closes `file` in the end, or reads standard input if it is none.
  FileSource(Fd file, std::string name, ByteProgress progress, uint64_t total)
      : file_(std::move(file)), name_(std::move(name)), meter_(std::move(progress), total) {}

  Result<size_t> read(char* buffer, size_t size) override {
    ssize_t got = 0;
    do {
      got = ::read(file_ ? file_.get() : STDIN_FILENO, buffer, size);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      return Error{Error::Kind::not_found,
                   fmt::format("cannot read {}: {}", name_, std::strerror(errno))};
    }
    meter_.passed(static_cast<size_t>(got));
    return static_cast<size_t>(got);
  }

 private:
  Fd file_;
  std::string name_;
  ProgressMeter meter_;
};

class MemorySource : public ByteSource {
 public:
  MemorySource(std::string_view bytes, ByteProgress progress)
      : bytes_(bytes), meter_(std::move(progress), bytes.size()) {}

  Result<size_t> read(char* buffer, size_t size) override {
    const size_t got = std::min(size, bytes_.size());
    if (got > 0) std::memcpy(buffer, bytes_.data(), got);
    bytes_.remove_prefix(got);
    meter_.passed(got);
    return got;
  }

 private:
  std::string_view bytes_;
  ProgressMeter meter_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path, ByteProgress progress) {
  const bool standard_input = path == "-";
  Fd file(standard_input ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const std::string name = standard_input ? "standard input" : path;
  if (!file && !standard_input) {
    return Error{Error::Kind::not_found,
                 fmt::format("cannot open {}: {}", name, std::strerror(errno))};
  }
  struct stat about{};
  uint64_t total = 0;
  if (::fstat(file ? file.get() : STDIN_FILENO, &about) == 0) {
    if (S_ISDIR(about.st_mode)) {
      return Error{Error::Kind::not_found, fmt::format("{} is a directory, not a log file", name)};
    }
    if (S_ISREG(about.st_mode)) total = static_cast<uint64_t>(about.st_size);
  }
  return std::unique_ptr<ByteSource>(
      std::make_unique<FileSource>(std::move(file), name, std::move(progress), total));
}

std::unique_ptr<ByteSource> open_memory(std::string_view bytes, ByteProgress progress) {
  return std::make_unique<MemorySource>(bytes, std::move(progress));
}

}  // namespace plateau
