// SPDX-License-Identifier: Apache-2.0
// What the built library shows to the outside: its names, its needs, its versions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "tracer/testing/traced_run.h"

namespace plateau::trace::testing {
namespace {

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string out;
  std::array<char, 4096> bytes;
  while (const size_t got = fread(bytes.data(), 1, bytes.size(), pipe.get())) {
    out.append(bytes.data(), got);
  }
  return out;
}

std::set<std::string> names_in_map() {
  std::ifstream file(PLATEAU_SOURCE_DIR "/tracer/exports.map");
  std::stringstream text;
  text << file.rdbuf();
  const std::string whole = text.str();
  const size_t begin = whole.find("global:") + 7;
  std::istringstream list(whole.substr(begin, whole.find("local:") - begin));
  std::set<std::string> names;
  std::string name;
  while (list >> name) {
    names.insert(name.substr(0, name.find(';')));
  }
  return names;
}

TEST(TracerLibrary, ExportsExactlyWhatItsMapSays) {
  std::istringstream lines(output_of("nm -D --defined-only " + tracer_library()));
  std::set<std::string> exported;
  std::string line;
  while (std::getline(lines, line)) {
    exported.insert(line.substr(line.rfind(' ') + 1));
  }
  EXPECT_GT(exported.size(), 30U);
  EXPECT_EQ(exported, names_in_map());
}

TEST(TracerLibrary, NeedsLibcAlone) {
  std::istringstream lines(output_of("readelf -dW " + tracer_library()));
  std::string line;
  std::set<std::string> needed;
  while (std::getline(lines, line)) {
    if (line.find("(NEEDED)") != std::string::npos) {
      needed.insert(line.substr(line.find('[')));
    }
  }
  needed.erase("[ld-linux-x86-64.so.2]");
  needed.erase("[ld-linux-aarch64.so.1]");
  EXPECT_EQ(needed, std::set<std::string>{"[libc.so.6]"});
}

TEST(TracerLibrary, RunsWithGlibcOf2021) {
  const std::string symbols = output_of("nm -D --undefined-only " + tracer_library());
  int newest = 0;
  for (size_t at = symbols.find("GLIBC_2."); at != std::string::npos;
       at = symbols.find("GLIBC_2.", at + 1)) {
    newest = std::max(newest, std::atoi(symbols.c_str() + at + 8));
  }
  EXPECT_GT(newest, 0);
  EXPECT_LE(newest, 34);
}

// In the table that a strip leaves: what is shipped has no other.
TEST(TracerLibrary, KeepsTheEntriesThatAttachingLooksFor) {
  const std::string symbols = output_of("nm -D --defined-only " + tracer_library());
  for (const char* name :
       {"plateau_tracer_attach", "plateau_tracer_detach", "plateau_tracer_inside",
        "plateau_tracer_patch", "plateau_tracer_unpatch"}) {
    EXPECT_THAT(symbols, ::testing::HasSubstr(std::string(" T ") + name)) << name;
  }
}

TEST(TracerLibrary, HasATwinOfWhatItReplacesInTablesOfAddresses) {
  const std::string symbols = output_of("nm " + tracer_library());
  for (const char* name : {"plateau_malloc", "plateau_free", "plateau_mmap", "plateau__Znwm"}) {
    EXPECT_THAT(symbols, ::testing::HasSubstr(std::string(" t ") + name)) << name;
  }
}

// More than what fits into the storage that is set aside for libraries loaded later would make
// attaching fail.
TEST(TracerLibrary, TakesLittleThreadLocalStorage) {
  const std::string segments = output_of("readelf -lW " + tracer_library());
  const size_t line = segments.find("\n  TLS ");
  ASSERT_NE(line, std::string::npos);
  std::istringstream fields(segments.substr(line));
  std::string field;
  for (int i = 0; i < 6; ++i) {
    fields >> field;  // Type, offset, two addresses, bytes in the file, bytes in memory.
  }
  EXPECT_GT(std::stoul(field, nullptr, 16), 0U);
  EXPECT_LE(std::stoul(field, nullptr, 16), 256U);
}

}  // namespace
}  // namespace plateau::trace::testing
