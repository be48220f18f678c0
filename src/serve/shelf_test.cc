// SPDX-License-Identifier: Apache-2.0
#include "serve/shelf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <random>

#include "base/clock.h"
#include "base/compression.h"
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

std::string random_text(size_t size) {
  std::mt19937 random(3);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>('a' + random() % 26);
  return text;
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

TEST(Shelf, OneThatIsNotReadYetHasItsTimeAndNoTrouble) {
  const ScratchDirectory directory;
  for (const char* name : {"first.plateau", "later.plateau"}) {
    InventedJob job(directory.file(name), 0);
    job.steps(30);
    job.finish();
  }
  age(directory.file("later.plateau"), 1000);
  Shelf shelf(serving({directory.path()}));
  shelf.look(0);
  const RunFacts* waiting = shelf.runs().at(1);
  ASSERT_EQ(waiting->version, 0U);
  EXPECT_THAT(run_summary_json(*waiting, false), HasSubstr("\"trouble\":null"));
  EXPECT_NEAR(waiting->changed_unix_s, unix_now_s() - 1000, 100);
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

TEST(Shelf, LinkOutOfTheDirectoryIsNotServed) {
  const ScratchDirectory elsewhere;
  const ScratchDirectory directory;
  InventedJob(elsewhere.file("private.plateau"), 0).steps(30);
  InventedJob(directory.file("a.plateau"), 0).steps(30);
  std::filesystem::create_symlink(elsewhere.file("private.plateau"), directory.file("out.plateau"));
  std::filesystem::create_symlink("/etc/passwd", directory.file("etc.plateau"));
  std::filesystem::create_symlink("a.plateau", directory.file("inside.plateau"));
  Shelf shelf(serving({directory.path()}));
  shelf.look(60);
  std::vector<std::string> names;
  for (const RunFacts* run : shelf.runs()) {
    names.push_back(run->name);
    EXPECT_TRUE(run->verdict) << run->name << ": " << run->trouble;
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("a.plateau", "inside.plateau"));
}

TEST(Shelf, FileBecomesALinkAfterItWasListedAndIsNotFollowed) {
  const ScratchDirectory elsewhere;
  const ScratchDirectory directory;
  InventedJob(elsewhere.file("private.plateau"), 0).steps(30);
  std::filesystem::create_symlink(elsewhere.file("private.plateau"), directory.file("a.plateau"));
  const auto read = read_limited(directory.file("a.plateau"), directory.path(), {});
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("link out of the directory"));
  EXPECT_TRUE(read_limited(directory.file("a.plateau"), "", {})) << "who names a link means it";
}

TEST(ReadLimited, WhatIsTooLargeOrTooSlowIsGivenUp) {
  const ScratchDirectory directory;
  directory.write("zeros.gz", gzipped(std::string(size_t{8} << 20, '\0'), 9));
  const auto large =
      read_limited(directory.file("zeros.gz"), "", {.plain_bytes = size_t{4} << 20, .seconds = 60});
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("more than 4 MB"));
  const auto slow = read_limited(directory.file("zeros.gz"), "", {.seconds = 0});
  ASSERT_FALSE(slow);
  EXPECT_THAT(slow.error().message, HasSubstr("could not be read within"));
  EXPECT_EQ(read_limited(directory.file("zeros.gz"), "", {}).value().bytes.size(), size_t{8} << 20);
}

TEST(ReadLimited, OnlyRegularFilesAreRead) {
  const ScratchDirectory directory;
  ASSERT_EQ(mkfifo(directory.file("pipe.plateau").c_str(), 0600), 0);
  EXPECT_FALSE(read_limited(directory.file("pipe.plateau"), directory.path(), {}));
  EXPECT_FALSE(read_limited("/dev/zero", "", {}));
  EXPECT_FALSE(read_limited(directory.path(), "", {}));
}

TEST(ReadLimited, DamagedArchiveGivesWhatCameBefore) {
  const ScratchDirectory directory;
  const std::string whole = gzipped(std::string(100000, 'x') + random_text(100000), 6);
  directory.write("cut.gz", std::string_view(whole).substr(0, whole.size() / 2));
  const auto read = read_limited(directory.file("cut.gz"), "", {});
  ASSERT_TRUE(read);
  EXPECT_GT(read.value().bytes.size(), 50000U);
  EXPECT_NE(read.value().damage, "");
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
