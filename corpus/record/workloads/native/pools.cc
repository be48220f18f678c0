// SPDX-License-Identifier: Apache-2.0
// Pools, arenas and tables that manage memory of their own: mode=
//   0 pool: blocks come from slabs that double; demand wanders below `limit` blocks, and a freed
//   block
//     is used again; 1: one of some blocks is never given back.
//   2 arena: a bump arena, reset at each step, whose room follows the largest step so far (sizes up
//   to
//     `limit` parts); 3: what a step marks as kept is never reset.
//   4 store: a table in memory is sealed when it is full and merged down; at most `limit` sealed
//   ones
//     of each of three levels; 5: merged tables stay referenced.
//   6 free list: buffers of `limit` sizes wait on a list per size for the next use; 7: the sizes
//   never
//     repeat, so that no buffer on the list ever fits.
//   8 mappings: the last `limit` anonymous mappings; 9: none is ever unmapped.
// `count` blocks of `bytes` come at each step.
#include <sys/mman.h>

#include <cmath>

#include "steps.h"

namespace {

class Pool : Parameters {
 public:
  using Parameters::Parameters;
  void step(Job& job, int step) {
    const double wave = 0.5 + 0.5 * std::sin(step * 0.11) * job.uniform(0.6, 1.0);
    const double rise = std::min(1.0, step / job.get("rise", 100));
    const auto wanted = static_cast<size_t>(limit * rise * wave);
    while (used_.size() < wanted) used_.push_back(take());
    while (used_.size() > wanted) {
      free_.push_back(used_.back());
      used_.pop_back();
    }
    for (size_t i = 0; leaks && i < count; ++i) {
      std::memset(take(), 0x5a, bytes);
      job.leak(bytes);
    }
    if (!leaks && made_ >= limit) job.growth_ends(step);
  }

 private:
  char* take() {
    if (free_.empty()) {
      slabs_.push_back(Job::filled(slab_blocks_ * bytes));
      for (size_t i = 0; i < slab_blocks_; ++i) free_.push_back(slabs_.back().get() + i * bytes);
      made_ += slab_blocks_;
      slab_blocks_ *= 2;
    }
    char* block = free_.back();
    free_.pop_back();
    return block;
  }
  size_t slab_blocks_ = 16, made_ = 0;
  std::vector<std::unique_ptr<char[]>> slabs_;
  std::vector<char*> free_, used_;
};

class Arena : Parameters {
 public:
  using Parameters::Parameters;
  void step(Job& job, int step) {
    std::exponential_distribution<double> size(job.get("tail", 6));
    const double share = std::min(1.0, size(job.random()));
    const size_t needed = kept_ + static_cast<size_t>(share * limit) * bytes;
    if (needed > room_) {
      arena_.reset();
      arena_ = Job::filled(needed);
      room_ = needed;
    }
    if (leaks) {
      kept_ += bytes;
      job.leak(bytes);
    } else if (share == 1.0) {
      job.growth_ends(step);
    }
  }

 private:
  std::unique_ptr<char[]> arena_;
  size_t room_ = 0, kept_ = 0;
};

class Store : Parameters {
 public:
  using Parameters::Parameters;
  void step(Job& job, int step) {
    for (size_t i = 0; i < count; ++i) table_.push_back(Job::filled(bytes));
    if (table_.size() < count * 8) return;
    table_.clear();
    levels_[0].push_back(Job::filled(bytes * count));
    for (int level = 0; level < 3; ++level) {
      if (levels_[level].size() <= limit) continue;
      levels_[level].clear();
      if (level < 2) levels_[level + 1].push_back(Job::filled(bytes * count * (level + 2)));
      if (level == 2 && !leaks) job.growth_ends(step);
    }
    if (!leaks) return;
    referenced_.push_back(Job::filled(bytes * count));
    job.leak(bytes * count);
  }

 private:
  std::vector<std::unique_ptr<char[]>> table_, levels_[3], referenced_;
};

class FreeList : Parameters {
 public:
  using Parameters::Parameters;
  void step(Job& job, int step) {
    std::vector<std::pair<size_t, std::unique_ptr<char[]>>> used;
    const size_t first = job.random()() % limit;
    for (size_t i = 0; i < count; ++i) {
      const size_t number = leaks ? next_++ : (first + i) % limit;
      const size_t size = bytes / 2 + (leaks ? number % bytes : bytes * number / limit);
      auto& list = lists_[leaks ? number : size];
      if (list.empty()) {
        list.push_back(Job::filled(size));
        if (leaks) job.leak(size);
      }
      used.emplace_back(leaks ? number : size, std::move(list.back()));
      list.pop_back();
    }
    for (auto& [key, buffer] : used) lists_[key].push_back(std::move(buffer));
    if (!leaks && lists_.size() == limit) job.growth_ends(step);
  }

 private:
  std::map<size_t, std::vector<std::unique_ptr<char[]>>> lists_;
  size_t next_ = 0;
};

class Mappings : Parameters {
 public:
  using Parameters::Parameters;
  void step(Job& job, int step) {
    for (size_t i = 0; i < count; ++i) {
      void* made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      std::memset(made, 0x5a, bytes);
      made_.push_back(made);
      if (leaks) job.leak(bytes);
      if (leaks || made_.size() <= limit) continue;
      munmap(made_.front(), bytes);
      made_.pop_front();
      job.growth_ends(step);
    }
  }

 private:
  std::deque<void*> made_;
};

}  // namespace

int main(int argc, char** argv) {
  Job job(argc, argv);
  switch (mechanism_of(job)) {
    case 0:
      run<Pool>(job);
      break;
    case 1:
      run<Arena>(job);
      break;
    case 2:
      run<Store>(job);
      break;
    case 3:
      run<FreeList>(job);
      break;
    default:
      run<Mappings>(job);
  }
}
