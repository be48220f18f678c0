// SPDX-License-Identifier: Apache-2.0
#include "serve/shelf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "base/clock.h"
#include "serve/gzip.h"
#include "serve/served_runs_for_test.h"

namespace plateau {
namespace {

using testing::HasSubstr;

ShelfOptions serving(std::vector<std::string> paths) {
  ShelfOptions options;
  options.paths = std::move(paths);
  return options;
}

void age(const std::string& path, int seconds) {
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() - std::chrono::seconds(seconds));
}

TEST(Shelf, ListsRecordingsOfADirectoryNewestFirst) {
  const ScratchDirectory directory;
  for (const char* name : {"old.plateau", "new.plateau"}) {
    InventedJob job(directory.file(name), 0);
    job.steps(30);
    job.finish();
  }
  age(directory.file("old.plateau"), 1000);
  age(directory.file("new.plateau"), 100);
  std::ofstream(directory.file("notes.txt")) << "Step 1: 100 MB\n";
  Shelf shelf(serving({directory.path()}));
  shelf.look(60);
  const std::vector<const RunFacts*> runs = shelf.runs();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0]->name, "new.plateau");
  EXPECT_EQ(runs[1]->name, "old.plateau");
  EXPECT_NE(runs[0]->id, runs[1]->id);
  EXPECT_FALSE(runs[0]->live);
  EXPECT_EQ(shelf.find(""), runs[0]);
  EXPECT_EQ(shelf.find(runs[1]->id), runs[1]);
  EXPECT_EQ(shelf.find("nonsense"), nullptr);
}

TEST(Shelf, FileThatDidNotChangeIsNotReadAgain) {
  const ScratchDirectory directory;
  InventedJob job(directory.file("a.plateau"), 0);
  job.steps(30);
  job.finish();
  Shelf shelf(serving({directory.path()}));
  shelf.look(60);
  const uint64_t version = shelf.find("")->version;
  shelf.look(60, true);
  shelf.look(60, true);
  EXPECT_EQ(shelf.find("")->version, version);
}

TEST(Shelf, GrowingFileGetsANewVersion) {
  const ScratchDirectory directory;
  InventedJob job(directory.file("a.plateau"), 10);
  job.steps(30);
  Shelf shelf(serving({directory.path()}));
  shelf.look(60);
  const uint64_t version = shelf.find("")->version;
  EXPECT_TRUE(shelf.find("")->live);
  EXPECT_EQ(shelf.find("")->verdict->last_step, 30);
  job.steps(5);
  shelf.look(60, true);
  EXPECT_GT(shelf.find("")->version, version);
  EXPECT_EQ(shelf.find("")->verdict->last_step, 35);
  job.finish();
  shelf.look(60, true);
  EXPECT_FALSE(shelf.find("")->live) << "a job that has ended is not live, however fresh its file";
}

TEST(Shelf, ChangedFileIsLeftAloneForAWhile) {
  const ScratchDirectory directory;
  InventedJob job(directory.file("a.plateau"), 10);
  job.steps(30);
  Shelf shelf(serving({directory.path()}));
  const double before_s = monotonic_now_s();
  shelf.look(60);
  const uint64_t version = shelf.find("")->version;
  job.steps(5);
  shelf.look(60);
  // A machine so slow that the rest has passed by now says nothing about it.
  if (monotonic_now_s() - before_s < Shelf::kLeastRestS) {
    EXPECT_EQ(shelf.find("")->version, version);
  }
}

TEST(Shelf, UnreadableFileIsListedWithItsTrouble) {
  const ScratchDirectory directory;
  std::ofstream(directory.file("bad.plateau")) << "no recording at all";
  Shelf shelf(serving({directory.path(), directory.file("missing.log")}));
  shelf.look(60);
  ASSERT_EQ(shelf.runs().size(), 2U);
  for (const RunFacts* run : shelf.runs()) {
    EXPECT_FALSE(run->verdict) << run->name;
    EXPECT_NE(run->trouble, "") << run->name;
    EXPECT_THAT(run_summary_json(*run, false), HasSubstr("\"word\":null"));
    EXPECT_FALSE(shelf.page(run->id));
  }
}

