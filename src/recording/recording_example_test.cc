// SPDX-License-Identifier: Apache-2.0
// The worked example of docs/formats/recording.md, and the fixture that every later version must
// read: both hold exactly the bytes that this program writes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "recording/recording.h"
#include "recording/recording_reader.h"
#include "recording/sample_for_test.h"

namespace plateau {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

// Ten rows into a table of eight: six of them end up in spans.
std::string example_bytes() {
  const auto path = std::filesystem::path(testing::TempDir()) /
                    ("plateau-example-" + std::to_string(::getpid()) + ".plateau");
  RecordingHead head;
  head.command = "py x";
  head.host = "h";
  head.plateau_version = "0.1.0";
  head.interval_s = 1;
  auto made = RecordingWriter::create(path, head, 8);
  EXPECT_TRUE(made.ok());
  RecordingWriter& writer = made.value();
  const size_t process = writer.process({.id = 7,
                                         .parent = -1,
                                         .id_is_pid = true,
                                         .name = "py",
                                         .role = Role::main,
                                         .role_reason = "root"},
                                        42);
  const size_t anon = writer.memory_column(process, Metric::anon);
  const size_t cpu = writer.gauge_column(process, "cpu_s");
  writer.fact(&Context::limit_mb, 2, "--limit");
  for (int i = 0; i < 10; ++i) {
    if (i == 9) writer.event(EventKind::eval, "val", 8.5);
    writer.row(sample_at({.step = i / 2, .time_s = 1.0 * i}, {{anon, 1000 + 100 * (i % 3)}},
                         {{cpu, 0.5 * i}}));
  }
  writer.finish({.kind = Ending::Kind::exited, .code = 0, .text = ""});
  const std::string bytes = text_of(path);
  std::filesystem::remove(path);
  return bytes;
}

// As the page shows it: records on lines of their own, up to 16 bytes a line.
std::string hex_of(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x} ", static_cast<unsigned char>(c));
  return out;
}

std::string bytes_of_page() {
  std::istringstream page(
      text_of(std::filesystem::path(PLATEAU_SOURCE_DIR) / "docs/formats/recording.md"));
  std::string bytes;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) inside = line == "```hex";
    if (!inside || line.starts_with("```")) continue;
    std::istringstream words(line.substr(0, line.find('|')));
    for (std::string word; words >> word;) {
      bytes.push_back(static_cast<char>(std::stoi(word, nullptr, 16)));
    }
  }
  return bytes;
}

TEST(RecordingPage, ShowsTheBytesThatAreWritten) {
  const std::string bytes = example_bytes();
  std::vector<ReadRecord> records;
  ASSERT_TRUE(load_recording("example", bytes, &records).ok());
  std::string expected = hex_of(std::string_view(bytes).substr(0, records.front().offset)) + "\n";
  for (const ReadRecord& record : records) {
    expected += hex_of(std::string_view(bytes).substr(record.offset, record.frame.size)) + "\n";
  }
  EXPECT_EQ(hex_of(bytes_of_page()), hex_of(bytes)) << "record by record:\n" << expected;
}

TEST(RecordingFixture, OfVersionOneIsReadForEver) {
  const std::string bytes = text_of(std::filesystem::path(PLATEAU_SOURCE_DIR) /
                                    "tests/fixtures/logs/recording_v1.plateau");
  const auto run = read_recording("fixture", bytes);
  ASSERT_TRUE(run.ok());
  ASSERT_EQ(run.value().instants.size(), 10u);
  EXPECT_EQ(run.value().instants.back().step, 4);
  EXPECT_EQ(run.value().series[0].mb.back(), 1.024);
  EXPECT_EQ(run.value().gauges[0].value.back(), 4.5);
  EXPECT_EQ(run.value().events.at(0).instant, 9u);
  EXPECT_EQ(run.value().ending.kind, Ending::Kind::exited);
  EXPECT_TRUE(run.value().notes.empty());
}

TEST(RecordingFixture, WithAHeapTrackOfVersionOneIsReadForEver) {
  const std::string bytes = text_of(std::filesystem::path(PLATEAU_SOURCE_DIR) /
                                    "tests/fixtures/recordings/heap_v1.plateau");
  const auto run = read_recording("fixture", bytes);
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(run.value().notes.empty());
  ASSERT_EQ(run.value().heaps.size(), 1u);
  const HeapTrack& track = run.value().heaps[0];
  EXPECT_EQ(track.pid, 7);
  EXPECT_TRUE(track.exact);
  EXPECT_EQ(track.codes.at(0).function, "Loader.decode");
  EXPECT_EQ(track.stacks.at(1).native, (std::vector<uint64_t>{0x403000, 0x402000}));
  EXPECT_EQ(track.stacks.at(0).python.at(0).instruction, 14);
  EXPECT_EQ(track.sites.at(0).allocated_bytes, 6000);
  EXPECT_EQ(track.sites.at(1).kind, HeapKind::python);
  EXPECT_EQ(track.sites.at(1).live_age[3], 1);
  ASSERT_EQ(track.rows.size(), 5u);
  EXPECT_EQ(track.rows[4].cells.at(0).live_bytes, 5000);
  EXPECT_EQ(track.rows[0].allocator_free, -1);
  EXPECT_EQ(track.rows[4].allocator_in_use, 6000);
}

}  // namespace
}  // namespace plateau
