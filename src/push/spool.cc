// SPDX-License-Identifier: Apache-2.0
#include "push/spool.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/clock.h"
#include "base/own_directory.h"
#include "base/text.h"

namespace plateau::push {
namespace {

bool is_lack_of_room(int error) {
  return error == ENOSPC || error == EDQUOT;
}

// Each part of it that is missing, for its owner alone; 0 or the errno of what failed.
int make_directories(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      const int error = errno;
      struct stat status = {};
      if (stat(part.c_str(), &status) != 0) return error;
    }
    if (slash == std::string::npos) return 0;
  }
}

}  // namespace

std::string spool_name(const std::string& url, const std::string& tenant) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : fmt::format("{}\n{}", url, tenant)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  const size_t begin = std::min(url.find("://"), url.size() - 3) + 3;
  std::string host = url.substr(begin, std::min(url.find('/', begin), url.size()) - begin);
  std::ranges::replace_if(
      host, [](char c) { return !is_letter(c) && !is_digit(c) && c != '.'; }, '_');
  if (host.starts_with('.')) host.front() = '_';
  return fmt::format("{}-{:016x}", host.substr(0, 100), hash);
}

Result<Spool> Spool::open(const std::string& directory, uint64_t most_bytes) {
  Spool spool;
  spool.directory_ = directory;
  spool.most_bytes_ = most_bytes;
  if (const int error = make_directories(directory); error != 0) {
    spool.disk_error_ = error;
    if (is_lack_of_room(error)) return spool;
    return Error{Error::Kind::not_found, fmt::format("{}: {}", directory, strerror(error))};
  }
  if (!OwnDirectory::open(directory)) {
    return Error{Error::Kind::not_found,
                 directory + " must be a directory of yours that nobody else may write to"};
  }
  spool.adopt();
  if (!spool.begin_own() && !is_lack_of_room(spool.disk_error_)) {
    return Error{Error::Kind::not_found,
                 fmt::format("{}: {}", directory, strerror(spool.disk_error_))};
  }
  return spool;
}

void Spool::adopt() {
  std::set<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    if (!entry.path().filename().string().starts_with('.')) found.insert(entry.path().string());
  }
  for (const std::string& directory : found) {
    if (own_ && own_->directory() == directory) continue;
    const auto known = [&](const SpoolQueue& queue) { return queue.directory() == directory; };
    if (std::ranges::any_of(left_, known)) continue;
    if (std::optional<SpoolQueue> queue = SpoolQueue::adopt(directory)) {
      left_.push_back(std::move(*queue));
    }
  }
  keep_bounds();
}

bool Spool::begin_own() {
  const auto now_ms = static_cast<int64_t>(unix_now_s() * 1000);
  for (int more = 0; more < 100 && !own_; ++more) {
    const std::string name = fmt::format("{}/{:013}-{}-{:02}", directory_, now_ms, getpid(), more);
    own_ = SpoolQueue::create(name, disk_error_);
    if (disk_error_ != EEXIST && disk_error_ != ENOTEMPTY) break;
  }
  if (own_) disk_error_ = 0;
  return own_.has_value();
}

bool Spool::to_disk(const Frame& frame) {
  if (!own_ && !begin_own()) return false;
  disk_error_ = own_->append(frame);
  return disk_error_ == 0;
}

void Spool::append(Frame frame) {
  while (!lent_ && !memory_.empty() && to_disk(memory_.front())) {
    memory_bytes_ -= memory_.front().body.size();
    memory_.pop_front();
  }
  if (!memory_.empty() || !to_disk(frame)) {
    memory_bytes_ += frame.body.size();
    memory_.push_back(std::move(frame));
  }
  keep_bounds();
}

void Spool::keep_bounds() {
  while (bytes() > most_bytes_) {
    const auto first = std::ranges::find_if(left_, [](auto& queue) { return queue.bytes() > 0; });
    dropped_ += first == left_.end() ? own_->drop_segment() : first->drop_segment();
  }
  while (memory_bytes_ > kMemoryBytes && memory_.size() > 1) {
    const auto oldest = memory_.begin() + (lent_ ? 1 : 0);
    dropped_ += oldest->samples;
    memory_bytes_ -= oldest->body.size();
    memory_.erase(oldest);
  }
}

std::optional<Spool::Pending> Spool::oldest() {
  const auto of = [](SpoolQueue& queue) -> std::optional<Pending> {
    std::optional<SpoolQueue::Oldest> oldest = queue.oldest();
    if (!oldest) return std::nullopt;
    Pending pending{.frame = oldest->frame, .on_disk = {}, .queue = queue.directory()};
    pending.on_disk = std::move(oldest);
    return pending;
  };
  while (!left_.empty()) {
    if (std::optional<Pending> pending = of(left_.front())) return pending;
    damaged_ += left_.front().damaged();
    left_.front().remove();
    left_.erase(left_.begin());
  }
  if (own_) {
    if (std::optional<Pending> pending = of(*own_)) return pending;
  }
  if (memory_.empty()) return std::nullopt;
  lent_ = true;
  return Pending{.frame = memory_.front(), .on_disk = {}, .queue = {}};
}

void Spool::done(const Pending& pending) {
  if (!pending.on_disk) {
    lent_ = false;
    if (memory_.empty()) return;
    memory_bytes_ -= memory_.front().body.size();
    memory_.pop_front();
    return;
  }
  for (SpoolQueue& queue : left_) {
    if (queue.directory() == pending.queue) queue.done(*pending.on_disk);
  }
  if (own_ && own_->directory() == pending.queue) own_->done(*pending.on_disk);
}

uint64_t Spool::waiting_samples() const {
  uint64_t all = own_ ? own_->waiting_samples() : 0;
  for (const SpoolQueue& queue : left_) all += queue.waiting_samples();
  for (const Frame& frame : memory_) all += frame.samples;
  return all;
}

uint64_t Spool::bytes() const {
  uint64_t all = own_ ? own_->bytes() : 0;
  for (const SpoolQueue& queue : left_) all += queue.bytes();
  return all;
}

uint64_t Spool::damaged_segments() const {
  uint64_t all = damaged_ + (own_ ? own_->damaged() : 0);
  for (const SpoolQueue& queue : left_) all += queue.damaged();
  return all;
}

void Spool::settle() {
  while (!memory_.empty() && to_disk(memory_.front())) memory_.pop_front();
  for (const Frame& frame : memory_) dropped_ += frame.samples;
  memory_.clear();
  memory_bytes_ = 0;
}

void Spool::close() {
  if (own_ && !own_->oldest()) own_->remove();
  own_.reset();
  left_.clear();
}

}  // namespace plateau::push
