// SPDX-License-Identifier: Apache-2.0
// Writes safetensors so that a power cut, a full disk or a kill leaves the old file or the new one.
//
// The order is what makes it so: the bytes go to a temporary file beside the target, fsync() waits
// until the disk has them, rename() swaps the names in one step, and fsync() of the directory makes
// the swap itself last. Space is asked for before the first byte, so that a disk that is too small
// is known before hours of merging, where the file system can say so.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/fd.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "trainer/store/safetensors.h"

namespace plateau::train {
namespace {

constexpr size_t kAlignment = 8;
constexpr size_t kMaxHeaderBytes = 100'000'000;
constexpr size_t kWriteBytes = size_t{1} << 30;  // The kernel takes at most 2 GiB at once.

Error failed(const std::filesystem::path& path, std::string_view what) {
  return {Error::Kind::bad_input, fmt::format("{}: {}", path.string(), what)};
}

Error failed_errno(const std::filesystem::path& path, std::string_view what) {
  return failed(path, fmt::format("{}: {}", what, std::strerror(errno)));
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    if (!point.valid) return false;
    text.remove_prefix(point.bytes);
  }
  return true;
}

struct Layout {
  std::string head;                   // Length, JSON and the spaces that align the data.
  std::vector<uint64_t> entry_bytes;  // Of each entry, in order.
  uint64_t data_bytes = 0;
};

Result<uint64_t> bytes_of_entry(const SafetensorsWriter::Entry& entry,
                                const std::filesystem::path& path) {
  auto bytes = static_cast<int64_t>(bytes_of(entry.dtype));
  for (const int64_t size : entry.shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) {
      return failed(path, fmt::format("tensor \"{}\" has a shape that cannot be", entry.name));
    }
  }
  return static_cast<uint64_t>(bytes);
}

std::string little_endian(uint64_t value) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

Result<Layout> lay_out(const std::vector<SafetensorsWriter::Entry>& entries,
                       const Metadata& metadata, const std::filesystem::path& path) {
  Layout layout;
  JsonWriter json;
  json.begin_object();
  if (!metadata.empty()) {
    json.key("__metadata__").begin_object();
    for (const auto& [key, value] : metadata) json.key(key).value(value);
    json.end_object();
  }
  std::unordered_set<std::string_view> names{"__metadata__"};
  for (const SafetensorsWriter::Entry& entry : entries) {
    if (!is_utf8(entry.name) || !names.insert(entry.name).second) {
      return failed(path, fmt::format("\"{}\" cannot be the name of a tensor, or is one already",
                                      entry.name));
    }
    const Result<uint64_t> bytes = bytes_of_entry(entry, path);
    if (!bytes.ok()) return bytes.error();
    json.key(entry.name).begin_object().key("dtype").value(name_of(entry.dtype));
    json.key("shape").begin_array();
    for (const int64_t size : entry.shape) json.value(size);
    json.end_array().key("data_offsets").begin_array().value(layout.data_bytes);
    if (__builtin_add_overflow(layout.data_bytes, bytes.value(), &layout.data_bytes) ||
        layout.data_bytes > static_cast<uint64_t>(INT64_MAX) / 2) {
      return failed(path, "more bytes than a file can have");
    }
    json.value(layout.data_bytes).end_array().end_object();
    layout.entry_bytes.push_back(bytes.value());
  }
  json.end_object();
  std::string text = json.take();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  if (text.size() > kMaxHeaderBytes) return failed(path, "too many tensors for one file");
  layout.head = little_endian(text.size()) + text;
  return layout;
}

// Beside `path`, under a name that nobody has: two writers of one file do not meet.
Result<Fd> create_beside(const std::filesystem::path& path, std::filesystem::path& temporary) {
  static std::atomic<unsigned> counter{0};
  for (int tries = 0; tries < 100; ++tries) {
    temporary = path;
    temporary += fmt::format(".tmp-{}-{}", ::getpid(), counter.fetch_add(1));
    Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd) return fd;
    if (errno != EEXIST) break;
  }
  return failed_errno(path, "cannot be written");
}

bool write_all(int fd, const void* bytes, size_t size) {
  const char* rest = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(fd, rest, std::min(size, kWriteBytes));
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    rest += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

}  // namespace

struct SafetensorsWriter::State {
  std::filesystem::path path;
  std::filesystem::path temporary;  // Empty once it has become `path`.
  Fd fd;
  std::vector<Entry> entries;
  std::vector<uint64_t> entry_bytes;
  size_t next = 0;
  std::optional<Error> broken;  // The first failure; every later call repeats it.

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { abandon(); }

