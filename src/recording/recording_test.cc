// SPDX-License-Identifier: Apache-2.0
#include "recording/recording.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/files.h"
#include "base/testing/scratch_directory.h"
#include "recording/append_file.h"
#include "recording/checks_for_test.h"
#include "recording/record_codec.h"
#include "recording/recording_reader.h"
#include "recording/redact_run.h"
#include "recording/same_run_for_test.h"
#include "recording/sample_for_test.h"

namespace plateau {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class RecordingTest : public testing::Test {
 protected:
  RecordingWriter writer(size_t max_rows = RecordingWriter::kMaxRows) {
    RecordingHead head;
    head.command = "python train.py --epochs 3";
    head.host = "box";
    head.plateau_version = "0.1.0";
    auto made = RecordingWriter::create(path_, head, max_rows, true);
    EXPECT_TRUE(made.ok());
    return std::move(made.value());
  }
  plateau::Run read() {
    auto run = read_recording(path_.string(), text_of_file(path_));
    EXPECT_TRUE(run.ok());
    return run.value();
  }

  ScratchDirectory directory_;
  fs::path path_ = directory_.file("job.plateau");
};

Process pid(int64_t id, std::string name) {
  return {.id = id, .parent = -1, .id_is_pid = true, .name = std::move(name)};
}

// One process with one column, `rows` rows of 1000 kB plus 10 kB a row, one a second.
void record_growth(RecordingWriter& writer, int rows) {
  const size_t process = writer.process(pid(7, "python"), 1);
  const size_t anon = writer.memory_column(process, Metric::anon);
  for (int i = 0; i < rows; ++i) {
    writer.row(sample_at({.step = i, .time_s = 1.0 * i}, {{anon, 1000 + 10 * i}}));
  }
}

TEST_F(RecordingTest, NamesAndRanksComeBack) {
  RecordingWriter writer = this->writer();
  const std::string long_name(1000, 'x');
  const size_t process = writer.process({.id = 7, .id_is_pid = true, .name = "py", .rank = 3}, 1);
  const size_t anon = writer.memory_column(process, Metric::anon);
  writer.process(pid(8, "sh"), 1);
  writer.fact(&Context::rank, 0, "RANK (torchrun)");
  writer.fact(&Context::job, 0, "SLURM_JOB_ID (Slurm)", "4711");
  writer.fact(&Context::node, 0, "PLATEAU_NODE", long_name);
  writer.row(sample_at({.time_s = 0.25}, {{anon, 1000}}));
  const plateau::Run run = read();
  EXPECT_EQ(run.processes[0].rank, 3);
  EXPECT_EQ(run.processes[1].rank, -1);
  EXPECT_EQ(run.context.rank->value, 0);
  EXPECT_EQ(run.context.job->text, "4711");
  EXPECT_EQ(run.context.job->source, "SLURM_JOB_ID (Slurm)");
  EXPECT_EQ(run.context.node->text, long_name.substr(0, kMaxFactText));
}

TEST_F(RecordingTest, EverythingThatWasSaidComesBack) {
  RecordingWriter writer = this->writer();
  const size_t process = writer.process(pid(4242, "python"), 99);
  const size_t anon = writer.memory_column(process, Metric::anon);
  const size_t threads = writer.gauge_column(process, "threads");
  writer.fact(&Context::limit_mb, 2000, "--limit");
  writer.row(sample_at({.time_s = 0.25}, {{anon, 1000}}, {{threads, 3}}));
  writer.event(EventKind::eval, "validation", 0.3);
  writer.row(sample_at({.step = 5, .time_s = 1.25, .epoch = 0.5}, {{anon, 2000}}));
  writer.note("cgroup could not be read");
  writer.update_process(
      process, {.id = 4242, .name = "train", .role = Role::main, .role_reason = "has CUDA"});
  writer.finish({.kind = Ending::Kind::oom_killed, .code = 9, .text = "by the kernel"});

  const plateau::Run run = read();
  EXPECT_EQ(run.format, "recording");
  EXPECT_EQ(run.command, "python train.py --epochs 3");
  EXPECT_EQ(run.context.limit_mb->source, "--limit");
  EXPECT_EQ(run.processes[0].role_reason, "has CUDA");
  EXPECT_THAT(run.series[0].mb, ElementsAre(1.024, 2.048));
  EXPECT_EQ(run.gauges[0].value[0], 3);
  EXPECT_TRUE(std::isnan(run.gauges[0].value[1])) << "a column that is not named has no value";
  EXPECT_EQ(run.instants[0].step, 4) << "rows before the first step stand right before it";
  EXPECT_EQ(run.instants[1].time_s, 1.25);
  EXPECT_EQ(run.events[0].instant, 1u);
  EXPECT_THAT(run.notes, ElementsAre("cgroup could not be read"));
  EXPECT_EQ(run.ending.kind, Ending::Kind::oom_killed);
  EXPECT_EQ(run.ending.text, "by the kernel");
  EXPECT_FALSE(run.epoch_time);
}

TEST_F(RecordingTest, RunWithoutAnyStepHasNone) {
  RecordingWriter writer = this->writer();
  writer.row(sample_at({.time_s = 1}));
  EXPECT_EQ(read().instants[0].step, -1);
}

TEST_F(RecordingTest, StepsAndTimesNeverFall) {
  RecordingWriter writer = this->writer();
  writer.row(sample_at({.step = 10, .time_s = 5}));
  writer.row(sample_at({.step = 3, .time_s = 4}));
  const plateau::Run run = read();
  EXPECT_EQ(run.instants[1].step, 10);
  EXPECT_EQ(run.instants[1].time_s, 5);
}

TEST_F(RecordingTest, EventAfterTheLastRowPointsToTheLastRow) {
  RecordingWriter writer = this->writer();
  record_growth(writer, 3);
  writer.event(EventKind::oom, "limit reached", 9);
  EXPECT_EQ(read().events[0].instant, 2u);
}

TEST_F(RecordingTest, WallClockOfTheStartMakesTimesCountFrom1970) {
  auto writer = RecordingWriter::create(path_, {.started_unix_s = 1763251200});
  writer.value().row(sample_at({.time_s = 1.5}));
  const plateau::Run run = read();
  EXPECT_TRUE(run.epoch_time);
  EXPECT_EQ(run.instants[0].time_s, 1763251201.5);
}

TEST_F(RecordingTest, ReusedPidIsAnotherProcessThatSaysSo) {
  RecordingWriter writer = this->writer();
  const size_t first = writer.process(pid(50, "worker"), 1);
  const size_t second = writer.process(pid(50, "worker"), 2);
  Process child = pid(60, "child");
  child.parent = 50;
  writer.process(child, 3);
  EXPECT_NE(first, second);
  EXPECT_EQ(writer.process(pid(50, "worker"), 1), first);

  const plateau::Run run = read();
  EXPECT_EQ(run.processes[0].id, 50);
  EXPECT_TRUE(run.processes[0].id_is_pid);
  EXPECT_NE(run.processes[1].id, 50);
  EXPECT_FALSE(run.processes[1].id_is_pid);
  EXPECT_EQ(run.processes[1].name, "worker (another process with pid 50)");
  EXPECT_EQ(run.processes[2].parent, run.processes[1].id) << "the later holder is the parent";
}

TEST_F(RecordingTest, AppendsToTheFileAtEveryRow) {
  RecordingWriter writer = this->writer();
  const size_t anon = writer.memory_column(writer.process(pid(7, "python"), 1), Metric::anon);
  for (int i = 0; i < 5; ++i) {
    writer.row(sample_at({.time_s = 1.0 * i}, {{anon, i}}));
    EXPECT_EQ(read().instants.size(), static_cast<size_t>(i) + 1);
    EXPECT_EQ(writer.bytes_written(), fs::file_size(path_));
  }
}

TEST_F(RecordingTest, CutAtAnyByteKeepsAllRowsBefore) {
  RecordingWriter writer = this->writer();
  record_growth(writer, 20);
  writer.finish({.kind = Ending::Kind::exited, .code = 0, .text = ""});
  const std::string whole = text_of_file(path_);
  std::vector<ReadRecord> records;
  ASSERT_TRUE(load_recording("whole", whole, &records).ok());
  const size_t head_end = records[1].offset;
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    const auto run = read_recording("cut", cut);
    ASSERT_EQ(run.ok(), size >= head_end) << size;
    if (!run.ok()) continue;
    size_t rows = 0;
    bool at_border = false;
    for (const ReadRecord& record : records) {
      const size_t end = record.offset + record.frame.size;
      rows += end <= size && record.frame.type == static_cast<uint8_t>(RecordType::sample);
      at_border |= end == size;
    }
    ASSERT_EQ(run.value().instants.size(), rows) << size;
    ASSERT_EQ(check_shape(run.value()), "");
    ASSERT_EQ(run.value().notes.empty(), at_border) << size;
    ASSERT_EQ(run.value().ending.kind, Ending::Kind::unknown);
    for (size_t i = 0; i < rows; ++i) {
      ASSERT_EQ(run.value().series[0].mb[i], static_cast<double>(1000 + 10 * i) * 1.024e-3);
    }
  }
}

