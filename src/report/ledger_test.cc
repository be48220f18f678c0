// SPDX-License-Identifier: Apache-2.0
#include "report/ledger.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/stored_page_for_test.h"

namespace plateau {
namespace {

Ledger example() {
  ResidentByMapping resident;
  resident.heap = 400'000'000;
  resident.anonymous = 900'000'000;
  resident.file = 150'000'000;
  resident.file_written = 12'000'000;
  resident.shared = 64'000'000;
  resident.stacks = 6'000'000;
  resident.rss = 1'532'000'000;
  HeapTrack track;
  track.interval_bytes = 524288;
  track.allocator = "glibc";
  track.python_hooked = true;
  track.stacks.resize(1);
  track.sites = {{.kind = HeapKind::heap, .live_variance = 1.6e14},
                 {.kind = HeapKind::python},
                 {.kind = HeapKind::arena}};
  track.rows.resize(1);
  track.rows[0].cells = {{0, 812e6, 900}, {1, 100e6, 5e5}, {2, 131e6, 500}};
  track.rows[0].allocator_in_use = 840e6;
  track.rows[0].allocator_free = 420e6;
  return make_ledger(resident, &track);
}

LedgerGrowth example_growth() {
  LedgerGrowth growth;
  growth.from_step = 10;
  growth.to_step = 1090;
  growth.to_s = 540;
  growth.change.rss_mb = 168;
  growth.change.lines = {{"live-heap", 151.5, "tracer, every allocation"},
                         {"allocator-held", -3.25, "glibc, free"},
                         {"files", 0, "RssFile"},
                         {"shared", 12, "RssShmem"}};
  growth.change.rest_mb = 7.75;
  return growth;
}

TEST(LedgerText, LooksAsStored) {
  expect_page("ledger-80", ledger_text(example(), {.width = 80}));
  expect_page("ledger-120", ledger_text(example(), {.width = 120}));
  expect_page("ledger-ascii", ledger_text(example(), {.width = 100, .utf8 = false}));
  expect_page("ledger-growth-120", ledger_growth_text(example_growth(), {.width = 120}));
}

TEST(LedgerText, FitsEveryTerminalFromSixtyToTwoHundred) {
  for (size_t width = 60; width <= 200; width += 10) {
    expect_narrow(ledger_text(example(), {.width = width}), width);
  }
}

TEST(LedgerText, ChangeWithoutStepsIsToldInTime) {
  LedgerGrowth growth = example_growth();
  growth.from_step = -1;
  growth.to_step = -1;
  const std::string text = ledger_growth_text(growth, {});
  EXPECT_EQ(text.substr(0, text.find('\n')), "resident +168 MB from 0 s to 9 min =");
}

TEST(LedgerText, NothingOfAForeignTextReachesTheTerminal) {
  Ledger ledger = example();
  ledger.notes = {"\x1b[2Jcleared"};
  ledger.lines[0].source = "a\x1b]0;title\x07z";
  const std::string text = ledger_text(ledger, {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("cleared"), std::string::npos);
}

TEST(LedgerJson, HoldsEveryLineAlsoThoseThatAreZero) {
  JsonWriter json;
  write_ledger_growth_json(json, example_growth());
  EXPECT_EQ(json.text(),
            R"({"from_step":10,"to_step":1090,"from_s":0,"to_s":540,"rss_mb":168,"lines":[)"
            R"({"name":"live-heap","mb":151.5,"source":"tracer, every allocation"},)"
            R"({"name":"allocator-held","mb":-3.25,"source":"glibc, free"},)"
            R"({"name":"files","mb":0,"source":"RssFile"},)"
            R"({"name":"shared","mb":12,"source":"RssShmem"}],"rest_mb":7.75,"notes":[]})");
  JsonWriter plain;
  write_ledger_json(plain, {});
  EXPECT_EQ(plain.text(), R"({"rss_mb":0,"lines":[],"rest_mb":0,"notes":[]})");
}

}  // namespace
}  // namespace plateau
