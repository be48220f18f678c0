// SPDX-License-Identifier: Apache-2.0
// The door: sources, compression, errors, recognition; and every stored log once.
#include "import/import.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/compression.h"
#include "import/readers.h"
#include "recording/checks_for_test.h"

namespace plateau {
namespace {

const std::string kLogs = std::string(PLATEAU_SOURCE_DIR) + "/tests/fixtures/logs/";

std::string gzip(std::string_view text) {
  return gzipped(text, 6);
}

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

// Lines that do not compress to nothing, so that a cut in the middle keeps some of them.
std::string many_steps(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) {
    text += "step " + std::to_string(i) + " rss " + std::to_string(5000 + i * 7919 % 977) + " MB\n";
  }
  return text;
}

size_t samples_in(std::string_view bytes) {
  const auto runs = import_bytes("x", bytes);
  return runs.ok() ? runs.value()[0].instants.size() : 0;
}

std::string message_of(std::string_view bytes) {
  const auto runs = import_bytes("x", bytes);
  return runs.ok() ? "" : runs.error().message;
}

TEST(Import, GzipAndZstdAreRecognisedByContent) {
  EXPECT_EQ(samples_in(gzip(many_steps(50))), 50u);
  EXPECT_EQ(samples_in(zstd(many_steps(50))), 50u);
}

TEST(Import, GzipMembersInARowAreOneText) {
  const std::string all = many_steps(60);
  const size_t half = all.find("step 31");
  EXPECT_EQ(samples_in(gzip(all.substr(0, half)) + gzip(all.substr(half))), 60u);
  EXPECT_EQ(samples_in(gzip(all) + std::string(512, '\0')), 60u);
}

TEST(Import, TruncatedGzipKeepsWhatWasReadAndSaysSo) {
  const std::string packed = gzip(many_steps(20000));
  const auto runs = import_bytes("x", packed.substr(0, packed.size() / 2));
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  EXPECT_GT(runs.value()[0].instants.size(), 100u);
  ASSERT_FALSE(runs.value()[0].notes.empty());
  EXPECT_NE(runs.value()[0].notes.back().find("ends too early"), std::string::npos);
}

TEST(Import, TruncatedBeforeAnySampleIsAnError) {
  EXPECT_EQ(message_of(gzip(many_steps(5)).substr(0, 12)),
            "x: the gzip data ends too early (truncated file?)");
  EXPECT_EQ(message_of(zstd(many_steps(5)).substr(0, 8)),
            "x: the zstd data ends too early (truncated file?)");
  EXPECT_NE(message_of("\x1f\x8b rubbish that is no gzip").find("damaged"), std::string::npos);
}

TEST(Import, MissingFileAndEmptyFileAreNamed) {
  EXPECT_EQ(import_file("/no/such.log").error().message,
            "cannot open /no/such.log: No such file or directory");
  EXPECT_EQ(message_of(""), "x is empty");
}

TEST(Import, PagesAndProgramsGivenByMistakeAreRefusedByName) {
  const std::string amounts = "step 10 RAM: 5552 MB\nstep 20 RAM: 5600 MB\n";
  EXPECT_NE(message_of("<!DOCTYPE html>\n<title>log</title>\n" + amounts).find("a web page"),
            std::string::npos);
  EXPECT_NE(
      message_of("<!doctype html>\n<script id=\"plateau-data\">" + amounts).find("a report of"),
      std::string::npos);
  EXPECT_NE(message_of("\x7f"
                       "ELF\x02\x01\n" +
                       amounts)
                .find("a program"),
            std::string::npos);
}

TEST(Import, ANameThatIsNotThereIsAnErrorAndNotAGuess) {
  ImportOptions options;
  options.wishes.memory = "max_mem";
  const auto runs =
      import_bytes("a.log", "step 1 rss 500 MB\nstep 2 rss 510 MB\nstep 3 rss 520 MB\n", options);
  ASSERT_FALSE(runs.ok());
  EXPECT_NE(runs.error().message.find("'max_mem'"), std::string::npos) << runs.error().message;
  EXPECT_NE(runs.error().message.find("rss"), std::string::npos) << "and what is there";
}

TEST(Import, TheMemoryThatIsNamedIsReadAndNoOtherBesideIt) {
  std::string text = "step,rss_mb,pss_mb,file_mb\n";
  for (int i = 0; i < 40; ++i)
    text += std::to_string(i) + ",900,800," + std::to_string(5 + i) + "\n";
  ImportOptions options;
  options.wishes.memory = "file_mb";
  const auto runs = import_bytes("x", text, options);
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_EQ(runs.value()[0].series.size(), 1u);
  EXPECT_EQ(runs.value()[0].series[0].mb.back(), 44);
}

TEST(Import, AnExportWithoutAWordForMemoryIsNotTakenForRss) {
  // TensorBoard's CSV: what it is stands in the file's name only.
  std::string text = "Wall time,Step,Value\n";
  for (int i = 0; i < 40; ++i) {
    text += std::to_string(1772532005 + 10 * i) + "," + std::to_string(10 * i) + "," +
            std::to_string(501 + 3 * i) + "\n";
  }
  EXPECT_FALSE(import_bytes("x", text).ok());
  ImportOptions options;
  options.wishes.memory = "Value";
  options.wishes.unit_mb = 1;
  const auto runs = import_bytes("x", text, options);
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  EXPECT_EQ(runs.value()[0].series[0].mb.back(), 618);
  EXPECT_EQ(runs.value()[0].instants.back().step, 390);
}

TEST(Import, NothingFoundSaysWhatWasLookedFor) {
  const auto runs = import_bytes("notes.txt", "hello\nworld\n");
  ASSERT_FALSE(runs.ok());
  EXPECT_EQ(runs.error().kind, Error::Kind::no_samples);
  EXPECT_NE(runs.error().message.find("no memory figures found in notes.txt"), std::string::npos);
  EXPECT_NE(runs.error().message.find("--memory"), std::string::npos);
  EXPECT_EQ(runs.error().message.find('\n'), std::string::npos);
}

TEST(Import, BinaryAndForeignFilesAreCalledThat) {
  EXPECT_NE(message_of(std::string(5000, '\x01')).find("binary data"), std::string::npos);
  EXPECT_NE(message_of("\xfd"
                       "7zXZ....")
                .find("xz"),
            std::string::npos);
}

TEST(Import, AnAnswerOfOursIsNoLog) {
  for (const char* answer :
       {"UNDECIDED the evidence does not decide yet\n  Level 961 MB at step 350; one sample.\n",
        "NO WORSE  no growth in either\n\n  A  plateau 64 %  49 steps  rss 612 MB\n",
        "## LEAK: +8 MB per step\n\n- **Grew:** 41.1 to 56.6 MB over steps 0-49\n",
        "{\"file\":\"a.log\",\"verdict\":\"leak\",\"first_mb\":41.1}\n",
        "<?xml version=\"1.0\"?>\n<testsuites>\n<testsuite name=\"plateau judge\">\n"}) {
    EXPECT_NE(message_of(answer).find("an answer of Plateau"), std::string::npos) << answer;
  }
  EXPECT_TRUE(import_bytes("log", "LEAK check\nstep 1 rss 5 GB\nstep 2 rss 6 GB\n").ok());
}

TEST(Import, UnknownFormatListsTheKnownOnes) {
  ImportOptions options;
  options.format = "excel";
  const auto runs = import_bytes("x", "a", options);
  EXPECT_EQ(runs.error().kind, Error::Kind::usage);
  EXPECT_NE(runs.error().message.find("jsonl"), std::string::npos);
}

TEST(Import, ProgressEndsAtTheTotal) {
  const std::string text = many_steps(1000);
  uint64_t last = 0;
  ImportOptions options;
  options.progress = [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(total, text.size());
    last = done;
  };
  ASSERT_TRUE(import_bytes("x", text, options).ok());
  EXPECT_EQ(last, text.size());
}

TEST(Import, LineLongerThanTheCapIsCutAndCounted) {
  const std::string text =
      "step 1 rss 5 GB\n" + std::string(3u << 20, 'x') + "\nstep 2 rss 5 GB\nstep 3 rss 6 GB\n";
  const auto runs = import_bytes("x", text);
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(runs.value()[0].instants.size(), 3u);
  EXPECT_EQ(runs.value()[0].lines_bad, 1u);
}

TEST(Import, BombOfZerosCostsNoMemory) {
  // 200 MB of zeros in some 200 KB; the line cap keeps the reader small.
  const std::string packed = gzip(std::string(200u << 20, '\0'));
  EXPECT_NE(message_of(packed).find("binary data"), std::string::npos);
}

TEST(Import, EveryFormatNameIsRecognisedSomewhere) {
  std::set<std::string> seen = {"mlflow"};  // By its folder alone: run_folder_test.cc.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kLogs + "..")) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    seen.insert(std::string(recognise_format(text)));
  }
  for (const FormatInfo& format : import_formats()) {
    EXPECT_TRUE(seen.contains(std::string(format.name))) << format.name;
  }
}

