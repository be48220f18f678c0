// SPDX-License-Identifier: Apache-2.0
#include "probe/fd_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

#include "base/proc_fields.h"
#include "base/text.h"

namespace plateau {
namespace {

constexpr double kEarlySeconds = 60;
constexpr double kEveryEarlySeconds = 0.5;

bool take_hex(std::string_view text, unsigned int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::vector<InodeKey> parse_mapped_inodes(std::string_view maps) {
  std::vector<InodeKey> inodes;
  while (!maps.empty()) {
    std::string_view line = take_line(maps);
    // "7f1c-7f2d rw-s 00000000 00:01 1024   /memfd:x (deleted)"
    next_word(line);
    next_word(line);
    next_word(line);
    const std::string_view device = next_word(line);
    const auto inode = parse_int(next_word(line));
    const size_t colon = device.find(':');
    if (!inode || *inode <= 0 || colon == std::string_view::npos) continue;
    unsigned int major_number = 0;
    unsigned int minor_number = 0;
    if (!take_hex(device.substr(0, colon), major_number) ||
        !take_hex(device.substr(colon + 1), minor_number)) {
      continue;
    }
    const InodeKey key{makedev(major_number, minor_number), static_cast<uint64_t>(*inode)};
    if (inodes.empty() || inodes.back() != key) inodes.push_back(key);
  }
  return inodes;
}

bool is_shared_memory_link(std::string_view link) {
  return link.starts_with("/memfd:") || link.starts_with("/dev/shm/");
}

void FdScan::list(size_t index, Member& member,
                  const std::function<void(const Member&, int error)>& forbidden) {
  Fd directory = member.dir.open("fd", O_RDONLY | O_DIRECTORY);
  // Without a descriptor to look with, what was seen last stands.
  if (!directory && (errno == EMFILE || errno == ENFILE)) return;
  member.figures.fds = kUnread;
  member.figures.shmem_unmapped_kb = kUnread;
  if (!directory) {
    if (errno == EACCES || errno == EPERM) forbidden(member, errno);
    return;
  }
  const int fd = directory.get();
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(fd), closedir);
  if (!listing) return;
  directory.release();  // The stream owns it now.
  int64_t count = 0;
  std::array<char, 256> link{};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one stream, one thread.
  while (const dirent* entry = readdir(listing.get())) {
    if (!is_digit(entry->d_name[0])) continue;
    ++count;
    const ssize_t length = readlinkat(fd, entry->d_name, link.data(), link.size());
    if (length <= 0) continue;
    if (!is_shared_memory_link({link.data(), static_cast<size_t>(length)})) continue;
    struct stat file{};
    if (fstatat(fd, entry->d_name, &file, 0) != 0 || !S_ISREG(file.st_mode)) continue;
    held_.push_back({{file.st_dev, file.st_ino}, file.st_blocks / 2, index});
  }
  member.figures.fds = count;
  member.figures.shmem_unmapped_kb = 0;
}

void FdScan::run(double now_s, std::vector<Member>& members, WalkBudget& budget,
                 const std::function<double()>& clock,
                 const std::function<void(const Member&, int error)>& forbidden) {
  const double begin_s = clock();
  double longest_s = 0;
  held_.clear();
  for (size_t i = 0; i < members.size(); ++i) list(i, members[i], forbidden);
  std::vector<InodeKey> mapped;
  for (size_t i = 0; i < members.size() && !held_.empty(); ++i) {
    Member& member = members[i];
    const bool holds =
        std::any_of(held_.begin(), held_.end(), [i](const Held& held) { return held.holder == i; });
    if (!holds && member.figures.shmem_kb <= 0) continue;
    const double read_s = clock();
    int error = 0;
    const std::string maps = member.dir.read_all("maps", error);
    const double took_s = clock() - read_s;
    budget.book(member.walk, took_s);
    longest_s = std::max(longest_s, took_s);
    const std::vector<InodeKey> found = parse_mapped_inodes(maps);
    mapped.insert(mapped.end(), found.begin(), found.end());
  }
  std::sort(mapped.begin(), mapped.end());
  // Members come in order, so the first holder of an inode stays in front.
  std::stable_sort(held_.begin(), held_.end(),
                   [](const Held& a, const Held& b) { return a.key < b.key; });
  for (size_t i = 0; i < held_.size(); ++i) {
    if (i > 0 && held_[i].key == held_[i - 1].key) continue;
    if (std::binary_search(mapped.begin(), mapped.end(), held_[i].key)) continue;
    members[held_[i].holder].figures.shmem_unmapped_kb += held_[i].kb;
  }
  const double cost_s = clock() - begin_s;
  if (first_s_ < 0) first_s_ = now_s;
  const bool early = now_s - first_s_ < kEarlySeconds;
  const double every_s = early ? std::min(every_s_, kEveryEarlySeconds) : every_s_;
  next_s_ = now_s + std::max({every_s, cost_s / walk_cpu_share_, longest_s / walk_share_});
}

}  // namespace plateau