  void abandon() {
    fd.reset();
    if (!temporary.empty()) ::unlink(temporary.c_str());
    temporary.clear();
  }
  Error fail(Error error) {
    broken = std::move(error);
    abandon();
    return *broken;
  }
};

SafetensorsWriter::SafetensorsWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
SafetensorsWriter::SafetensorsWriter(SafetensorsWriter&&) noexcept = default;
SafetensorsWriter& SafetensorsWriter::operator=(SafetensorsWriter&&) noexcept = default;
SafetensorsWriter::~SafetensorsWriter() = default;

Result<SafetensorsWriter> SafetensorsWriter::create(const std::filesystem::path& path,
                                                    std::vector<Entry> entries,
                                                    const Metadata& metadata) {
  Result<Layout> layout = lay_out(entries, metadata, path);
  if (!layout.ok()) return layout.error();
  auto state = std::make_unique<State>();
  state->path = path;
  Result<Fd> fd = create_beside(path, state->temporary);
  if (!fd.ok()) {
    state->temporary.clear();
    return fd.error();
  }
  state->fd = std::move(fd.value());
  state->entries = std::move(entries);
  state->entry_bytes = std::move(layout.value().entry_bytes);
  const std::string& head = layout.value().head;
  const auto whole = static_cast<off_t>(head.size() + layout.value().data_bytes);
  if (::fallocate(state->fd.get(), 0, 0, whole) != 0 && errno != EOPNOTSUPP && errno != ENOSYS &&
      errno != EINTR) {
    return state->fail(failed_errno(path, fmt::format("no room for its {} bytes", whole)));
  }
  if (!write_all(state->fd.get(), head.data(), head.size())) {
    return state->fail(failed_errno(path, "writing failed"));
  }
  return SafetensorsWriter(std::move(state));
}

Result<std::monostate> SafetensorsWriter::add(std::span<const std::byte> bytes) {
  State& state = *state_;
  if (state.broken) return *state.broken;
  if (state.next == state.entries.size()) {
    return state.fail(failed(state.path, "more tensors than were announced"));
  }
  const uint64_t expected = state.entry_bytes[state.next];
  if (bytes.size() != expected) {
    return state.fail(
        failed(state.path, fmt::format("tensor \"{}\" has {} bytes, announced were {}",
                                       state.entries[state.next].name, bytes.size(), expected)));
  }
  if (!write_all(state.fd.get(), bytes.data(), bytes.size())) {
    return state.fail(failed_errno(state.path, "writing failed"));
  }
  ++state.next;
  return std::monostate{};
}

Result<std::monostate> SafetensorsWriter::finish() {
  State& state = *state_;
  if (state.broken) return *state.broken;
  if (state.next != state.entries.size()) {
    return state.fail(failed(state.path, fmt::format("{} tensors of {} were written", state.next,
                                                     state.entries.size())));
  }
  if (::fsync(state.fd.get()) != 0) {
    return state.fail(failed_errno(state.path, "flushing to the disk failed"));
  }
  if (::rename(state.temporary.c_str(), state.path.c_str()) != 0) {
    return state.fail(failed_errno(state.path, "cannot take its name"));
  }
  state.temporary.clear();
  state.fd.reset();
  // The file is complete and in its place from here on.
  std::filesystem::path directory = state.path.parent_path();
  if (directory.empty()) directory = ".";
  const Fd parent(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent || ::fsync(parent.get()) != 0) {
    return state.fail(failed_errno(directory, "flushing the directory to the disk failed"));
  }
  state.broken = failed(state.path, "is finished already");
  return std::monostate{};
}

Result<std::monostate> write_safetensors(const std::filesystem::path& path,
                                         const std::vector<TensorView>& tensors,
                                         const Metadata& metadata) {
  std::vector<SafetensorsWriter::Entry> entries;
  entries.reserve(tensors.size());
  for (const TensorView& tensor : tensors) {
    entries.push_back({.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape});
  }
  Result<SafetensorsWriter> writer = SafetensorsWriter::create(path, std::move(entries), metadata);
  if (!writer.ok()) return writer.error();
  for (const TensorView& tensor : tensors) {
    const Result<std::monostate> added = writer.value().add(tensor.bytes);
    if (!added.ok()) return added.error();
  }
  return writer.value().finish();
}

}  // namespace plateau::train
