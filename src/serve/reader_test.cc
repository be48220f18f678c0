// SPDX-License-Identifier: Apache-2.0
#include "serve/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>

#include "base/clock.h"
#include "base/files.h"
#include "base/proc_fields.h"
#include "serve/served_runs_for_test.h"

namespace plateau {
namespace {

using testing::HasSubstr;

// Until `truth` holds, at most a minute.
template <typename Truth>
bool comes_true(Reader& reader, Truth truth) {
  const double until_s = monotonic_now_s() + 60;
  while (monotonic_now_s() < until_s) {
    reader.news();
    if (truth()) return true;
    pollfd polled = {reader.fd(), POLLIN, 0};
    poll(&polled, 1, 50);
  }
  return false;
}

TEST(Reader, CatalogueComesWithTheWishAndStaysTheSameWhileNothingChanges) {
  const ScratchDirectory directory;
  InventedJob job(directory.file("a.plateau"), 0);
  job.steps(30);
  job.finish();
  ShelfOptions options;
  options.paths = {directory.path()};
  Reader reader(options);
  EXPECT_EQ(reader.catalogue()->find(""), nullptr);
  const uint64_t first = reader.ask({});
  ASSERT_TRUE(comes_true(reader, [&] { return reader.done(first); }));
  reader.news();
  const auto catalogue = reader.catalogue();
  ASSERT_NE(catalogue->find(""), nullptr);
  EXPECT_TRUE(catalogue->complete);
  EXPECT_THAT(catalogue->find("")->summary, HasSubstr("\"name\":\"a.plateau\""));
  EXPECT_EQ(catalogue->find("")->page.plain, nullptr);

  const uint64_t second = reader.ask({});
  ASSERT_TRUE(comes_true(reader, [&] { return reader.done(second); }));
  reader.news();
  EXPECT_EQ(reader.catalogue(), catalogue);

  const uint64_t page = reader.ask({Reader::Wish::Kind::page, ""});
  ASSERT_TRUE(comes_true(reader, [&] { return reader.done(page); }));
  reader.news();
  ASSERT_NE(reader.catalogue()->find("")->page.plain, nullptr);
  EXPECT_THAT(*reader.catalogue()->find("")->page.plain, HasSubstr("\"schema\":2"));
}

TEST(Reader, FileThatKeepsItForTooLongIsGivenUpAndTheOthersAreRead) {
  const ScratchDirectory directory;
  InventedJob(directory.file("slow.plateau"), 0).steps(30);
  InventedJob(directory.file("good.plateau"), 0).steps(30);
  std::filesystem::last_write_time(
      directory.file("good.plateau"),
      std::filesystem::file_time_type::clock::now() - std::chrono::seconds(100));
  ShelfOptions options;
  options.paths = {directory.path()};
  // The first file to be looked at keeps whoever reads it until the test is over.
  const auto release = std::make_shared<std::atomic<bool>>(false);
  const auto entered = std::make_shared<std::atomic<int>>(0);
  options.open_recordings = [release, entered]() -> std::vector<std::string> {
    if (entered->fetch_add(1) > 0) return {};
    while (!*release) poll(nullptr, 0, 5);
    return {};
  };
  Reader reader(options, 0.2);
  const uint64_t ticket = reader.ask({});
  EXPECT_TRUE(comes_true(reader, [&] { return reader.done(ticket); }));
  const uint64_t again = reader.ask({});
  EXPECT_TRUE(comes_true(reader, [&] { return reader.done(again); }));
  EXPECT_TRUE(comes_true(reader, [&] {
    const Catalogue& now = *reader.catalogue();
    return now.runs.size() == 2 && now.complete;
  }));
  *release = true;
}

// Sanitizers keep what is freed. GCC and clang each have a word of their own for them.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KEEPS_WHAT_IS_FREED
#endif
#endif
#if !defined(KEEPS_WHAT_IS_FREED) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

int64_t own_anon_kb() {
  const std::string status = text_of_file("/proc/self/status");
  int64_t kb = -1;
  each_field(status, [&kb](std::string_view key, std::string_view value) {
    if (key == "RssAnon") kb = static_cast<int64_t>(take_number(value).value_or(0));
    return kb < 0;
  });
  return kb;
}

// A job that forks a worker again and again: the table of such a run has a column for each.
void write_job_with_many_workers(const std::string& path) {
  constexpr int kRows = 3000;
  constexpr int kWorkers = 400;
  RecordingWriter writer =
      std::move(RecordingWriter::create(path, {.command = "python train.py"}).value());
  std::vector<size_t> columns;
  for (int i = 0; i < kWorkers; ++i) {
    const size_t process = writer.process(
        {.id = 100 + i, .id_is_pid = true, .name = "worker", .role = Role::data_worker}, 1);
    for (const Metric metric : {Metric::anon, Metric::rss}) {
      columns.push_back(writer.memory_column(process, metric));
    }
  }
  for (int row = 0; row < kRows; ++row) {
    Sample sample{.at = {.step = row, .time_s = 1.0 * row}};
    const size_t worker = static_cast<size_t>(row) * kWorkers / kRows;
    for (size_t metric = 0; metric < 2; ++metric) {
      sample.set_kb(columns[worker * 2 + metric], 50000 + row * 7919 % 131);
    }
    writer.row(sample);
  }
  writer.finish({.kind = Ending::Kind::exited, .code = 0});
}

TEST(Reader, KeepsTheAnswerAndThePageOfALargeRunAndNotItsTable) {
  constexpr int64_t kTableKb = int64_t{3000} * 400 * 2 * 8 / 1024;  // 18.8 MB
  const ScratchDirectory directory;
  write_job_with_many_workers(directory.file("a.plateau"));
  ShelfOptions options;
  options.paths = {directory.path()};
  const int64_t before_kb = own_anon_kb();
  Reader reader(options);
  for (const Reader::Wish::Kind kind : {Reader::Wish::Kind::list, Reader::Wish::Kind::page}) {
    const uint64_t ticket = reader.ask({kind, ""});
    ASSERT_TRUE(comes_true(reader, [&] { return reader.done(ticket); }));
    reader.news();
  }
  ASSERT_NE(reader.catalogue()->find("")->page.plain, nullptr);
  // Memory is given back right after the answer is handed over.
  ASSERT_TRUE(comes_true(reader, [&] { return own_anon_kb() - before_kb < kTableKb / 2; }))
      << own_anon_kb() - before_kb << " kB more";
}

#endif

}  // namespace
}  // namespace plateau
