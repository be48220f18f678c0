// SPDX-License-Identifier: Apache-2.0
// How samples become estimates. The tracer samples bytes as a Poisson process: a block of b bytes
// is seen with probability p = 1 - exp(-b / interval). A block that is seen stands for 1/p blocks,
// so that what is expected of the sum is what there is, whatever the mix of sizes. Worked example:
// at an interval of 512 KiB a block of 4 KiB is seen with p = 0.0078 and stands for 128.5 blocks
// (526 KB); one of 4 MiB is seen with p = 0.9997 and stands for itself.
// The variance of the estimate, itself estimated without bias from the blocks seen, is the sum of
// (1-p)/p^2 * b^2: 100 such blocks of 4 KiB alive give 52.6 MB +- 5.2 MB, one standard deviation.
// Blind spot: blocks that are freed before the next look are known only by what was allocated.
#include "heap/site_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace plateau {
namespace {

constexpr size_t kKeySlots = 65536;  // A quarter full at most.
static_assert(kKeySlots >= 4 * SiteTable::kMaxWorkingSites);

}  // namespace

BlockWeight weight_of(uint64_t bytes, unsigned note) {
  if (note == 0) return {};
  const double size = static_cast<double>(std::max<uint64_t>(bytes, 1));
  const double seen = -std::expm1(-std::ldexp(size, -static_cast<int>(note)));
  return {1 / seen, (1 - seen) / (seen * seen) * size * size};
}

size_t age_bucket(int64_t age) {
  if (age <= 0) return 0;
  const auto width = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(age)));
  return std::min(width, kAgeBuckets - 1);
}

SiteTable::SiteTable() : sites_(1), keys_(kKeySlots) {}

// The slot of the key, or the empty one where it would go.
size_t SiteTable::place(uint64_t stack, HeapKind kind) const {
  const uint64_t mixed = (stack + static_cast<uint64_t>(kind)) * 0x9E3779B97F4A7C15U;
  size_t at = mixed >> 48;
  static_assert(kKeySlots == size_t{1} << 16);
  while (keys_[at].site != kOthers && (keys_[at].stack != stack || keys_[at].kind != kind)) {
    at = (at + 1) % kKeySlots;
  }
  return at;
}

uint32_t SiteTable::find(uint64_t stack, HeapKind kind) const {
  const Key& key = keys_[place(stack, kind)];
  return key.site == kOthers ? kNone : key.site;
}

void SiteTable::index(uint32_t site) {
  const WorkingSite& added = sites_[site];
  keys_[place(added.stack, added.kind)] = {added.stack, site, added.kind};
}

uint32_t SiteTable::add(uint64_t stack, HeapKind kind, int32_t step) {
  const auto site = static_cast<uint32_t>(sites_.size());
  WorkingSite& added = sites_.emplace_back();
  added.stack = stack;
  added.kind = kind;
  added.first_step = step;
  index(site);
  return site;
}

std::vector<uint32_t> SiteTable::fold() {
  std::vector<uint32_t> order(sites_.size() - 1);
  std::iota(order.begin(), order.end(), 1U);
  const size_t kept = order.size() / 4;
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                   [&](uint32_t a, uint32_t b) {
                     if (sites_[a].live_bytes != sites_[b].live_bytes) {
                       return sites_[a].live_bytes > sites_[b].live_bytes;
                     }
                     return sites_[a].allocated_bytes > sites_[b].allocated_bytes;
                   });
  // Those that stay keep their order, and with it that of the cells of all rows.
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept));
  std::vector<uint32_t> moved(sites_.size(), kOthers);
  std::vector<WorkingSite> stay(1);
  stay.reserve(kMaxWorkingSites);
  stay[kOthers] = sites_[kOthers];
  for (size_t i = 0; i < order.size(); ++i) {
    const WorkingSite& site = sites_[order[i]];
    if (i < kept) {
      moved[order[i]] = static_cast<uint32_t>(stay.size());
      stay.push_back(site);
      continue;
    }
    WorkingSite& others = stay[kOthers];
    others.live_bytes += site.live_bytes;
    others.live_blocks += site.live_blocks;
    others.live_variance += site.live_variance;
    others.allocated_bytes += site.allocated_bytes;
    others.allocated_blocks += site.allocated_blocks;
    folded_max_bytes_ = std::max(folded_max_bytes_, site.live_bytes);
    ++folded_;
  }
  sites_.swap(stay);
  std::fill(keys_.begin(), keys_.end(), Key{});
  for (uint32_t site = 1; site < sites_.size(); ++site) index(site);
  return moved;
}

}  // namespace plateau
