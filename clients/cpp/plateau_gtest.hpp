// SPDX-License-Identifier: Apache-2.0
// Tests that fail when memory grows, for GoogleTest. One header, C++17, Linux.
//
//   TEST(Server, ARequestLeavesNothingBehind) {
//     Server server;
//     EXPECT_PLATEAU(1000, 50, server.handle(request()));  // At most 1000 bytes per call, over 50
//     calls.
//   }
//
// The statement is called until it is known whether a call leaves memory behind; ASSERT_PLATEAU
// ends the test where EXPECT_PLATEAU goes on. growth_of(call, options) measures and returns the
// figures.
//
// Method, as in clients/python/plateau_in_tests/growth.py: after a warm-up, up to 20 readings over
// `calls` calls; the growth per call is the median slope over all pairs of readings, which a late
// one-off does not move, with the interval of Kendall's rank test. Read are the anonymous memory of
// the process and the bytes that malloc has handed out. Growth above the limit is looked at again
// over twice and four times as many calls, so that a cache that fills is no leak: the test fails if
// the last stretch still grows. A passing test pays for one stretch.
//
// Under AddressSanitizer and ThreadSanitizer freed memory stays resident on purpose; there the
// bytes that the sanitizer's allocator counts as alive are read instead.
//
// Blind spots: a cache that takes more than seven times `calls` to fill; other processes and GPUs;
// growth below `hidden` bytes per call. The call stack is told by `plateau run --heap`, as the
// message says.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PLATEAU_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define PLATEAU_SANITIZED 1
#endif
#endif
#ifdef PLATEAU_SANITIZED
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace plateau {

struct GrowthOptions {
  double max_growth_bytes = 0;  // Allowed per call.
  int calls = 50;               // Of the first stretch; at least 12.
  int warmup = 5;               // Calls before it.
  double patience_s = 60;       // No stretch is begun that is expected to end later.
};

enum class GrowthWord { level, grows, undecided };

// Bytes per call.
struct Growth {
  GrowthWord word = GrowthWord::level;
  double mid = 0, low = 0, high = 0;  // The estimate and its 95 % interval.
  double allowed = 0;
  double hidden = 0;        // Growth below this would not have been seen.
  int over = 0;             // Calls of the stretch that decided.
  int calls = 0;            // All that were measured.
  const char* source = "";  // What was read.
};

namespace growth_detail {

struct Source {
  const char* name;
  double (*read)();
  double floor_bytes;  // Less over a whole stretch is noise: pages touched at leisure, chunks kept
                       // per thread.
};

// A field of smaps_rollup in bytes, 0 if it is not there. `name` ends in its colon.
inline double rollup_field(const char* text, const char* name) {
  const char* found = std::strstr(text, name);
  return found == nullptr ? 0 : 1024.0 * std::strtod(found + std::strlen(name), nullptr);
}

// Anonymous memory, exact where statm is not. Allocates nothing.
inline double anonymous_bytes() {
  char text[4096];
  const int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t size = read(file, text, sizeof(text) - 1);
  close(file);
  text[std::max<ssize_t>(size, 0)] = '\0';
  return rollup_field(text, "\nAnonymous:") - rollup_field(text, "\nLazyFree:") +
         rollup_field(text, "\nSwap:");
}

#ifdef PLATEAU_SANITIZED
inline double sanitizer_bytes() {
  return static_cast<double>(__sanitizer_get_current_allocated_bytes());
}
inline std::vector<Source> sources() {
  return {{"bytes alive in the sanitizer's allocator", sanitizer_bytes, 4096}};
}
#else
inline double malloc_bytes() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
#else
  return 0;
#endif
}
inline std::vector<Source> sources() {
  return {{"anonymous memory of the process", anonymous_bytes, 64 * 1024.0},
          {"bytes in use of malloc", malloc_bytes, 4096}};
}
#endif

constexpr int kReadings = 20;
constexpr int kFewestCalls = 12;
constexpr double kMostSpentBytes =
    1e9;  // No stretch is begun that is expected to leave more behind.

struct Series {
  std::vector<double> calls;
  std::vector<std::vector<double>> values;  // By source.
};

// The slope of values[first..], with the ends of its interval, as a Growth without a word.
inline Growth slope(const std::vector<double>& calls, const std::vector<double>& values,
                    std::size_t first) {
  std::vector<double> slopes;
  for (std::size_t i = first; i < calls.size(); ++i) {
    for (std::size_t j = i + 1; j < calls.size(); ++j) {
      slopes.push_back((values[j] - values[i]) / (calls[j] - calls[i]));
    }
  }
  std::sort(slopes.begin(), slopes.end());
  const double n = static_cast<double>(calls.size() - first);
  const double pairs = static_cast<double>(slopes.size());
  const double half = 1.96 * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  const auto at = [&](double rank) {
    return slopes[static_cast<std::size_t>(std::min(std::max(rank, 0.0), pairs - 1))];
  };
  Growth growth;
  growth.low = at(std::floor((pairs - half) / 2));
  growth.mid = (at(std::floor((pairs - 1) / 2)) + at(std::floor(pairs / 2))) / 2;
  growth.high = at(std::ceil((pairs + half) / 2));
  growth.over = static_cast<int>(calls.back() - calls[first]);
  return growth;
}

// The worst source decides: growth first, then doubt.
inline Growth judge(const Series& series, double allowed, int calls, std::size_t first) {
  Growth worst;
  int worst_rank = -1;
  double hidden = 0;
  std::size_t number = 0;
  for (const Source& source : sources()) {
    Growth growth = slope(series.calls, series.values[number++], first);
    const bool noise = growth.mid * growth.over <= source.floor_bytes;
    int rank = 1;
    if (growth.low > allowed && !noise)
      rank = 2;
    else if (growth.high <= allowed || noise)
      rank = 0;
    growth.word = rank == 2   ? GrowthWord::grows
                  : rank == 1 ? GrowthWord::undecided
                              : GrowthWord::level;
    growth.source = source.name;
    hidden = std::max(hidden, std::max(growth.high, source.floor_bytes / growth.over));
    if (rank > worst_rank || (rank == worst_rank && growth.mid > worst.mid)) {
      worst = growth;
      worst_rank = rank;
    }
  }
  worst.allowed = allowed;
  worst.hidden = hidden;
  worst.calls = calls;
  return worst;
}

// Failures of the running test so far; a new one is the statement's own.
inline int failures() {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  if (test == nullptr || test->result()->Passed()) return 0;
  int count = 0;
  for (int i = 0; i < test->result()->total_part_count(); ++i) {
    count += test->result()->GetTestPartResult(i).failed() ? 1 : 0;
  }
  return count;
}

// Readings over `calls` calls; false if the statement failed.
template <typename Call>
bool stretch(Call& call, int calls, Series& series) {
  const std::vector<Source> read = sources();
  const int failures_before = failures();
  series.calls.clear();
  series.values.assign(read.size(), {});
  // All room beforehand: the readings must not be what grows.
  series.calls.reserve(kReadings + 2);
  for (std::vector<double>& values : series.values) values.reserve(kReadings + 2);
  int mark = 0;
  for (int done = 0; done <= calls; ++done) {
    if (done > 0) call();
    if (failures() != failures_before) return false;
    if (done != mark * calls / kReadings && done != calls) continue;
    while (mark * calls / kReadings <= done) ++mark;
    series.calls.push_back(done);
    for (std::size_t i = 0; i < read.size(); ++i) series.values[i].push_back(read[i].read());
  }
  return true;
}

inline std::string bytes_text(double bytes) {
  char text[32];
  const double size = std::abs(bytes);
  if (size >= 999.5e3)
    std::snprintf(text, sizeof(text), "%.3g MB", bytes / 1e6);
  else if (size >= 999.5)
    std::snprintf(text, sizeof(text), "%.3g kB", bytes / 1e3);
  else
    std::snprintf(text, sizeof(text), "%.0f B", bytes);
  return text;
}

// How to run this one test under the tracer.
inline std::string command() {
  char program[4096];
  const ssize_t size = readlink("/proc/self/exe", program, sizeof(program));
  std::string text = "plateau run --heap -o growth.plateau -- ";
  text += size > 0 ? std::string(program, static_cast<std::size_t>(size)) : std::string("PROGRAM");
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  if (test != nullptr)
    text += std::string(" --gtest_filter=") + test->test_suite_name() + "." + test->name();
  return text + "\n  plateau profile growth.plateau";
}

}  // namespace growth_detail

