// SPDX-License-Identifier: Apache-2.0
// What all C++ workloads share: parameters, steps, the noise of a training job, the account.
//
// The words are those of steps.py: `STEP n` at each step end, then one line of answer is awaited,
// and `DONE leaked=bytes ended=step` at the end.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

class Job {
 public:
  Job(int argc, char** argv) : random_(1) {
    for (int i = 1; i < argc; ++i) {
      std::string pair = argv[i];
      auto equals = pair.find('=');
      values_[pair.substr(0, equals)] = std::stod(pair.substr(equals + 1));
    }
    random_.seed(static_cast<unsigned>(get("seed", 1)));
    for (int i = 0; i < get("model_mb", 40); ++i) model_.push_back(filled(1 << 20));
  }

  double get(const std::string& key, double otherwise) const {
    auto found = values_.find(key);
    return found == values_.end() ? otherwise : found->second;
  }
  int steps() const { return static_cast<int>(get("steps", 200)); }
  std::mt19937& random() { return random_; }
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

  // Makes the temporary allocations of one step: bounded, of varying size.
  void train() {
    prefetched_.push_back(
        filled(static_cast<size_t>(uniform(0.05, 0.5) * get("noise_mb", 4) * (1 << 20))));
    if (prefetched_.size() > 4) prefetched_.pop_front();
    std::vector<std::unique_ptr<char[]>> scratch;
    for (int i = 0; i < 60; ++i) scratch.push_back(filled(static_cast<size_t>(uniform(64, 40000))));
    std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<int>(get("pace_ms", 12))));
  }

  // Lets the recorder sample, and waits until it has.
  void end_step(int step, const char* event = "") {
    std::printf("STEP %d %s\n", step, event);
    std::fflush(stdout);
    char answer[16];
    if (!std::fgets(answer, sizeof answer, stdin)) std::exit(1);
  }

  void leak(uint64_t bytes) { leaked_ += bytes; }
  void growth_ends(int step) {
    if (ended_ < 0) ended_ = step;
  }
  void done() {
    std::string ended = ended_ < 0 ? "never" : std::to_string(ended_);
    std::printf("DONE leaked=%llu ended=%s\n", static_cast<unsigned long long>(leaked_),
                ended.c_str());
    std::fflush(stdout);
  }

  // Returns a buffer whose pages are really touched.
  static std::unique_ptr<char[]> filled(size_t size) {
    std::unique_ptr<char[]> buffer(new char[size]);
    std::memset(buffer.get(), 0x5a, size);
    return buffer;
  }

 private:
  std::map<std::string, double> values_;
  std::mt19937 random_;
  std::vector<std::unique_ptr<char[]>> model_;
  std::deque<std::unique_ptr<char[]>> prefetched_;
  uint64_t leaked_ = 0;
  int ended_ = -1;
};

// What a program of several mechanisms is told; each mechanism derives from it.
struct Parameters {
  explicit Parameters(const Job& job)
      : limit(static_cast<size_t>(job.get("limit", 100))),
        count(static_cast<size_t>(job.get("count", 4))),
        bytes(static_cast<size_t>(job.get("bytes", 1000))),
        leaks(static_cast<int>(job.get("mode", 0)) % 2 == 1) {}
  size_t limit, count, bytes;
  bool leaks;  // Of each mechanism's two modes the second one does.
};

// Which of the mechanisms a program is asked for.
inline int mechanism_of(const Job& job) {
  return static_cast<int>(job.get("mode", 0)) / 2;
}

template <class Mechanism>
void run(Job& job) {
  Mechanism mechanism(job);
  for (int step = 1; step <= job.steps(); ++step) {
    job.train();
    mechanism.step(job, step);
    job.end_step(step);
  }
  job.done();
  std::_Exit(0);  // What is left is not taken apart: a deep trie would overflow the stack.
}