TEST_F(RecordingTest, AnyDamagedByteKeepsAllRowsBefore) {
  RecordingWriter writer = this->writer(8);
  record_growth(writer, 20);
  const std::string whole = text_of_file(path_);
  const plateau::Run good = read();
  std::vector<ReadRecord> records;
  ASSERT_TRUE(load_recording("whole", whole, &records).ok());
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      const auto run = read_recording("damaged", bytes);
      ASSERT_EQ(run.ok(), at >= records[1].offset) << at;
      if (!run.ok()) continue;
      ASSERT_EQ(check_shape(run.value()), "");
      ASSERT_EQ(run.value().notes.size(), 1u) << at;
      ASSERT_THAT(run.value().notes[0], HasSubstr("left out"));
      ASSERT_LT(run.value().instants.size(), good.instants.size());
      for (size_t i = 0; i < run.value().instants.size(); ++i) {
        ASSERT_EQ(run.value().series[0].mb[i], good.series[0].mb[i]);
      }
      ASSERT_TRUE(describe_recording("damaged", bytes, true).ok());
    }
  }
}

TEST_F(RecordingTest, RecordsOfALaterVersionAreSkipped) {
  RecordingWriter writer = this->writer();
  record_growth(writer, 2);
  std::string bytes = text_of_file(path_);
  put_record(bytes, static_cast<RecordType>(200), "what is this?");
  std::string ending = encode_record(Ending{.kind = Ending::Kind::exited, .code = 3, .text = ""});
  ending += "a field of a later version";
  put_record(bytes, RecordType::ending, ending);
  const auto run = read_recording("later", bytes);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.value().ending.code, 3);
  EXPECT_TRUE(run.value().notes.empty());
}

