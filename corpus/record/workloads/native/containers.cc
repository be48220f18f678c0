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

struct Parameters {
  explicit Parameters(const Job& job)
      : mode(static_cast<int>(job.get("mode", 0))),
        limit(static_cast<size_t>(job.get("limit", 1000))),
        count(static_cast<size_t>(job.get("count", 100))),
        bytes(static_cast<size_t>(job.get("bytes", 100))) {}
  int mode;
  size_t limit, count, bytes;
  bool leaks() const { return mode % 2 == 1; }
};

class Vector {
 public:
  void step(Job& job, const Parameters& p, int step) {
    for (size_t i = 0; i < p.count * p.bytes / 8; ++i) {
      if (!p.leaks() && items_.size() >= p.limit * p.bytes / 8) {
        job.growth_ends(step);
        return;
      }
      items_.push_back(i);
      if (p.leaks()) job.leak(8);
    }
  }

 private:
  std::vector<uint64_t> items_;
};

class Tree {
 public:
  void step(Job& job, const Parameters& p, int step) {
    for (size_t i = 0; i < p.count; ++i) {
      const uint64_t key = job.random()() * 4294967296.0 + static_cast<double>(job.random()());
      order_.push_back(key);
      entries_[key] = Job::filled(p.bytes);
      if (p.leaks()) job.leak(p.bytes);
      if (p.leaks() || entries_.size() <= p.limit) continue;
      entries_.erase(order_.front());
      order_.pop_front();
      job.growth_ends(step);
    }
    if (p.leaks()) order_.clear();
  }

 private:
  std::map<uint64_t, std::unique_ptr<char[]>> entries_;
  std::deque<uint64_t> order_;
};

class Trie {
 public:
  void step(Job& job, const Parameters& p, int step) {
    for (size_t i = 0; i < p.count; ++i) {
      const uint64_t word = p.leaks() ? next_++ : next_++ % p.limit;
      if (!p.leaks() && next_ > p.limit) job.growth_ends(step);
      Node* node = &root_;
      std::mt19937_64 letters(word);
      for (size_t depth = 0; depth < p.bytes / sizeof(Node) + 3; ++depth) {
        auto& child = node->children[letters() % 8];
        if (!child) {
          child = std::make_unique<Node>();
          if (p.leaks()) job.leak(sizeof(Node));
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

class Cycles {
 public:
  void step(Job& job, const Parameters& p, int step) {
    for (size_t i = 0; i < p.count; ++i) {
      auto one = std::make_shared<Half>(), other = std::make_shared<Half>();
      one->body = Job::filled(p.bytes);
      one->other = other;
      other->other = one;
      if (p.leaks()) {
        job.leak(p.bytes + 2 * sizeof(Half));
      } else {
        pairs_.push_back(std::move(one));
      }
    }
    while (!p.leaks() && pairs_.size() > p.limit * p.count) {
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

template <class Mechanism>
void run(Job& job) {
  const Parameters parameters(job);
  Mechanism mechanism;
  for (int step = 1; step <= job.steps(); ++step) {
    job.train();
    mechanism.step(job, parameters, step);
    job.end_step(step);
  }
  job.done();
  std::fflush(stdout);
  std::_Exit(0);  // a deep trie is not taken apart
}

}  // namespace

int main(int argc, char** argv) {
  Job job(argc, argv);
  switch (static_cast<int>(job.get("mode", 0)) / 2) {
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
