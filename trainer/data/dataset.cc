// SPDX-License-Identifier: Apache-2.0
// Opening reads the whole file once, to find its lines and to fingerprint it, and keeps neither.
#include "trainer/data/dataset.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/fd.h"
#include "base/text.h"
#include "trainer/data/example_line.h"
#include "trainer/data/picture_reference.h"

namespace plateau::train {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;  // Whole words, which the fingerprint needs.
// What simdjson takes, with room for its padding.
constexpr uint64_t kMaxLineBytes = std::numeric_limits<uint32_t>::max() - 4096;

struct LinePlace {
  uint64_t offset = 0;
  uint32_t bytes = 0;
  uint32_t number = 0;  // In the file, from 1, blank lines counted.
};
static_assert(sizeof(LinePlace) == 16);

// 64 bits over the words of the file and its length. It tells files apart that were mixed up or
// edited; it is no defence against someone who wants two to collide.
class Fingerprint {
 public:
  // Only the last block may end within a word.
  void add(std::span<const char> block) {
    bytes_ += block.size();
    size_t at = 0;
    for (; at + sizeof(uint64_t) <= block.size(); at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, block.data() + at, sizeof word);
      mix(word);
    }
    uint64_t rest = 0;
    std::memcpy(&rest, block.data() + at, block.size() - at);
    if (at < block.size()) mix(rest);
  }
  [[nodiscard]] uint64_t value() {
    mix(bytes_);
    return state_;
  }

 private:
  void mix(uint64_t word) {
    state_ = (state_ ^ word) * 0x9E3779B97F4A7C15ULL;
    state_ ^= state_ >> 32;
  }
  uint64_t state_ = 0x243F6A8885A308D3ULL;
  uint64_t bytes_ = 0;
};

// Lines that are not blank, found block by block.
class LineFinder {
 public:
  // False if a line is too long.
  bool add(std::span<const char> block) {
    const char* at = block.data();
    const char* const end = at + block.size();
    while (at < end) {
      const void* const found = std::memchr(at, '\n', static_cast<size_t>(end - at));
      const char* const stop = found != nullptr ? static_cast<const char*>(found) : end;
      if (is_blank_) is_blank_ = std::all_of(at, stop, is_space);
      offset_ += static_cast<uint64_t>(stop - at);
      if (found == nullptr) break;
      if (!close_line()) return false;
      begin_ = ++offset_;
      at = stop + 1;
    }
    return true;
  }
  // Leaves out a byte order mark at the very beginning.
  void skip_mark() { begin_ = 3; }
  bool close_line() {
    ++number_;
    const uint64_t bytes = offset_ - std::min(begin_, offset_);
    if (!std::exchange(is_blank_, true)) {
      if (bytes > kMaxLineBytes) return false;
      lines_.push_back({begin_, static_cast<uint32_t>(bytes), number_});
    }
    return true;
  }
  [[nodiscard]] uint32_t number() const { return number_; }
  std::vector<LinePlace> take() {
    lines_.shrink_to_fit();
    return std::move(lines_);
  }

 private:
  uint64_t begin_ = 0;   // Of the line.
  uint64_t offset_ = 0;  // Where the next byte stands.
  uint32_t number_ = 0;  // Lines closed.
  bool is_blank_ = true;
  std::vector<LinePlace> lines_;
};

// As many bytes as fit, or those that are left; -1 with errno.
ssize_t read_fully(int fd, std::span<char> out, uint64_t offset) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got =
        ::pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

struct KeyHash {
  size_t operator()(const std::pair<size_t, size_t>& key) const {
    return key.first * 31 + key.second;
  }
};

}  // namespace

struct Dataset::State {
  std::string name;
  std::filesystem::path folder;
  DatasetOptions options;
  Fd fd;
  std::vector<LinePlace> lines;
  uint64_t fingerprint = 0;

  // By keep_decoded: of (example, picture).
  std::mutex mutex;
  std::unordered_map<std::pair<size_t, size_t>, std::shared_ptr<const Picture>, KeyHash> kept;
  int64_t kept_bytes = 0;
};

Dataset::Dataset(std::unique_ptr<State> state) : state_(std::move(state)) {}
Dataset::Dataset(Dataset&&) noexcept = default;
Dataset& Dataset::operator=(Dataset&&) noexcept = default;
Dataset::~Dataset() = default;