struct Expected {
  const char* file;
  const char* format;
  size_t runs;
  size_t samples;  // In the last run.
  Metric metric;
  double last_mb;  // The last value of its first series.
};

class Fixture : public testing::TestWithParam<Expected> {};

TEST_P(Fixture, GivesTheSamplesItHolds) {
  const Expected& expected = GetParam();
  const auto runs = import_file(kLogs + expected.file);
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_EQ(runs.value().size(), expected.runs);
  const plateau::Run& run = runs.value().back();
  EXPECT_EQ(check_shape(run), "");
  EXPECT_EQ(run.format, expected.format);
  EXPECT_EQ(run.instants.size(), expected.samples);
  EXPECT_EQ(run.lines_bad, 0u);
  ASSERT_FALSE(run.series.empty());
  EXPECT_EQ(run.series[0].metric, expected.metric);
  EXPECT_NEAR(run.series[0].mb.back(), expected.last_mb, 0.06);
}

INSTANTIATE_TEST_SUITE_P(
    Logs, Fixture,
    testing::Values(Expected{"note_two_runs.md", "text log", 2, 24, Metric::memory, 17032},
                    Expected{"tensors.log", "text log", 1, 12, Metric::memory, 17694},
                    Expected{"hf_console.log", "text log", 1, 12, Metric::memory, 17694},
                    Expected{"tqdm_lightning.log", "text log", 1, 18, Metric::rss, 7086.7},
                    Expected{"validation.log", "text log", 1, 3, Metric::memory, 4800},
                    Expected{"ansi_noise.log", "text log", 1, 8, Metric::memory, 13743.9},
                    Expected{"ps_rss.log", "text log", 1, 6, Metric::rss, 85.9},
                    Expected{"ps_o.log", "ps", 1, 6, Metric::rss, 85.9},
                    Expected{"ps_aux.log", "ps", 1, 5, Metric::rss, 73.9},
                    Expected{"top.log", "ps", 1, 3, Metric::rss, 49.9},
                    Expected{"free_kib.log", "free", 1, 4, Metric::system_used, 739.9},
                    Expected{"free_m.log", "free", 1, 4, Metric::system_used, 739.2},
                    Expected{"free_h.log", "free", 1, 3, Metric::system_used, 706.7},
                    Expected{"jvm_native.log", "jvm-native", 1, 6, Metric::memory, 134.2},
                    Expected{"malloc_info.log", "malloc-info", 1, 8, Metric::memory, 22.6},
                    Expected{"openj9.xml", "openj9", 1, 6, Metric::memory, 167.5},
                    Expected{"pidstat.log", "pidstat", 1, 5, Metric::rss, 82.7},
                    Expected{"pidstat_h.log", "pidstat", 1, 3, Metric::rss, 58.7},
                    Expected{"mprof.dat", "mprof", 1, 8, Metric::rss, 17411.9},
                    Expected{"psrecord.txt", "psrecord", 1, 12, Metric::rss, 17694},
                    Expected{"psrecord.csv", "psrecord", 1, 12, Metric::rss, 17694},
                    Expected{"nvidia_smi.csv", "nvidia-smi", 1, 6, Metric::gpu, 31981.6},
                    Expected{"nvidia_smi_apps.csv", "nvidia-smi", 1, 4, Metric::gpu, 21128.8},
                    Expected{"prometheus.json", "prometheus", 1, 10, Metric::anon, 5900},
                    Expected{"trainer_state.json", "trainer state", 1, 8, Metric::rss, 17412},
                    Expected{"wandb.csv", "wandb csv", 2, 12, Metric::rss, 8847 * 1.048576},
                    Expected{"metrics.jsonl", "json lines", 1, 12, Metric::system_used, 17694},
                    Expected{"recording_v1.plateau", "recording", 1, 10, Metric::anon, 1.024},
                    Expected{"tree.csv", "csv", 1, 5, Metric::rss, 500}),
    [](const auto& param) {
      std::string name = param.param.file;
      for (char& c : name) {
        if (c == '.') c = '_';
      }
      return name;
    });

