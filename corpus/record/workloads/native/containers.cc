// SPDX-License-Identifier: Apache-2.0
// Containers of a long-running program, each with a bound and without: mode=
//   0 vector: a vector that doubles its room, filled up to `limit` items; 1: without limit.
//   2 tree: a sorted map where each insert beyond `limit` entries deletes an old one; 3: deletes
//     only mark the entry, and nobody sweeps.
//   4 trie: `limit` words in turn, one node per letter; 5: words never repeat.
//   6 cycles: pairs of shared pointers that refer to each other, cut open after `limit` steps;
//   7: never cut open, so that no count falls to zero.
// `count` items of `bytes` come at each step.
#include <array>

#include "steps.h"

namespace {

class Vector : Parameters {
 public:
  using Parameters::Parameters;
  void step(Job& job, int step) {
    for (size_t i = 0; i < count * bytes / 8; ++i) {
      if (!leaks && items_.size() >= limit * bytes / 8) {
        job.growth_ends(step);
        return;
      }
      items_.push_back(i);
      if (leaks) job.leak(8);
    }
  }

 private:
  std::vector<uint64_t> items_;
};

class Tree : Parameters {
 public:
  using Parameters::Parameters;
  void step(Job& job, int step) {
    for (size_t i = 0; i < count; ++i) {
      const uint64_t key = job.random()() * 4294967296.0 + static_cast<double>(job.random()());
      order_.push_back(key);
      entries_[key] = Job::filled(bytes);
      if (leaks) job.leak(bytes);
      if (leaks || entries_.size() <= limit) continue;
      entries_.erase(order_.front());
      order_.pop_front();
      job.growth_ends(step);
    }
    if (leaks) order_.clear();
  }

 private:
  std::map<uint64_t, std::unique_ptr<char[]>> entries_;
  std::deque<uint64_t> order_;
};

class Trie : Parameters {
 public:
  using Parameters::Parameters;
  void step(Job& job, int step) {
    for (size_t i = 0; i < count; ++i) {
      const uint64_t word = leaks ? next_++ : next_++ % limit;
      if (!leaks && next_ > limit) job.growth_ends(step);
      Node* node = &root_;
      std::mt19937_64 letters(word);
      for (size_t depth = 0; depth < bytes / sizeof(Node) + 3; ++depth) {
        auto& child = node->children[letters() % 8];
        if (!child) {
          child = std::make_unique<Node>();
          if (leaks) job.leak(sizeof(Node));
        }
        node = child.get();
      }
    }
  }

 private:
  struct Node {
    std::array<std::unique_ptr<Node>, 8> children;
  };
  Node root_;
  uint64_t next_ = 0;
};

class Cycles : Parameters {
 public:
  using Parameters::Parameters;
  void step(Job& job, int step) {
    for (size_t i = 0; i < count; ++i) {
      auto one = std::make_shared<Half>(), other = std::make_shared<Half>();
      one->body = Job::filled(bytes);
      one->other = other;
      other->other = one;
      if (leaks) {
        job.leak(bytes + 2 * sizeof(Half));
      } else {
        pairs_.push_back(std::move(one));
      }
    }
    while (!leaks && pairs_.size() > limit * count) {
      pairs_.front()->other->other = nullptr;
      pairs_.pop_front();
      job.growth_ends(step);
    }
  }

 private:
  struct Half {
    std::shared_ptr<Half> other;
    std::unique_ptr<char[]> body;
  };
  std::deque<std::shared_ptr<Half>> pairs_;
};

}  // namespace

int main(int argc, char** argv) {
  Job job(argc, argv);
  switch (mechanism_of(job)) {
    case 0:
      run<Vector>(job);
      break;
    case 1:
      run<Tree>(job);
      break;
    case 2:
      run<Trie>(job);
      break;
    default:
      run<Cycles>(job);
  }
}
