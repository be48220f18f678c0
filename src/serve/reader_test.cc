// SPDX-License-Identifier: Apache-2.0
#include "serve/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>

#include "base/clock.h"
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

}  // namespace
}  // namespace plateau