TEST(JvmNative, TheSectionThatGrowsIsASeriesAndTotalsAloneAreOne) {
  const auto runs =
      import_file(std::string(PLATEAU_SOURCE_DIR) + "/tests/fixtures/logs/jvm_native.log");
  ASSERT_TRUE(runs.ok());
  const plateau::Run& run = runs.value()[0];
  ASSERT_EQ(run.series.size(), 3U);
  EXPECT_EQ(run.processes[run.series[2].process].name, "Other");
  EXPECT_NEAR(run.series[2].mb.front(), 20480 * 1024 / 1e6, 0.001);
  EXPECT_NEAR(run.series[2].mb.back(), 25600 * 1024 / 1e6, 0.001);

  const auto totals = import_bytes(
      "totals", "Total: reserved=9KB, committed=1024KB\nTotal: reserved=9KB, committed=2048KB\n");
  ASSERT_TRUE(totals.ok());
  ASSERT_EQ(totals.value()[0].series.size(), 1U);
  EXPECT_NEAR(totals.value()[0].series[0].mb.back(), 2.097, 0.001);
}

// One program fuzzes them all, each by the seeds that bear its name.
TEST(Import, EveryFormatHasSeedsForItsFuzzer) {
  for (const FormatInfo& format : import_formats()) {
    std::string name(format.name);
    std::replace(name.begin(), name.end(), '-', '_');
    const std::string seeds = std::string(PLATEAU_SOURCE_DIR) + "/fuzz/corpus/fuzz_" + name;
    EXPECT_TRUE(std::filesystem::is_directory(seeds) && !std::filesystem::is_empty(seeds)) << seeds;
  }
}

TEST(Corpus, EveryTraceIsReadWithItsProcesses) {
  size_t traces = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(PLATEAU_SOURCE_DIR) + "/corpus/dev")) {
    if (entry.path().extension() != ".gz") continue;
    const auto runs = import_file(entry.path());
    ASSERT_TRUE(runs.ok()) << runs.error().message;
    ASSERT_EQ(runs.value().size(), 1u) << entry.path();
    EXPECT_EQ(check_shape(runs.value()[0]), "");
    EXPECT_TRUE(runs.value()[0].has_steps() && runs.value()[0].has_times()) << entry.path();
    EXPECT_EQ(runs.value()[0].lines_bad, 0u) << entry.path();
    ++traces;
  }
  EXPECT_EQ(traces, 80u);
}

}  // namespace
}  // namespace plateau