TEST(Shelf, RecordingThatSomebodyHoldsOpenIsLive) {
  const ScratchDirectory directory;
  const std::string path = directory.file("slow.plateau");
  InventedJob job(path, 0);
  job.steps(30);
  age(path, 1000);
  ShelfOptions options = serving({path});
  bool open = true;
  options.open_recordings = [&] {
    return open ? std::vector<std::string>{std::filesystem::canonical(path).string()}
                : std::vector<std::string>{};
  };
  Shelf shelf(options);
  shelf.look(60);
  EXPECT_TRUE(shelf.find("")->live);
  open = false;
  Shelf later(options);
  later.look(60);
  EXPECT_FALSE(later.find("")->live);
}

TEST(Shelf, FilesThatMayComeAreNotListedBefore) {
  const ScratchDirectory directory;
  ShelfOptions options;
  options.later = {directory.file("first.plateau"), directory.file("first.2.plateau")};
  Shelf shelf(options);
  shelf.look(60);
  EXPECT_TRUE(shelf.runs().empty());
  EXPECT_EQ(shelf.find(""), nullptr);
  InventedJob job(options.later[0], 0);
  job.steps(3);
  shelf.look(60, true);
  EXPECT_EQ(shelf.runs().size(), 1U);
}

TEST(Shelf, FileThatIsRemovedLeavesTheList) {
  const ScratchDirectory directory;
  {
    InventedJob(directory.file("a.plateau"), 0).steps(3);
  }
  Shelf shelf(serving({directory.path()}));
  shelf.look(60);
  EXPECT_EQ(shelf.runs().size(), 1U);
  std::filesystem::remove(directory.file("a.plateau"));
  shelf.look(60, true);
  EXPECT_TRUE(shelf.runs().empty());
}

TEST(Shelf, EqualNamesFromTwoDirectoriesAreToldApart) {
  const ScratchDirectory one;
  const ScratchDirectory two;
  {
    InventedJob(one.file("run.plateau"), 0).steps(3);
  }
  {
    InventedJob(two.file("run.plateau"), 0).steps(3);
  }
  Shelf shelf(serving({one.path(), two.path()}));
  shelf.look(60);
  ASSERT_EQ(shelf.runs().size(), 2U);
  EXPECT_NE(shelf.runs()[0]->name, shelf.runs()[1]->name);
  EXPECT_NE(shelf.runs()[0]->id, shelf.runs()[1]->id);
}

TEST(Shelf, GivenFactsGoOverTheRunsOwn) {
  const ScratchDirectory directory;
  {
    InventedJob(directory.file("a.plateau"), 0).steps(40);
  }
  ShelfOptions options = serving({directory.path()});
  options.given.limit_mb = Fact{20000, "--limit"};
  Shelf shelf(options);
  shelf.look(60);
  EXPECT_EQ(shelf.find("")->verdict->risk.limit_mb, 20000);
}

TEST(Shelf, PageIsBuiltOncePerVersion) {
  const ScratchDirectory directory;
  InventedJob job(directory.file("a.plateau"), 0);
  job.steps(30);
  job.finish();
  Shelf shelf(serving({directory.path()}));
  shelf.look(60);
  const Result<PageBytes> first = shelf.page("");
  const Result<PageBytes> second = shelf.page("");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first.value().plain, second.value().plain);
  EXPECT_THAT(*first.value().plain, HasSubstr("\"schema\":2"));
  EXPECT_LT(first.value().packed->size(), first.value().plain->size());
}

TEST(Shelf, PageShowsTheVerdictOfTheListAlsoWhenAnotherRunWasReadSince) {
  const ScratchDirectory directory;
  for (const char* name : {"a.plateau", "b.plateau"}) {
    InventedJob job(directory.file(name), 0);
    job.steps(30);
    job.finish();
  }
  Shelf shelf(serving({directory.path()}));
  shelf.look(60);
  for (const RunFacts* run : shelf.runs()) {
    const uint64_t version = run->version;
    const Result<PageBytes> page = shelf.page(run->id);
    ASSERT_TRUE(page);
    EXPECT_THAT(*page.value().plain, HasSubstr("\"verdict\":" + run->verdict_json));
    EXPECT_EQ(run->version, version) << "it was read again";
  }
}

TEST(AcceptsGzip, OnlyIfItIsNamedAndNotRefused) {
  EXPECT_TRUE(accepts_gzip("gzip"));
  EXPECT_TRUE(accepts_gzip("br, GZIP;q=0.5, *"));
  EXPECT_FALSE(accepts_gzip(""));
  EXPECT_FALSE(accepts_gzip("br, deflate"));
  EXPECT_FALSE(accepts_gzip("gzip;q=0"));
  EXPECT_FALSE(accepts_gzip("xgzip"));
}

}  // namespace
}  // namespace plateau
