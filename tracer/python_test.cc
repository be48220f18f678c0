// SPDX-License-Identifier: Apache-2.0
// Real interpreters under the tracer: Python frames, small objects, arenas, forks.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/python_for_test.h"
#include "tracer/testing/traced_run.h"

namespace plateau::trace::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::StartsWith;

std::string script() {
  return std::string(PLATEAU_SOURCE_DIR) + "/tracer/testing/chain.py";
}

// The segment of the interpreter itself.
const SegmentContents* python_segment(const TracedRun& run) {
  for (const SegmentContents& segment : run.segments) {
    if (segment.python_minor != 0) return &segment;
  }
  return nullptr;
}

const StackFrames* stack_of_block(const SegmentContents& segment, uint64_t bytes) {
  for (const HeapEvent& event : segment.events) {
    if (event.type != RecordType::alloc || event.bytes != bytes) continue;
    const auto stack = segment.stacks.find(event.stack);
    return stack != segment.stacks.end() ? &stack->second : nullptr;
  }
  return nullptr;
}

// "Holder.h:9" and so on, without what encloses a function: before 3.11 that is not known.
std::vector<std::string> functions(const SegmentContents& segment, const StackFrames& stack) {
  std::vector<std::string> out;
  for (const PythonFrameWords& frame : stack.python) {
    const auto code = segment.codes.find(frame.code);
    if (code == segment.codes.end()) {
      out.emplace_back("?");
      continue;
    }
    const std::string& name = code->second.function;
    out.push_back(name.substr(name.rfind('.') + 1) + ":" + std::to_string(code->second.first_line));
  }
  return out;
}

// Where the file says the exported function begins and ends; both 0 if it is not there.
std::pair<uint64_t, uint64_t> function_range(const std::string& path, const std::string& name) {
  std::ifstream in(path, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(in)), {});
  const auto at = [&]<typename T>(uint64_t offset, T) {
    T value{};
    if (offset + sizeof value <= file.size()) memcpy(&value, file.data() + offset, sizeof value);
    return value;
  };
  const auto header = at(0, Elf64_Ehdr{});
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = at(header.e_shoff + i * header.e_shentsize, Elf64_Shdr{});
    if (section.sh_type != SHT_DYNSYM) continue;
    const auto names = at(header.e_shoff + section.sh_link * header.e_shentsize, Elf64_Shdr{});
    for (uint64_t offset = 0; offset < section.sh_size; offset += sizeof(Elf64_Sym)) {
      const auto symbol = at(section.sh_offset + offset, Elf64_Sym{});
      const char* text = file.data() + names.sh_offset + symbol.st_name;
      if (symbol.st_shndx != SHN_UNDEF && name == text) {
        return {symbol.st_value, symbol.st_value + symbol.st_size};
      }
    }
  }
  return {0, 0};
}

// How many of the native frames are the interpreter's loop.
size_t loops(const SegmentContents& segment, const StackFrames& stack) {
  for (const ModuleText& module : segment.modules) {
    const auto [begin, end] = function_range(module.path, "_PyEval_EvalFrameDefault");
    if (begin == end) continue;
    return static_cast<size_t>(
        std::count_if(stack.native.begin(), stack.native.end(), [&](uint64_t address) {
          return address - module.bias > begin && address - module.bias <= end;
        }));
  }
  return 0;
}

class Python : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    path_ = python_for_test(GetParam());
    if (path_.empty()) GTEST_SKIP() << "CPython 3." << GetParam() << " is not installed";
  }
  TracedRun run(const std::string& what, const std::string& mode) const {
    TracedRun done = run_traced({.command = {path_, "-I", "-S", script(), what}, .mode = mode});
    EXPECT_EQ(done.status, 0);
    return done;
  }
  std::string path_;
};

void expect_chain(const SegmentContents& segment) {
  const StackFrames* stack = stack_of_block(segment, 3000001);
  ASSERT_NE(stack, nullptr);
  std::vector<std::string> names = functions(segment, *stack);
  ASSERT_GE(names.size(), 8U);
  EXPECT_THAT(names.back(), StartsWith("<module>:"));
  names.resize(7);
  EXPECT_THAT(names, ElementsAre("h:9", "<lambda>:16", "g:13", "g:13", "g:13", "größe:20", "f:19"));
  for (const PythonFrameWords& frame : stack->python) {
    const CodeText& code = segment.codes.at(frame.code);
    EXPECT_GE(frame.instruction, 0);
    // Up to 3.9 code of a single line has an empty one.
    EXPECT_TRUE(code.line_table_bytes > 0 || code.minor < 10);
    EXPECT_EQ(code.minor, segment.python_minor);
  }
  EXPECT_THAT(segment.codes.at(stack->python[0].code).file, EndsWith("chain.py"));
  // Each loop of the interpreter on the native stack has one frame that began it.
  const auto entries =
      std::count_if(stack->python.begin(), stack->python.end(),
                    [](const PythonFrameWords& frame) { return frame.entry == 1; });
  EXPECT_EQ(static_cast<size_t>(entries), loops(segment, *stack));
  EXPECT_EQ(stack->python.back().entry, 1U);
}

