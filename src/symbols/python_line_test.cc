// SPDX-License-Identifier: Apache-2.0
// Line tables against every interpreter of this machine, and by hand where one is needed.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "base/files.h"
#include "symbols/stack_names.h"
#include "symbols/testing/commands.h"

namespace plateau {
namespace {

using testing::from_hex;
using testing::output_of;
using testing::python_programs;
using testing::split;

void replace(std::string& text, const std::string& what, const std::string& by) {
  text.replace(text.find(what), what.size(), by);
}

// The script with a gap of 300 lines in one function, and 400 statements in another.
std::string script() {
  std::string text = text_of_file(PLATEAU_SOURCE_DIR "/src/symbols/testing/line_tables.py");
  replace(text, "@GAP@", std::string(300, '\n'));
  std::string many;
  for (int i = 0; i < 400; ++i) many += "    x = x + len(str(x)) * " + std::to_string(i) + "\n\n";
  replace(text, "@MANY@", many);
  return text;
}

TEST(PythonLine, EveryInstructionHasTheLineThatItsInterpreterGives) {
  // given
  const ScratchDirectory directory;
  const std::string path = (directory.path() / "line_tables.py").string();
  std::ofstream(path) << script();
  std::set<int> versions;

  for (const std::string& program : python_programs()) {
    // when
    const std::string output = output_of(program + " " + path);
    ASSERT_FALSE(output.empty()) << program;
    size_t instructions = 0;
    for (const std::string& row : split(output, '\n')) {
      const auto fields = split(row, ' ');
      ASSERT_EQ(fields.size(), 4u) << row;
      const PythonCode code{.first_line = std::stoi(fields[1]),
                            .minor = static_cast<uint16_t>(std::stoi(fields[0])),
                            .line_table = fields[2] == "-" ? "" : from_hex(fields[2])};
      versions.insert(code.minor);
      for (const std::string& pair : split(fields[3], ',')) {
        const int offset = std::stoi(pair);
        const int line = std::stoi(pair.substr(pair.find(':') + 1));
        // then
        ASSERT_EQ(python_line(code, offset), line == 0 ? code.first_line : line)
            << program << " line " << code.first_line << " offset " << offset;
        ++instructions;
      }
    }
    EXPECT_GT(instructions, 2000u) << program;
  }
  std::string tested;
  for (const int minor : versions) tested += " 3." + std::to_string(minor);
  RecordProperty("versions", tested);
  if (versions.empty()) GTEST_SKIP() << "no CPython 3.8 to 3.14 on this machine";
}

TEST(PythonLine, NoInstructionYetIsTheFirstLine) {
  const PythonCode code{.first_line = 12, .minor = 11, .line_table = from_hex("d8070d")};

  EXPECT_EQ(python_line(code, -1), 12);
  EXPECT_EQ(python_line(code, 0), 13);
}

TEST(PythonLine, OffsetPastTheTableIsTheFirstLine) {
  const PythonCode location_table{.first_line = 12, .minor = 11, .line_table = from_hex("d8070d")};
  const PythonCode ranges{.first_line = 12, .minor = 10, .line_table = from_hex("0405")};

  EXPECT_EQ(python_line(location_table, 2), 12);
  EXPECT_EQ(python_line(ranges, 2), 17);
  EXPECT_EQ(python_line(ranges, 4), 12);
}

TEST(PythonLine, RangeWithoutALineIsTheFirstLine) {
  const PythonCode ranges{.first_line = 12, .minor = 10, .line_table = from_hex("04050680")};

  EXPECT_EQ(python_line(ranges, 5), 12);
}

}  // namespace
}  // namespace plateau