TEST_F(RecordingTest, FileOfANewerVersionIsRefusedWithAReason) {
  RecordingWriter writer = this->writer();
  std::string bytes = text_of_file(path_);
  bytes[8] = 2;
  const auto run = read_recording("new.plateau", bytes);
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().message, HasSubstr("new.plateau is a recording of version 2"));
}

TEST_F(RecordingTest, MergingBoundsTheFileAndLeavesNoTemporary) {
  RecordingWriter writer = this->writer(16);
  record_growth(writer, 600);
  EXPECT_EQ(difference_between(writer.run(), read()), "");
  EXPECT_LE(writer.run().instants.size(), 32u);
  EXPECT_LT(fs::file_size(path_), 2000u);
  EXPECT_EQ(writer.run().instants.front().time_s, 0) << "the beginning is still there";
  EXPECT_EQ(writer.run().instants.back().time_s, 599);
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(RecordingTest, FileThatCannotBeReplacedGoesOnAsItWas) {
  RecordingWriter writer = this->writer(16);
  // A directory in the way of the replacement makes every rewriting fail.
  fs::create_directories(replacement_path(path_) + "/in-the-way");
  record_growth(writer, 500);
  EXPECT_EQ(writer.trouble(), "");
  EXPECT_EQ(difference_between(writer.run(), read()), "") << "reading merges as writing did";

  fs::remove_all(replacement_path(path_));
  const auto before = fs::file_size(path_);
  const size_t anon = writer.memory_column(0, Metric::anon);
  for (int i = 0; i < 20; ++i) writer.row(sample_at({.time_s = 500.0 + i}, {{anon, 5}}));
  EXPECT_LT(fs::file_size(path_), before) << "the next merge rewrites it";
  EXPECT_EQ(difference_between(writer.run(), read()), "");
}

TEST_F(RecordingTest, WriterKilledAtAnyMomentLeavesAReadableFile) {
  for (int round = 0; round < 30; ++round) {
    // Made here, so that the file exists before anybody is killed.
    RecordingWriter writer = this->writer(16);
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) record_growth(writer, 100);
    }
    ASSERT_GT(child, 0);
    ::usleep(static_cast<useconds_t>(500 + 700 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);

    const plateau::Run run = read();
    EXPECT_EQ(check_shape(run), "");
    EXPECT_EQ(run.ending.kind, Ending::Kind::unknown);
    // A write of some bytes to a file is not torn by a kill, and a replacement is all or nothing.
    EXPECT_TRUE(run.notes.empty());
  }
}

