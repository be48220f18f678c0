// SPDX-License-Identifier: Apache-2.0
// Logs in the forms that people publish, each with invented figures and the truth about them
// (make_forms.py and printed/make_printed_forms.py of tests/fixtures/forms write most; issues/ has
// a page of its own): how many readings the series that matters has, where it begins and ends in
// MB, and how many series there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "import/import.h"
#include "import/mined_log.h"

namespace plateau {
namespace {

const std::string kForms = std::string(PLATEAU_SOURCE_DIR) + "/tests/fixtures/forms/";

struct Form {
  std::string file;
  size_t readings = 0;
  double first_mb = kMissing;  // NaN: only that it grows.
  double last_mb = kMissing;   // Without a first: what it grows by.
  size_t series = 1;
};

void read_truth(const std::string& folder, std::vector<Form>& out) {
  std::ifstream truth(kForms + folder + "truth.tsv");
  for (std::string line; std::getline(truth, line);) {
    std::string_view rest = line;
    Form form;
    form.file = folder;
    form.file += take_part(rest, '\t');
    form.readings = static_cast<size_t>(parse_int(take_part(rest, '\t')).value_or(0));
    form.first_mb = parse_double(take_part(rest, '\t')).value_or(kMissing);
    form.last_mb = parse_double(take_part(rest, '\t')).value_or(kMissing);
    form.series = static_cast<size_t>(parse_int(rest).value_or(1));
    out.push_back(form);
  }
}

std::vector<Form> forms() {
  std::vector<Form> out;
  read_truth("", out);
  read_truth("printed/", out);
  read_truth("issues/", out);
  return out;
}

std::vector<double> present(const Series& series) {
  std::vector<double> mb;
  for (const double value : series.mb) {
    if (!std::isnan(value)) mb.push_back(value);
  }
  return mb;
}

bool is_near(double a, double b) {
  // Close enough to tell kB of 1000 bytes from those of 1024.
  return std::abs(a - b) <= 0.012 * b + 0.1;
}

bool grows_as_told(double mb, const Form& form) {
  if (std::isnan(form.last_mb)) return mb > 0;
  return mb > 0.7 * form.last_mb && mb < 1.4 * form.last_mb;
}

// The series that matters: of the right length, from the right start to the right end.
bool has_truth(const Run& run, const Form& form) {
  for (const Series& series : run.series) {
    const std::vector<double> mb = present(series);
    const auto n = static_cast<double>(form.readings);
    if (mb.empty() || std::abs(static_cast<double>(mb.size()) - n) > 0.1 * n) continue;
    if (std::isnan(form.first_mb) && grows_as_told(mb.back() - mb.front(), form)) return true;
    if (is_near(mb.front(), form.first_mb) && is_near(mb.back(), form.last_mb)) return true;
  }
  return false;
}

// The sum over processes of the first measure at the last instant that has one.
double last_sum(const plateau::Run& run) {
  const Metric metric = run.series.front().metric;
  double sum = 0;
  for (const Series& series : run.series) {
    if (series.metric == metric && !std::isnan(series.mb.back())) sum += series.mb.back();
  }
  return sum;
}

class PublishedForm : public testing::TestWithParam<Form> {};

TEST_P(PublishedForm, IsReadWithItsReadingsUnitAndSeries) {
  const Form& form = GetParam();
  const auto runs = import_file(kForms + form.file);
  if (form.readings == 0) {
    EXPECT_FALSE(runs.ok()) << "nothing in it says which figure is memory";
    return;
  }
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_EQ(runs.value().size(), 1U) << "restarts were seen that are none";
  const plateau::Run& run = runs.value().front();
  EXPECT_EQ(run.processes.size(), form.series);
  std::ostringstream read;
  for (const Series& series : run.series) {
    const std::vector<double> mb = present(series);
    read << series.label << ": " << mb.size() << " readings, " << (mb.empty() ? 0 : mb.front())
         << " to " << (mb.empty() ? 0 : mb.back()) << " MB\n";
  }
  EXPECT_TRUE(has_truth(run, form)) << read.str();
}

std::string name_of(const testing::TestParamInfo<Form>& info) {
  std::string name = info.param.file;
  for (char& c : name) {
    if (!is_letter(c) && !is_digit(c)) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Logs, PublishedForm, testing::ValuesIn(forms()), name_of);

// Formats that have a reader of their own are read by both; the learned reading must agree with it
// on how much there is and where it ends. The other readers stay because they know more than a
// handful of rows can teach: the columns of mprof, pidstat and top, whose rows they are in ps and
// nvidia-smi, the documents of Prometheus and wandb, several runs in one file.
TEST(PublishedForms, FormatsWithAReaderOfTheirOwnAreLearnedToo) {
  const std::string logs = std::string(PLATEAU_SOURCE_DIR) + "/tests/fixtures/logs/";
  for (const char* file :
       {"ansi_noise.log", "hf_console.log", "metrics.jsonl", "nvidia_smi_apps.csv", "ps_rss.log",
        "psrecord.csv", "tensors.log", "tree.csv"}) {
    std::ifstream in(logs + file);
    std::stringstream text;
    text << in.rdbuf();
    const std::string bytes = text.str();
    const auto own = import_file(logs + file);
    ASSERT_TRUE(own.ok()) << file;
    Reading reading = learn_reading(bytes, {});
    ASSERT_TRUE(reading.has_memory) << file;
    LineReader lines(open_memory(bytes, {}));
    const auto learned = read_mined(lines, reading);
    ASSERT_TRUE(learned.ok() && !learned.value().empty()) << file;
    const double ours = last_sum(learned.value().back());
    const double theirs = last_sum(own.value().back());
    EXPECT_NEAR(ours, theirs, 0.06 * theirs) << file;
    EXPECT_EQ(learned.value().back().instants.size(), own.value().back().instants.size()) << file;
  }
}

TEST(PublishedForms, ALoneNumberIsMemoryIfTheUserSaysItsUnit) {
  std::string lone, seven;
  for (int i = 0; i < 20; ++i) {
    lone += std::to_string(1259 + 7 * i) + "\n";
    seven += "6710 " + std::to_string(5972 + i) + " 1690 1 3 4588 2\n";
  }
  ImportOptions told;
  told.wishes.unit_mb = 1;
  EXPECT_FALSE(import_bytes("lone", lone).ok());
  const auto runs = import_bytes("lone", lone, told);
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(runs.value()[0].series[0].mb.back(), 1259 + 7 * 19);
  EXPECT_FALSE(import_bytes("statm", seven, told).ok()) << "which of the seven?";

  std::vector<std::string> account;
  told.account = &account;
  EXPECT_FALSE(import_bytes("statm", seven, told).ok());
  EXPECT_GT(account.size(), 7U) << "what was there is shown all the same";
}

// With "VmRSS", as the kernel writes it, and with a clock, which another reader takes.
TEST(PublishedForms, KilobytesInPagesAreOf1024Bytes) {
  std::string pages, plain, timed;
  for (int i = 0; i < 20; ++i) {
    pages += "VmRSS:\t" + std::to_string(180000 + 12 * i) + " kB\n";
    plain += "resident: " + std::to_string(180000 + 7 * i) + " kB\n";
    timed += "step " + std::to_string(i) + " rss " + std::to_string(180000 + 12 * i) + " kB\n";
  }
  for (const std::string& log : {pages, timed}) {
    const auto runs = import_bytes("log", log);
    ASSERT_TRUE(runs.ok());
    EXPECT_NEAR(runs.value()[0].series[0].mb.front(), 184.32, 1e-6) << log.substr(0, 30);
    ASSERT_FALSE(runs.value()[0].notes.empty());
    EXPECT_NE(runs.value()[0].notes.front().find("1024 bytes"), std::string::npos);
  }
  const auto runs = import_bytes("log", plain);
  ASSERT_TRUE(runs.ok());
  EXPECT_NEAR(runs.value()[0].series[0].mb.front(), 180, 1e-6);
}

TEST(PublishedForms, RoundsOfReadingsWithoutAClockAreOneInstantEach) {
  const auto runs = import_file(kForms + "kubectl_top.txt");
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(runs.value()[0].instants.size(), 40U);
  EXPECT_EQ(runs.value()[0].instants.back().step, 39);
}

// The reader of text knows evaluations; learning alone would tell two courses apart and lose them.
TEST(PublishedForms, EvaluationsBetweenTrainingLinesStayEvents) {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += "step " + std::to_string(i) + " train rss " + std::to_string(900 + i) + " MB\n";
    for (int k = 0; i % 50 == 49 && k < 4; ++k) {
      text += "validation step " + std::to_string(k) + " rss " + std::to_string(2100 + i) + " MB\n";
    }
  }
  const auto runs = import_bytes("log", text);
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(runs.value()[0].instants.size(), 200U);
  EXPECT_GE(runs.value()[0].events.size(), 4U);
}

// A clock or a series that was asked for must not be passed over in silence.
TEST(PublishedForms, AClockOrASeriesThatIsNotThereIsSaid) {
  std::string log;
  for (int i = 0; i < 20; ++i) log += "rss " + std::to_string(300 + i) + " MB\n";
  ImportOptions clock;
  clock.wishes.clock = "wall";
  ImportOptions series;
  series.wishes.series = "rank";
  for (const ImportOptions& asked : {clock, series}) {
    const auto runs = import_bytes("log", log, asked);
    ASSERT_FALSE(runs.ok());
    EXPECT_NE(runs.error().message.find(asked.wishes.clock + asked.wishes.series),
              std::string::npos);
  }
}

// As logrotate's copytruncate leaves it: zero bytes up to where the writer went on.
TEST(PublishedForms, AHoleOfZeroBytesIsPassedOver) {
  std::string log(4096, '\0');
  for (int i = 0; i < 20; ++i) log += "rss " + std::to_string(300 + i) + " MB\n";
  const auto runs = import_bytes("log", log);
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(present(runs.value()[0].series[0]).back(), 319);
  const auto zeros = import_bytes("log", std::string(5000, '\0'));
  ASSERT_FALSE(zeros.ok());
  EXPECT_NE(zeros.error().message.find("zero bytes"), std::string::npos);
}

TEST(PublishedForms, Utf16WithoutAMarkIsRefusedByName) {
  std::string log;
  for (const char c : std::string("rss 300 MB\nrss 310 MB\nrss 320 MB\n")) {
    log += c;
    log += '\0';
  }
  const auto runs = import_bytes("log", log);
  ASSERT_FALSE(runs.ok());
  EXPECT_NE(runs.error().message.find("UTF-16"), std::string::npos);
}

// The same with every line behind another log's prefix: what a collector makes of it.
TEST(PublishedForms, APrefixOnEveryLineChangesNothingForLinesOfText) {
  for (const char* file :
       {"value_with_delta.txt", "rss_kb_bare.txt", "jest.txt", "used_of_limit.txt"}) {
    std::ifstream in(kForms + file);
    std::string text;
    for (std::string line; std::getline(in, line);) {
      text += "2026-03-03T10:00:00Z app-1 INFO " + line + "\n";
    }
    const auto plain = import_file(kForms + file);
    const auto behind = import_bytes("prefixed", text);
    ASSERT_TRUE(plain.ok() && behind.ok()) << file;
    EXPECT_EQ(present(plain.value()[0].series[0]).size(),
              present(behind.value()[0].series[0]).size())
        << file;
  }
}

// Its sections were judged before, and a leak outside them was called fine.
TEST(PublishedForms, WhatTheListedSectionsOfAJvmLeaveIsASeriesOfItsOwn) {
  const auto runs = import_file(kForms + "native_memory_in_part.txt");
  ASSERT_TRUE(runs.ok());
  const plateau::Run& run = runs.value().front();
  double grown = 0;
  for (const Series& series : run.series) grown += series.mb.back() - series.mb.front();
  EXPECT_GT(grown, 100);
}

// A figure that never moves would be an all-clear, whatever the others in its lines do.
TEST(PublishedForms, AFigureThatStandsStillIsNoMemoryUnlessItIsPlain) {
  std::string unsure, plain;
  for (int i = 0; i < 30; ++i) {
    const std::string other = " private " + std::to_string(300 + 7 * i + i % 3) + ".37\n";
    unsure += "heap 1200" + other;
    plain += "heap 1200 MB" + other;
  }
  std::string training;
  for (int i = 0; i < 30; ++i) {
    training += "heap 1200 loss " + std::to_string(3 - 0.01 * i) + "\n";
  }
  EXPECT_FALSE(import_bytes("unsure", unsure).ok());
  EXPECT_TRUE(import_bytes("training", training).ok()) << "a loss is no rival";
  EXPECT_TRUE(import_bytes("plain", plain).ok());
}

// The same length of a step, 1024 times apart: bytes that `ps` would have printed as KiB.
TEST(PublishedForms, BytesAloneAfterATimeAreToldFromKibByTheirPages) {
  std::string bytes, kib;
  for (int i = 0; i < 30; ++i) {
    const std::string time = std::to_string(1772532000 + 10 * i);
    bytes += time + " " + std::to_string(4096 * (50000 + i * i % 97)) + "\n";
    kib += time + " " + std::to_string(4 * (50000 + i * i % 97)) + "\n";
  }
  for (const std::string& log : {bytes, kib}) {
    const auto runs = import_bytes("log", log);
    ASSERT_TRUE(runs.ok());
    EXPECT_NEAR(runs.value()[0].series[0].mb.front(), 204.8, 1e-6);
  }
}

// A pool that never moves, taken for a device's, was judged in place of what the system uses.
TEST(PublishedForms, WhatIsReservedIsADevicesPoolOnlyBesideADevice) {
  std::string game, training;
  for (int i = 0; i < 20; ++i) {
    const std::string at = "Frame " + std::to_string(60 * i);
    const std::string grows = std::to_string(1100 + 9 * i) + " MB";
    game += at + "  System Used Memory: " + grows + "  GC Reserved Memory: 310 MB\n";
    training += at + "  GPU allocated: " + grows + "  reserved: 2048 MB\n";
  }
  const auto count = [](const std::string& log) {
    const auto runs = import_bytes("log", log);
    return runs.ok() ? std::count_if(
                           runs.value()[0].series.begin(), runs.value()[0].series.end(),
                           [](const auto& series) { return series.metric == Metric::gpu_reserved; })
                     : -1;
  };
  EXPECT_EQ(count(game), 0);
  EXPECT_EQ(count(training), 1);
}

}  // namespace
}  // namespace plateau