// What a failing test says.
inline std::string describe(const Growth& growth) {
  using growth_detail::bytes_text;
  return "memory grew by " + bytes_text(growth.mid) + " per call (" + bytes_text(growth.low) +
         " to " + bytes_text(growth.high) + ") over the last " + std::to_string(growth.over) +
         " of " + std::to_string(growth.calls) + " calls; allowed: " + bytes_text(growth.allowed) +
         " per call\n  read from: " + growth.source + "\n  the call stack is told by\n  " +
         growth_detail::command();
}

// Calls `call` until it is known whether it leaves memory behind. If it records a failure of its
// own, the calls end, and the growth so far is not judged.
template <typename Call>
Growth growth_of(Call&& call, const GrowthOptions& options) {
  const int calls = std::max(options.calls, growth_detail::kFewestCalls);
  growth_detail::Series series;
  const int failures_before = growth_detail::failures();
  for (int i = 0; i < options.warmup && growth_detail::failures() == failures_before; ++i) call();
  const auto began = std::chrono::steady_clock::now();
  Growth growth;
  int made = 0;
  for (const int length : {1, 2, 4}) {
    const int now = length * calls;
    if (growth_detail::failures() != failures_before || !growth_detail::stretch(call, now, series))
      return Growth();
    made += now;
    growth = growth_detail::judge(series, options.max_growth_bytes, made, 0);
    if (growth.word == GrowthWord::level) return growth;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
    const bool too_dear = 2.0 * now * growth.high > growth_detail::kMostSpentBytes;
    if (too_dear || 3 * spent.count() > options.patience_s) {
      // Then the second half of the first stretch has to say the same.
      const Growth later =
          growth_detail::judge(series, options.max_growth_bytes, made, series.calls.size() / 2);
      return length > 1 || later.word == GrowthWord::grows ? growth : later;
    }
  }
  return growth;
}

// For EXPECT_TRUE and ASSERT_TRUE. Doubt is no failure.
template <typename Call>
::testing::AssertionResult stays_level(Call&& call, const GrowthOptions& options) {
  const Growth growth = growth_of(std::forward<Call>(call), options);
  if (growth.word != GrowthWord::grows) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << describe(growth);
}

inline GrowthOptions allowing(double max_growth_bytes, int calls) {
  GrowthOptions options;
  options.max_growth_bytes = max_growth_bytes;
  options.calls = calls;
  return options;
}

}  // namespace plateau

// (bytes allowed per call, calls, statement)
#define EXPECT_PLATEAU(max_growth_bytes, calls, ...) \
  EXPECT_TRUE(                                       \
      ::plateau::stays_level([&] { __VA_ARGS__; }, ::plateau::allowing(max_growth_bytes, calls)))
#define ASSERT_PLATEAU(max_growth_bytes, calls, ...) \
  ASSERT_TRUE(                                       \
      ::plateau::stays_level([&] { __VA_ARGS__; }, ::plateau::allowing(max_growth_bytes, calls)))