TEST_F(RecordingTest, StaleReplacementIsRemovedAtTheNextStart) {
  std::ofstream(replacement_path(path_)) << "left by a killed writer";
  RecordingWriter writer = this->writer();
  EXPECT_FALSE(fs::exists(replacement_path(path_)));
}

TEST_F(RecordingTest, LinkStaysALinkWhenTheFileIsReplaced) {
  const fs::path target = directory_.file("target.plateau");
  std::ofstream(target) << "";
  fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(target, path_);
  RecordingWriter writer = this->writer(16);
  record_growth(writer, 100);
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(difference_between(writer.run(), read()), "");
}

TEST_F(RecordingTest, ReaderThatOpenedTheFileBeforeItWasReplacedStillReadsIt) {
  RecordingWriter writer = this->writer(16);
  record_growth(writer, 10);
  std::ifstream old(path_, std::ios::binary);
  record_growth(writer, 30);
  std::ostringstream all;
  all << old.rdbuf();
  const auto run = read_recording("old", all.str());
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(run.value().notes.empty());
}

TEST(Recording, FullDiskAtTheStartIsAnErrorThatNamesTheFile) {
  auto made = RecordingWriter::create("/dev/full", {});
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("/dev/full"));
}

TEST_F(RecordingTest, WriterThatLosesItsFileTellsItOnceAndGoesOnInMemory) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const int reader = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK);
  RecordingWriter writer = this->writer();
  ::close(reader);
  const auto old = std::signal(SIGPIPE, SIG_IGN);
  record_growth(writer, 5);
  std::signal(SIGPIPE, old);
  EXPECT_THAT(writer.trouble(), HasSubstr("is no longer written"));
  EXPECT_EQ(writer.trouble(), "");
  EXPECT_EQ(writer.run().instants.size(), 5u);
}

TEST(Recording, WithoutAPathEverythingStaysInMemory) {
  auto made = RecordingWriter::create("", {});
  ASSERT_TRUE(made.ok());
  record_growth(made.value(), 3);
  EXPECT_EQ(made.value().run().instants.size(), 3u);
  EXPECT_EQ(made.value().bytes_written(), 0u);
}

