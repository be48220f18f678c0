// SPDX-License-Identifier: Apache-2.0
#include "push/spool_queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/files.h"
#include "base/text.h"

namespace plateau::push {
namespace {

constexpr std::string_view kSuffix = ".seg";
constexpr mode_t kOwnerOnly = 0600;
constexpr size_t kLargestSegment = SpoolQueue::kSegmentBytes + kLargestBody + kFrameHead;

Fd open_own(const std::string& path, int flags) {
  return Fd(open(path.c_str(), flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly));
}

std::map<uint64_t, uint64_t> segments_in(const std::string& directory) {
  std::map<uint64_t, uint64_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(kSuffix)) continue;
    const auto number = parse_digits(name.substr(0, name.size() - kSuffix.size()), 10);
    if (!number || !entry.is_regular_file(error) || entry.is_symlink(error)) continue;
    const uint64_t size = entry.file_size(error);
    if (!error) found[*number] = size;
  }
  return found;
}

uint64_t samples_from(std::string_view bytes, size_t offset) {
  uint64_t samples = 0;
  if (!is_segment(bytes)) return 0;
  while (const auto found = frame_at(bytes, offset)) {
    samples += found->frame.samples;
    offset = found->next;
  }
  return samples;
}

}  // namespace

std::string SpoolQueue::path_of(uint64_t segment) const {
  return fmt::format("{}/{:010}{}", directory_, segment, kSuffix);
}

