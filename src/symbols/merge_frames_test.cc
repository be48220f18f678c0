// SPDX-License-Identifier: Apache-2.0
#include "symbols/merge_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace plateau {
namespace {

using ::testing::ElementsAre;

NativeFrame library(const std::string& function) {
  return {.names = {{.function = function, .module = "_imaging.so"}}};
}
NativeFrame cpython(const std::string& function) {
  return {.names = {{.function = function, .module = "python3.11"}},
          .runs_python = is_interpreter_loop(function),
          .of_interpreter = true};
}
NativeFrame loop() {
  return cpython("_PyEval_EvalFrameDefault");
}
NamedPythonFrame python(const std::string& function, bool entry) {
  return {.name = {.kind = FrameKind::python, .function = function}, .entry = entry};
}

// "name" for native, "name/i" for the interpreter's machinery, "name/p" for Python.
std::vector<std::string> words(const std::vector<FrameName>& frames) {
  std::vector<std::string> result;
  for (const FrameName& frame : frames) {
    const char* mark = frame.kind == FrameKind::python        ? "/p"
                       : frame.kind == FrameKind::interpreter ? "/i"
                       : frame.kind == FrameKind::inlined     ? "/l"
                                                              : "";
    result.push_back(frame.function + mark);
  }
  return result;
}

TEST(MergeFrames, EachGroupTakesThePlaceOfItsCallOfTheLoop) {
  const auto merged = merge_frames(
      {library("ImagingNew"), library("decode_c"), cpython("method_vectorcall_VARARGS"), loop(),
       cpython("_PyObject_Vectorcall"), loop(), cpython("Py_RunMain")},
      {python("decode", false), python("load", true), python("train", false),
       python("<module>", true)},
      false);

  EXPECT_THAT(words(merged), ElementsAre("ImagingNew", "decode_c", "method_vectorcall_VARARGS/i",
                                         "decode/p", "load/p", "_PyObject_Vectorcall/i", "train/p",
                                         "<module>/p", "Py_RunMain/i"));
}

TEST(MergeFrames, AllocationByTheInterpreterItselfKeepsItsFunction) {
  const auto merged = merge_frames({cpython("list_resize"), loop(), cpython("Py_RunMain")},
                                   {python("grow", true)}, false);

  EXPECT_THAT(words(merged), ElementsAre("list_resize", "grow/p", "Py_RunMain/i"));
}

TEST(MergeFrames, UnnamedHelpersBetweenALibraryAndPythonAreMachinery) {
  const auto merged =
      merge_frames({library("decode_c"), cpython(""), loop()}, {python("load", true)}, false);

  EXPECT_THAT(words(merged), ElementsAre("decode_c", "/i", "load/p"));
}

TEST(MergeFrames, LoopFramesWithoutPythonFramesStayAsMachinery) {
  // The Python stack was cut at its limit: its innermost frames are there.
  const auto merged = merge_frames({library("f"), loop(), loop(), loop()},
                                   {python("a", true), python("b", true)}, true);

  EXPECT_THAT(words(merged), ElementsAre("f", "a/p", "b/p", "_PyEval_EvalFrameDefault/i"));
}

TEST(MergeFrames, PythonFramesBeyondACutNativeStackComeLast) {
  const auto merged = merge_frames({library("f"), loop(), cpython("PyObject_Call")},
                                   {python("a", true), python("b", true), python("c", true)}, true);

  EXPECT_THAT(words(merged), ElementsAre("f", "a/p", "PyObject_Call/i", "b/p", "c/p"));
}

TEST(MergeFrames, PythonFramesLeftOverInAWholeStackFollowTheLastCallOfTheLoop) {
  const auto merged = merge_frames({library("f"), loop(), cpython("Py_RunMain"), library("_start")},
                                   {python("a", true), python("b", true)}, false);

  EXPECT_THAT(words(merged), ElementsAre("f", "a/p", "b/p", "Py_RunMain/i", "_start"));
}

TEST(MergeFrames, WithoutAKnownLoopPythonComesBeforeTheInterpretersFrames) {
  const auto merged = merge_frames({library("f"), cpython(""), cpython(""), library("_start")},
                                   {python("a", true)}, false);

  EXPECT_THAT(words(merged), ElementsAre("f", "a/p", "/i", "/i", "_start"));
}

TEST(MergeFrames, PythonAloneIsKept) {
  EXPECT_THAT(words(merge_frames({}, {python("a", false), python("b", false)}, true)),
              ElementsAre("a/p", "b/p"));
}

TEST(MergeFrames, ThreadThatNeverRanPythonStaysNative) {
  EXPECT_THAT(words(merge_frames({library("work"), cpython("thread_run")}, {}, false)),
              ElementsAre("work", "thread_run"));
}

TEST(MergeFrames, InlinedCallsOfALibraryStayBeforeTheirFunction) {
  NativeFrame frame{.names = {{.kind = FrameKind::inlined, .function = "push"},
                              {.function = "grow", .module = "x.so"}}};

  EXPECT_THAT(words(merge_frames({frame, loop()}, {python("a", true)}, false)),
              ElementsAre("push/l", "grow", "a/p"));
}

TEST(MergeFrames, EveryPythonFrameSurvivesAnyMismatch) {
  for (size_t loops = 0; loops < 5; ++loops) {
    for (size_t pythons = 0; pythons < 7; ++pythons) {
      for (unsigned entries = 0; entries < (1U << pythons); ++entries) {
        std::vector<NativeFrame> native{library("f")};
        for (size_t i = 0; i < loops; ++i) native.push_back(loop());
        std::vector<NamedPythonFrame> frames;
        std::vector<std::string> expected;
        for (size_t i = 0; i < pythons; ++i) {
          frames.push_back(python(std::to_string(i), ((entries >> i) & 1U) != 0));
          expected.push_back(std::to_string(i));
        }
        std::vector<std::string> kept;
        for (const FrameName& frame : merge_frames(native, frames, entries % 3 == 0)) {
          if (frame.kind == FrameKind::python) kept.push_back(frame.function);
        }
        ASSERT_EQ(kept, expected);
      }
    }
  }
}

TEST(InterpreterFile, OnlyCPythonItselfCounts) {
  EXPECT_TRUE(is_interpreter_file("python3.11"));
  EXPECT_TRUE(is_interpreter_file("python"));
  EXPECT_TRUE(is_interpreter_file("libpython3.12.so.1.0"));
  EXPECT_FALSE(is_interpreter_file("python_extension.so"));
  EXPECT_FALSE(is_interpreter_file("libtorch_python.so"));
}

TEST(InterpreterLoop, PiecesThatTheCompilerSplitOffCount) {
  EXPECT_TRUE(is_interpreter_loop("_PyEval_EvalFrameDefault"));
  EXPECT_TRUE(is_interpreter_loop("_PyEval_EvalFrameDefault.cold"));
  EXPECT_TRUE(is_interpreter_loop("_PyEval_EvalFrameDefault.part.0"));
  EXPECT_FALSE(is_interpreter_loop("_PyEval_EvalFrame"));
}

}  // namespace
}  // namespace plateau