Result<Dataset> Dataset::open(const std::filesystem::path& jsonl, const DatasetOptions& options) {
  auto state = std::make_unique<State>();
  state->name = jsonl.string();
  state->folder = jsonl.parent_path();
  state->options = options;
  // A pipe must not block here: it is refused below.
  state->fd = Fd(::open(jsonl.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!state->fd) {
    return Error{Error::Kind::not_found, state->name + ": " + std::strerror(errno)};
  }
  struct stat status = {};
  if (::fstat(state->fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return Error{Error::Kind::bad_input, state->name + ": a file of JSON lines is expected"};
  }

  std::vector<char> block(kBlockBytes);
  Fingerprint fingerprint;
  LineFinder finder;
  uint64_t offset = 0;
  while (true) {
    const ssize_t got = read_fully(state->fd.get(), block, offset);
    if (got < 0) {
      return Error{Error::Kind::not_found, state->name + ": " + std::strerror(errno)};
    }
    std::span<const char> read(block.data(), static_cast<size_t>(got));
    fingerprint.add(read);
    const bool has_mark =
        offset == 0 && std::string_view(read.data(), read.size()).starts_with("\xEF\xBB\xBF");
    if (has_mark) finder.skip_mark();
    // Spaces in its place keep the offsets right.
    if (has_mark) std::fill_n(block.begin(), 3, ' ');
    const bool is_end = read.size() < block.size();
    if (!finder.add(read) || (is_end && !finder.close_line())) {
      return Error{Error::Kind::bad_input,
                   state->name + " line " + std::to_string(finder.number()) + ": longer than 4 GB"};
    }
    if (is_end) break;
    offset += read.size();
  }
  state->fingerprint = fingerprint.value();
  state->lines = finder.take();
  if (state->lines.empty()) {
    return Error{Error::Kind::no_samples, state->name + ": no examples; it has no line with text"};
  }
  return Dataset(std::move(state));
}

size_t Dataset::size() const {
  return state_->lines.size();
}

std::string Dataset::where(size_t index) const {
  return state_->name + " line " + std::to_string(state_->lines[index].number);
}

uint64_t Dataset::fingerprint() const {
  return state_->fingerprint;
}

Result<Example> Dataset::read(size_t index) const {
  const LinePlace& place = state_->lines[index];
  std::string line;
  line.reserve(place.bytes + 256);  // Room for the padding that the parser adds.
  line.resize(place.bytes);
  const ssize_t got = read_fully(state_->fd.get(), line, place.offset);
  if (got < 0) {
    return Error{Error::Kind::bad_input, where(index) + ": " + std::strerror(errno)};
  }
  if (static_cast<size_t>(got) != line.size()) {
    return Error{Error::Kind::bad_input,
                 where(index) + ": the file has become shorter since it was opened"};
  }
  const PictureReader read_picture = [&](std::string_view reference, size_t number) {
    return read_picture_reference(reference, number, state_->folder);
  };
  Result<Example> example = parse_example_line(std::move(line), state_->options, read_picture);
  if (!example) {
    return Error{example.error().kind, where(index) + ": " + example.error().message};
  }
  example.value().index = index;
  return example;
}

Result<std::shared_ptr<const Picture>> Dataset::picture(const Example& example,
                                                        size_t which) const {
  const std::pair<size_t, size_t> key{example.index, which};
  if (state_->options.keep_decoded) {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->kept.find(key);
    if (found != state_->kept.end()) return found->second;
  }
  const PictureSource& source = example.pictures[which];
  Result<Picture> decoded = decode_picture(source.bytes, source.name);
  if (!decoded) {
    return Error{decoded.error().kind, where(example.index) + ": " + decoded.error().message};
  }
  auto picture = std::make_shared<const Picture>(std::move(decoded.value()));
  if (!state_->options.keep_decoded) return picture;
  const std::lock_guard lock(state_->mutex);
  // Another thread may have been faster; then its picture is the one.
  const auto [place, is_new] = state_->kept.emplace(key, picture);
  if (is_new) state_->kept_bytes += static_cast<int64_t>(picture->rgb.size());
  return place->second;
}

int64_t Dataset::kept_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->kept_bytes;
}

}  // namespace plateau::train