TEST_F(RecordingTest, IsForItsOwnerAlone) {
  const mode_t before = ::umask(0);
  const RecordingWriter writer = this->writer();
  ::umask(before);
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(RecordingTest, WhatItsOwnerAllowsMeanwhileStaysAllowed) {
  RecordingWriter writer = this->writer(8);
  record_growth(writer, 2);
  fs::permissions(path_, fs::perms::group_read, fs::perm_options::add);
  record_growth(writer, 40);
  EXPECT_NE(fs::status(path_).permissions() & fs::perms::group_read, fs::perms::none);
}

TEST_F(RecordingTest, ReplacesNoOtherUnlessAskedTo) {
  {
    RecordingWriter writer = this->writer();
    record_growth(writer, 5);
  }
  const std::string old = text_of_file(path_);
  auto refused = RecordingWriter::create(path_, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("--force"));
  EXPECT_EQ(text_of_file(path_), old);
  EXPECT_TRUE(RecordingWriter::create(path_, {}, RecordingWriter::kMaxRows, true).ok());
  EXPECT_NE(text_of_file(path_), old);
}

TEST_F(RecordingTest, TwoWritersNeverShareAFile) {
  RecordingWriter first = this->writer(8);
  for (const bool replaced : {false, true}) {
    auto second = RecordingWriter::create(path_, {}, RecordingWriter::kMaxRows, replaced);
    ASSERT_FALSE(second.ok());
    EXPECT_THAT(second.error().message, HasSubstr("another plateau"));
    record_growth(first, 20);  // Replaces the file; the new one is held as well.
  }
}

TEST_F(RecordingTest, HoldsNoSecretUnlessThatWasWished) {
  const std::string command = "python train.py --hf_token hunter2 --max_tokens 512";
  const auto fill = [](RecordingWriter& writer) {
    writer.process(pid(7, "python --password hunter2"), 1);
    writer.event(EventKind::mark, "api_key=hunter2", 1);
    writer.note("password: hunter2");
    writer.fact(&Context::batch, 8, "--secret hunter2");
    writer.finish({.kind = Ending::Kind::exited, .code = 0, .text = "token=hunter2"});
  };
  {
    auto made = RecordingWriter::create(path_, {.command = command});
    fill(made.value());
    EXPECT_THAT(made.value().run().command, HasSubstr("--hf_token [redacted] --max_tokens 512"));
  }
  EXPECT_THAT(text_of_file(path_), Not(HasSubstr("hunter2")));
  {
    auto made = RecordingWriter::create(path_, {.command = command, .keep_secrets = true},
                                        RecordingWriter::kMaxRows, true);
    fill(made.value());
  }
  EXPECT_EQ(read().command, command);
  EXPECT_THAT(read().notes, testing::Contains(kSecretsKeptNote));
  const auto lines = describe_recording("", text_of_file(path_), false);
  EXPECT_THAT(lines.value()[0], HasSubstr("hunter2"));
}

TEST_F(RecordingTest, SecretsOfAnEarlierVersionAreNotShown) {
  // Given a file as earlier versions wrote it: the command as it is, and no note.
  std::string bytes = std::string(kRecordingMagic) + static_cast<char>(kRecordingVersion);
  HeadRecord head{.head = {.command = "x --password hunter2"}, .max_rows = 8, .stride = 1};
  put_record(bytes, RecordType::head, encode_record(head));
  EXPECT_EQ(read_recording("", bytes).value().command, "x --password [redacted]");
  EXPECT_THAT(describe_recording("", bytes, true).value()[0], Not(HasSubstr("hunter2")));
}

TEST_F(RecordingTest, EventsPastTheCapAreCountedAndNoted) {
  RecordingWriter writer = this->writer();
  record_growth(writer, 1);
  for (size_t i = 0; i < RecordingWriter::kMaxEvents + 3; ++i) {
    writer.event(EventKind::mark, "", 1);
  }
  const plateau::Run run = read();
  EXPECT_EQ(run.events.size(), RecordingWriter::kMaxEvents);
  EXPECT_THAT(run.notes, ElementsAre("3 events after the first 100,000 were left out"));
}

TEST_F(RecordingTest, ShortLivedProcessesOfThousandsAreAddedUpByRole) {
  RecordingWriter writer = this->writer(64);
  const size_t main = writer.memory_column(writer.process(pid(1, "main"), 0), Metric::anon);
  std::vector<int64_t> total_kb;
  for (int64_t second = 0; second < 60; ++second) {
    Sample row = sample_at({.time_s = 1.0 * static_cast<double>(second)}, {{main, 5000}});
    for (int64_t i = 0; i < 5; ++i) {
      Process worker = pid(100 + 5 * second + i, "worker");
      worker.parent = 1;
      worker.role = Role::data_worker;
      const size_t process = writer.process(worker, 0);
      row.set_kb(writer.memory_column(process, Metric::anon), 10 * second + i);
      row.set_gauge(writer.gauge_column(process, "threads"), 2);
    }
    total_kb.push_back(5000 + 50 * second + 10);
    writer.row(row);
  }

  const plateau::Run run = read();
  EXPECT_EQ(difference_between(writer.run(), run), "");
  EXPECT_EQ(check_shape(run), "");
  ASSERT_EQ(run.processes.size(), 129u);
  EXPECT_EQ(run.processes[0].name, "main");
  EXPECT_EQ(run.processes.back().name, "173 short-lived processes, added up");
  EXPECT_EQ(run.processes.back().role, Role::data_worker);
  ASSERT_EQ(run.instants.size(), 60u);
  for (size_t i = 0; i < run.instants.size(); ++i) {
    double sum = 0;
    for (const Series& series : run.series) sum += std::isnan(series.mb[i]) ? 0 : series.mb[i];
    EXPECT_NEAR(sum, static_cast<double>(total_kb[i]) * 1.024e-3, 1e-9);
  }
}

TEST_F(RecordingTest, DumpNamesEveryRecordAndTheDamage) {
  RecordingWriter writer = this->writer();
  record_growth(writer, 2);
  std::string bytes = text_of_file(path_);
  bytes.pop_back();
  const auto lines = describe_recording("x", bytes, false);
  ASSERT_TRUE(lines.ok());
  ASSERT_EQ(lines.value().size(), 5u);
  EXPECT_THAT(lines.value()[2], HasSubstr("metric \"anon\""));
  EXPECT_THAT(lines.value()[3], HasSubstr("owned_kb 1000"));
  EXPECT_THAT(lines.value()[4], HasSubstr("damaged \"cut off\""));
  const auto json = describe_recording("x", bytes, true);
  EXPECT_THAT(json.value()[3], HasSubstr("\"cells\":{\"0\":1000}"));
}

}  // namespace
}  // namespace plateau
