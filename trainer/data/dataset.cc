// SPDX-License-Identifier: Apache-2.0
// Opening reads the whole file once, to find its examples and to fingerprint it, and keeps neither.
#include "trainer/data/dataset.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/fd.h"
#include "base/text.h"
#include "dataset/other_format.h"
#include "dataset/record_places.h"
#include "trainer/data/csv_records.h"
#include "trainer/data/example_line.h"
#include "trainer/data/picture_reference.h"

namespace plateau::train {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;  // Whole words, which the fingerprint needs.
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
  std::vector<RecordPlace> places;
  bool is_array = false;
  std::vector<std::string> columns;  // Of CSV.
  uint64_t fingerprint = 0;

  std::optional<Error> find_records(bool is_csv);

  // By keep_decoded: of (example, picture).
  std::mutex mutex;
  std::unordered_map<std::pair<size_t, size_t>, std::shared_ptr<const Picture>, KeyHash> kept;
  int64_t kept_bytes = 0;
};

// One pass from end to end: where records lie, and the fingerprint.
std::optional<Error> Dataset::State::find_records(bool is_csv) {
  std::vector<char> block(kBlockBytes);
  Fingerprint words;
  RecordFinder finder;
  CsvFinder csv;
  uint64_t offset = 0;
  while (true) {
    const ssize_t got = read_fully(fd.get(), block, offset);
    if (got < 0) {
      return Error{Error::Kind::not_found, name + ": " + std::strerror(errno)};
    }
    std::span<const char> read(block.data(), static_cast<size_t>(got));
    words.add(read);
    if (offset == 0) {
      const std::string what = other_format({read.data(), read.size()}, name);
      if (!what.empty()) return Error{Error::Kind::bad_input, name + ": " + what};
    }
    // Spaces in the place of a byte order mark keep the offsets right.
    if (offset == 0 && std::string_view(read.data(), read.size()).starts_with("\xEF\xBB\xBF")) {
      std::fill_n(block.begin(), 3, ' ');
    }
    const bool is_end = read.size() < block.size();
    std::optional<std::string> wrong = is_csv ? csv.add(read) : finder.add(read);
    if (is_end && !wrong) wrong = is_csv ? csv.finish() : finder.finish();
    if (wrong) return Error{Error::Kind::bad_input, name + " " + *wrong};
    if (is_end) break;
    offset += read.size();
  }
  fingerprint = words.value();
  is_array = finder.is_array();
  places = is_csv ? csv.take() : finder.take();
  if (is_csv && !places.empty()) {
    std::string header(places.front().bytes, '\0');
    read_fully(fd.get(), header, places.front().offset);
    if (header.starts_with("\xEF\xBB\xBF")) header.erase(0, 3);
    columns = csv_fields(header);
    places.erase(places.begin());
  }
  return std::nullopt;
}

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
    return Error{Error::Kind::bad_input,
                 state->name + ": a file of JSON lines, or of one JSON array, is expected"};
  }

  const bool is_csv = equal_ignoring_case(jsonl.extension().string(), ".csv");
  if (std::optional<Error> wrong = state->find_records(is_csv)) return *wrong;
  if (state->places.empty()) {
    return Error{
        Error::Kind::no_samples,
        state->name + (state->is_array ? ": no examples; its array is empty"
                       : is_csv        ? ": no examples; a header and records below it are expected"
                                       : ": no examples; it has no line with "
                                         "text")};
  }
  return Dataset(std::move(state));
}

size_t Dataset::size() const {
  return state_->places.size();
}

std::string Dataset::where(size_t index) const {
  std::string out = state_->name + " line " + std::to_string(state_->places[index].line);
  // An array may have many on one line.
  if (state_->is_array) out += ", example " + std::to_string(index + 1);
  return out;
}

uint64_t Dataset::fingerprint() const {
  return state_->fingerprint;
}

const std::string& Dataset::name() const {
  return state_->name;
}

const std::filesystem::path& Dataset::folder() const {
  return state_->folder;
}

const DatasetOptions& Dataset::options() const {
  return state_->options;
}

Result<Example> Dataset::read(size_t index) const {
  return read_with(index, [&](std::string_view reference, size_t number) {
    return read_picture_reference(reference, number, state_->folder);
  });
}

Result<Example> Dataset::read_with(size_t index, const PictureReader& read_picture) const {
  const RecordPlace& place = state_->places[index];
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
  if (!state_->columns.empty()) {
    Result<std::string> json = csv_to_json(state_->columns, line);
    if (!json) return Error{json.error().kind, where(index) + ": " + json.error().message};
    line = std::move(json.value());
  }
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