TEST_P(Python, FramesNameFunctionFileAndFirstLine) {
  const TracedRun done = run("chain", "sampled:65536");
  const SegmentContents* segment = python_segment(done);
  ASSERT_NE(segment, nullptr);
  if (GetParam() != 0) {
    EXPECT_EQ(segment->python_minor, static_cast<uint32_t>(GetParam()));
  }
  EXPECT_FALSE(segment->python_hooked);
  expect_chain(*segment);
}

TEST_P(Python, FramesOfAnotherThreadAreItsOwn) {
  const TracedRun done = run("thread", "sampled:65536");
  const SegmentContents* segment = python_segment(done);
  ASSERT_NE(segment, nullptr);
  const StackFrames* stack = stack_of_block(*segment, 3000001);
  ASSERT_NE(stack, nullptr);
  const std::vector<std::string> names = functions(*segment, *stack);
  ASSERT_GE(names.size(), 9U);
  EXPECT_EQ(names[0], "h:9");
  EXPECT_EQ(names[7].substr(0, 4), "run:");
}

TEST_P(Python, ChildToldEverythingAnew) {
  const TracedRun done = run("fork", "sampled:65536");
  const SegmentContents* child = done.of(static_cast<uint32_t>(atoi(done.output.c_str())));
  ASSERT_NE(child, nullptr);
  EXPECT_NE(child->python_minor, 0U);
  const StackFrames* stack = stack_of_block(*child, 5000001);
  ASSERT_NE(stack, nullptr);
  EXPECT_THAT(functions(*child, *stack), ElementsAre("child:29", StartsWith("<module>:")));
  EXPECT_FALSE(child->modules.empty());
}

TEST_P(Python, SmallObjectsAreEstimatedInExactMode) {
  const TracedRun done = run("small", "exact:0");
  const SegmentContents* segment = python_segment(done);
  ASSERT_NE(segment, nullptr);
  EXPECT_TRUE(segment->python_hooked);
  double made_bytes = 0;
  for (const HeapEvent& event : segment->events) {
    if (event.type != RecordType::alloc || event.kind != BlockKind::python) continue;
    ASSERT_GT(event.interval_log2, 0U);
    const StackFrames& stack = segment->stacks.at(event.stack);
    const std::vector<std::string> names = functions(*segment, stack);
    if (std::find(names.begin(), names.end(), "make:25") == names.end()) continue;
    const auto bytes = static_cast<double>(event.bytes);
    made_bytes += bytes / (1 - std::exp(-bytes / std::pow(2.0, event.interval_log2)));
  }
  // A million floats of 24 bytes and as many integers of 28 (asked for as such) that come and go:
  // hundreds of samples, so a quarter off would be five standard deviations.
  EXPECT_GT(made_bytes, 0.75 * 24e6);
  EXPECT_LT(made_bytes, 1.25 * (24e6 + 32e6));
}

TEST_P(Python, ArenasAreToldWithTheirStacks) {
  const TracedRun done = run("small", "sampled:524288");
  const SegmentContents* segment = python_segment(done);
  ASSERT_NE(segment, nullptr);
  double arena_bytes = 0;
  for (const HeapEvent& event : segment->events) {
    if (event.type != RecordType::alloc || event.kind != BlockKind::arena) continue;
    const std::vector<std::string> names = functions(*segment, segment->stacks.at(event.stack));
    if (std::find(names.begin(), names.end(), "make:25") != names.end()) {
      arena_bytes += static_cast<double>(event.bytes);
    }
  }
  EXPECT_GT(arena_bytes, 22e6);
  EXPECT_LT(arena_bytes, 40e6);
}

TEST_P(Python, AnotherAllocatorThanPythonsOwnIsLeftAlone) {
  const TracedRun done = run_traced(
      {.command = {"/usr/bin/env", "PYTHONMALLOC=malloc", path_, "-S", script(), "chain"},
       .mode = "exact:0"});
  EXPECT_EQ(done.status, 0);
  const SegmentContents* segment = python_segment(done);
  ASSERT_NE(segment, nullptr);
  EXPECT_FALSE(segment->python_hooked);
}

INSTANTIATE_TEST_SUITE_P(Cpython, Python, ::testing::Values(0, 8, 9, 10, 11, 12, 13, 14),
                         [](const ::testing::TestParamInfo<int>& version) {
                           return version.param == 0 ? std::string("system")
                                                     : "3_" + std::to_string(version.param);
                         });

}  // namespace
}  // namespace plateau::trace::testing
