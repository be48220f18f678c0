// SPDX-License-Identifier: Apache-2.0
// Shared memory that is in nobody's RSS: held open, but not mapped.
//
// Question. A memfd or an unlinked file in /dev/shm lives for as long as somebody has it open. A
// loader that keeps such descriptors leaks memory that no RSS and no PSS shows: 192 MB in a memfd,
// unmapped, are 0 in every figure of every process. Who holds how much of it?
//
// Method. Every descriptor's link is read. For those that lead to a memfd or into /dev/shm, stat
// tells the inode and the blocks that are really allocated. An inode that a member maps is left to
// RSS and PSS; the others are counted once, at the first member that holds them. Whether it is
// mapped is in maps, which also takes the target's mmap lock, so maps is read only if there is such
// a descriptor at all, and only of members that hold one or that have shared memory in their RSS:
// a member with RssShmem 0 can map none of it that counts.
//
// Pace. In the first minute twice a second, because a short job is over before the tenth second and
// its leak would be a single stair; then every `every_s`. Never so often that its cost passes the
// shares of the walks: a scan that takes 5 ms at 0.5 % of a core comes once a second at most.
//
// Worked number. A worker holds 40 segments of 8 MB from batches that were never released and has
// the last two mapped: 38 x 8 = 304 MB unmapped; RssShmem says 16 MB.
//
// Blind spot. An inode that is mapped in part, or mapped by one process and never touched there,
// counts as mapped. Processes outside the job that map it are not asked.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "probe/member.h"
#include "probe/walk_budget.h"

namespace plateau {

// Device and inode: the name of a file that has none.
struct InodeKey {
  uint64_t device = 0;  // As makedev() packs it.
  uint64_t inode = 0;
  auto operator<=>(const InodeKey&) const = default;
};

// The files that /proc/PID/maps shows as mapped, each mapping once. Bytes may be anything.
std::vector<InodeKey> parse_mapped_inodes(std::string_view maps);

// Does a descriptor's link lead to shared memory: "/memfd:x (deleted)", "/dev/shm/torch_1"?
bool is_shared_memory_link(std::string_view link);

class FdScan {
 public:
  FdScan(double every_s, double walk_share, double walk_cpu_share)
      : every_s_(every_s), walk_share_(walk_share), walk_cpu_share_(walk_cpu_share) {}

  [[nodiscard]] bool due(double now_s) const { return now_s >= next_s_; }

  // Fills fds and shmem_unmapped_kb of all members' figures; kUnread where it is not permitted,
  // which `forbidden` is told. Time under mmap locks is booked. `clock` gives seconds.
  void run(double now_s, std::vector<Member>& members, WalkBudget& budget,
           const std::function<double()>& clock,
           const std::function<void(const Member&, int error)>& forbidden);

 private:
  struct Held {
    InodeKey key;
    int64_t kb = 0;
    size_t holder = 0;
  };
  void list(size_t index, Member& member,
            const std::function<void(const Member&, int error)>& forbidden);

  double every_s_;
  double walk_share_;
  double walk_cpu_share_;
  double first_s_ = -1;  // When the first scan ran; negative before it.
  double next_s_ = -1e300;
  std::vector<Held> held_;
};

}  // namespace plateau
