// SPDX-License-Identifier: Apache-2.0
#include "census/find_python.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/invented_memory.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;

constexpr pid_t kPid = 4242;

TEST(PythonName, VersionIsReadFromFileNames) {
  EXPECT_EQ(python_name("/usr/lib/x86_64-linux-gnu/libpython3.9.so.1.0").minor, 9);
  EXPECT_EQ(python_name("/opt/conda/bin/python3.10").minor, 10);
  EXPECT_EQ(python_name("/x/lib/python3.8/lib-dynload/_json.so").minor, 8);
  EXPECT_EQ(python_name("/x/_json.cpython-312-x86_64-linux-gnu.so").minor, 12);
  EXPECT_EQ(python_name("/x/_json.cpython-38-x86_64-linux-gnu.so").minor, 8);
  EXPECT_EQ(python_name("/usr/bin/python3").minor, -1);
  EXPECT_EQ(python_name("/usr/bin/python2.7").minor, -1);
  EXPECT_EQ(python_name("python3.").minor, -1);
  EXPECT_EQ(python_name("").minor, -1);
}

TEST(PythonName, FreeThreadedBuildsCarryALetter) {
  EXPECT_TRUE(python_name("/usr/lib/libpython3.13t.so.1.0").free_threaded);
  EXPECT_TRUE(python_name("/usr/bin/python3.13t").free_threaded);
  EXPECT_TRUE(python_name("/x/_json.cpython-313t-x86_64-linux-gnu.so").free_threaded);
  EXPECT_FALSE(python_name("/usr/lib/libpython3.13.so.1.0").free_threaded);
}

// A runtime that states itself, as from 3.13 on.
class StatedRuntime {
 public:
  StatedRuntime(uint64_t version, uint64_t free_threaded) : memory(4096) {
    const PythonLayout& layout = *python_layout(13);
    runtime = memory.take(2048);
    memory.put_text(runtime, "xdebugpy");
    put(layout.debug_version, version);
    put(layout.debug_free_threaded, free_threaded);
    put(layout.debug_interpreters_head, 640);
    put(layout.debug_interpreter_gc, 7000);
    put(layout.debug_gc_collecting, 200);
  }
  void put(int32_t at, uint64_t value) { memory.put(runtime + static_cast<uint32_t>(at), value); }

  InventedMemory memory;
  uint64_t runtime = 0;
};

TEST(PlaceOfRuntime, StatedOffsetsWinOverTheTable) {
  StatedRuntime python(0x030D02F0, 0);
  const auto place = place_of_runtime(kPid, python.memory, python.runtime, {.minor = 9});
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place.value().layout.minor, 13);
  EXPECT_EQ(place.value().layout.runtime_interpreters_head, 640);
  EXPECT_EQ(place.value().layout.gc, 7000);
}

TEST(PlaceOfRuntime, FreeThreadedIsRefused) {
  StatedRuntime python(0x030D00F0, 1);
  const auto place = place_of_runtime(kPid, python.memory, python.runtime, {});
  ASSERT_FALSE(place.ok());
  EXPECT_THAT(place.error().message, HasSubstr("free-threaded CPython 3.13"));
}

TEST(PlaceOfRuntime, LaterVersionIsRefusedByName) {
  StatedRuntime python(0x030F00F0, 0);
  const auto place = place_of_runtime(kPid, python.memory, python.runtime, {});
  ASSERT_FALSE(place.ok());
  EXPECT_THAT(place.error().message, HasSubstr("CPython 3.15"));
}

TEST(PlaceOfRuntime, EarlierVersionsAreToldByName) {
  InventedMemory memory(4096);
  const uint64_t runtime = memory.take(2048);
  const auto place = place_of_runtime(kPid, memory, runtime, {.minor = 10});
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place.value().layout.minor, 10);
  EXPECT_FALSE(place_of_runtime(kPid, memory, runtime, {.minor = 7}).ok());
  EXPECT_FALSE(place_of_runtime(kPid, memory, runtime, {}).ok());
}

}  // namespace
}  // namespace plateau
