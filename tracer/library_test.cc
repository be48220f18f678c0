// SPDX-License-Identifier: Apache-2.0
// What the built library shows to the outside: its names, its needs, its versions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <regex>
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
  const std::string list = whole.substr(begin, whole.find("local:") - begin);
  std::set<std::string> names;
  const std::regex word("\\w+");
  for (auto it = std::sregex_iterator(list.begin(), list.end(), word); it != std::sregex_iterator();
       ++it) {
    names.insert(it->str());
  }
  return names;
}

TEST(TracerLibrary, ExportsExactlyWhatItInterposes) {
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
  // Weak ones are done without where they are not there.
  const std::string symbols =
      output_of("nm -D --undefined-only " + tracer_library() + " | grep -v ' w '");
  const std::regex version("GLIBC_2\\.(\\d+)");
  int newest = 0;
  for (auto it = std::sregex_iterator(symbols.begin(), symbols.end(), version);
       it != std::sregex_iterator(); ++it) {
    newest = std::max(newest, std::stoi((*it)[1]));
  }
  EXPECT_GT(newest, 0);
  EXPECT_LE(newest, 34);
}

TEST(TracerLibrary, KeepsTheEntriesThatAttachingLooksFor) {
  const std::string symbols = output_of("nm " + tracer_library());
  for (const char* name : {"plateau_tracer_attach", "plateau_tracer_detach", "plateau_malloc",
                           "plateau_free", "plateau_mmap", "plateau__Znwm"}) {
    EXPECT_THAT(symbols, ::testing::HasSubstr(std::string(" t ") + name)) << name;
  }
}

// More than what fits into the storage that is set aside for libraries loaded later would make
// attaching fail.
TEST(TracerLibrary, TakesLittleThreadLocalStorage) {
  const std::string segments = output_of("readelf -lW " + tracer_library());
  const std::regex tls("TLS\\s+\\S+\\s+\\S+\\s+\\S+\\s+\\S+\\s+(0x[0-9a-f]+)");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(segments, match, tls));
  EXPECT_LE(std::stoul(match[1], nullptr, 16), 256U);
}

}  // namespace
}  // namespace plateau::trace::testing
