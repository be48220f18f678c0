// SPDX-License-Identifier: Apache-2.0
#include "symbols/jit_names.h"

#include <gtest/gtest.h>

#include <cstring>

namespace plateau {
namespace {

template <class Number>
void put(std::string& bytes, Number value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string dump_with(uint64_t begin, uint64_t size, const std::string& name) {
  std::string bytes;
  put<uint32_t>(bytes, 0x4A695444);
  put<uint32_t>(bytes, 1);
  put<uint32_t>(bytes, 40);
  bytes.resize(40);
  put<uint32_t>(bytes, 0);
  put<uint32_t>(bytes, static_cast<uint32_t>(56 + name.size() + 1 + size));
  put<uint64_t>(bytes, 7);  // Time.
  put<uint32_t>(bytes, 42);
  put<uint32_t>(bytes, 42);
  put<uint64_t>(bytes, begin);
  put<uint64_t>(bytes, begin);
  put<uint64_t>(bytes, size);
  put<uint64_t>(bytes, 1);
  bytes += name + '\0' + std::string(size, 'x');
  return bytes;
}

TEST(JitNames, PerfMapNamesAddressesAndTheNewestCounts) {
  JitNames names;
  names.add_perf_map(
      "1000 100 LazyCompile:~old a.js:1\n2000 10 other\nnonsense\n1080 80 new one\n");
  EXPECT_EQ(names.at(0x1000), "");
  EXPECT_EQ(names.at(0x1080), "new one");
  EXPECT_EQ(names.at(0x10ff), "new one");
  EXPECT_EQ(names.at(0x1100), "");
  EXPECT_EQ(names.at(0x200f), "other");
  EXPECT_EQ(names.at(0xfff), "");
}

TEST(JitNames, DumpIsReadToItsEndOrToWhereItBreaks) {
  JitNames names;
  std::string bytes = dump_with(0x5000, 32, "jitted");
  names.add_dump(bytes);
  EXPECT_EQ(names.at(0x501f), "jitted");
  EXPECT_EQ(names.at(0x5020), "");
  for (size_t cut = 0; cut < bytes.size(); ++cut) JitNames().add_dump(bytes.substr(0, cut));
  bytes[44] = '\xff';
  bytes[47] = '\x7f';
  JitNames broken;
  broken.add_dump(bytes);
  EXPECT_TRUE(broken.empty());
}

}  // namespace
}  // namespace plateau