std::optional<SpoolQueue> SpoolQueue::open(const std::string& directory) {
  SpoolQueue queue;
  queue.directory_ = directory;
  queue.lock_ = open_own(directory + "/lock", O_RDWR);
  if (!queue.lock_ || flock(queue.lock_.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  queue.cursor_file_ = open_own(directory + "/cursor", O_RDWR);
  if (!queue.cursor_file_) return std::nullopt;
  return queue;
}

// It gets its name when it is locked, or another process would take it for one that was left.
std::optional<SpoolQueue> SpoolQueue::create(const std::string& directory, int& error) {
  const size_t slash = directory.rfind('/') + 1;
  const std::string unnamed = directory.substr(0, slash) + ".new-" + directory.substr(slash);
  std::optional<SpoolQueue> queue;
  if (mkdir(unnamed.c_str(), 0700) == 0) queue = open(unnamed);
  if (queue && rename(unnamed.c_str(), directory.c_str()) == 0) {
    queue->directory_ = directory;
    return queue;
  }
  error = errno;
  std::error_code ignored;
  std::filesystem::remove_all(unnamed, ignored);
  return std::nullopt;
}

std::optional<SpoolQueue> SpoolQueue::adopt(const std::string& directory) {
  struct stat status = {};
  if (lstat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != geteuid()) {
    return std::nullopt;
  }
  std::optional<SpoolQueue> opened = open(directory);
  if (!opened) return std::nullopt;
  SpoolQueue& queue = *opened;
  queue.segments_ = segments_in(directory);
  const std::optional<Cursor> cursor =
      parse_cursor(text_of_file(directory + "/cursor", 2 * sizeof(Cursor) + 64));
  if (!queue.segments_.empty()) queue.cursor_.segment = queue.segments_.begin()->first;
  if (cursor && queue.segments_.contains(cursor->segment)) {
    while (queue.segments_.begin()->first < cursor->segment) queue.next_segment();
    queue.cursor_ = *cursor;
  }
  for (const auto& [number, size] : queue.segments_) {
    const size_t from = number == queue.cursor_.segment ? queue.cursor_.offset : kSegmentHead;
    if (queue.load(number)) queue.waiting_samples_ += samples_from(queue.loaded_, from);
  }
  return opened;
}

int SpoolQueue::begin_segment() {
  const uint64_t number = segments_.empty() ? cursor_.segment + 1 : segments_.rbegin()->first + 1;
  Fd file(::open(path_of(number).c_str(),
                 O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly));
  if (!file) return errno;
  if (const int error = write_all(file.get(), segment_head()); error != 0) {
    unlink(path_of(number).c_str());
    return error;
  }
  if (segments_.empty()) cursor_ = {number, kSegmentHead};
  segments_[number] = kSegmentHead;
  appended_ = std::move(file);
  return 0;
}

int SpoolQueue::append(const Frame& frame) {
  const int error = try_append(frame);
  // What was sent takes room until its segment is full. On a full disk it is given back at once.
  const bool all_sent = segments_.size() == 1 && cursor_.offset > kSegmentHead &&
                        cursor_.offset >= segments_.begin()->second;
  if (error == 0 || !all_sent) return error;
  next_segment();
  return try_append(frame);
}

int SpoolQueue::try_append(const Frame& frame) {
  if (!appended_ || segments_.rbegin()->second >= kSegmentBytes) {
    if (const int error = begin_segment(); error != 0) return error;
  }
  const std::string bytes = frame_bytes(frame);
  uint64_t& size = segments_.rbegin()->second;
  if (const int error = write_all(appended_.get(), bytes); error != 0) {
    // A torn frame would hide those that are appended after it.
    if (ftruncate(appended_.get(), static_cast<off_t>(size)) != 0) appended_.reset();
    return error;
  }
  size += bytes.size();
  waiting_samples_ += frame.samples;
  return 0;
}

bool SpoolQueue::load(uint64_t segment) {
  loaded_segment_ = segment;
  loaded_ = text_of_file(path_of(segment), kLargestSegment);
  return is_segment(loaded_);
}

void SpoolQueue::next_segment() {
  unlink(path_of(segments_.begin()->first).c_str());
  segments_.erase(segments_.begin());
  if (segments_.empty()) {
    appended_.reset();
  } else {
    cursor_ = {segments_.begin()->first, kSegmentHead};
  }
}

std::optional<SpoolQueue::Oldest> SpoolQueue::oldest() {
  while (!segments_.empty()) {
    const auto [segment, size] = *segments_.begin();
    const bool fresh = loaded_segment_ == segment && loaded_.size() >= size;
    const bool readable = fresh ? is_segment(loaded_) : load(segment);
    std::optional<FrameFound> found;
    if (readable) found = frame_at(loaded_, cursor_.offset);
    if (found) return Oldest{std::move(found->frame), cursor_, found->next};
    const bool appended = appended_ && segments_.size() == 1;
    if (appended && readable && cursor_.offset >= size) return std::nullopt;
    if (!readable || cursor_.offset < loaded_.size()) ++damaged_;
    next_segment();
  }
  waiting_samples_ = 0;
  return std::nullopt;
}

void SpoolQueue::done(const Oldest& frame) {
  if (cursor_.segment != frame.at.segment || cursor_.offset != frame.at.offset) return;
  cursor_.offset = frame.next;
  waiting_samples_ -= std::min<uint64_t>(waiting_samples_, frame.frame.samples);
  write_cursor();
}

void SpoolQueue::write_cursor() const {
  // If it cannot be written, some frames are sent twice after a kill.
  const std::string text = cursor_bytes(cursor_);
  [[maybe_unused]] const ssize_t n = pwrite(cursor_file_.get(), text.data(), text.size(), 0);
}

uint64_t SpoolQueue::drop_segment() {
  if (segments_.empty()) return 0;
  const uint64_t segment = segments_.begin()->first;
  const uint64_t lost = load(segment) ? samples_from(loaded_, cursor_.offset) : 0;
  next_segment();
  waiting_samples_ -= std::min(waiting_samples_, lost);
  return lost;
}

uint64_t SpoolQueue::bytes() const {
  uint64_t all = 0;
  for (const auto& [number, size] : segments_) all += size;
  return all;
}

void SpoolQueue::remove() {
  std::error_code error;
  std::filesystem::remove_all(directory_, error);
}

}  // namespace plateau::push
