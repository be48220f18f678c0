// SPDX-License-Identifier: Apache-2.0
#include "profile/stack_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/example_profile_for_test.h"

namespace plateau {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> words_of(const std::vector<FrameName>& frames) {
  std::vector<std::string> words;
  for (const FrameName& frame : frames) words.push_back(frame_words(frame));
  return words;
}

TEST(StackView, HidesAllocatorsInterpreterAndStart) {
  EXPECT_THAT(words_of(visible_frames(lazy_image_stack())),
              ElementsAre("ImagingNewBlock [_imaging.so]", "load (PIL/ImageFile.py:245)",
                          "Image.getpixel (PIL/Image.py:1500)", "main (lazy_images.py:41)"));
}

TEST(StackView, HidesTheTracerItself) {
  std::vector<FrameName> frames = lazy_image_stack();
  const std::vector<std::string> without = words_of(visible_frames(frames));
  frames.insert(frames.begin(),
                native("python_realloc(void*, void*, unsigned long)", "libplateau_tracer.so"));
  EXPECT_EQ(words_of(visible_frames(frames)), without);
}

TEST(StackView, TitleNamesTheNativeCallAndTheLineOfPythonThatMadeIt) {
  EXPECT_EQ(site_title(visible_frames(lazy_image_stack())),
            "ImagingNewBlock [_imaging.so] called from load (PIL/ImageFile.py:245) <- "
            "Image.getpixel <- main (lazy_images.py:41)");
  EXPECT_EQ(site_place(visible_frames(lazy_image_stack())), "load (PIL/ImageFile.py:245)");
}

TEST(StackView, TitleOfACppStackNamesItsCallers) {
  const std::vector<FrameName> frames = {
      native("operator new(unsigned long)", "libstdc++.so.6"),
      native("std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(int&&)", "train"),
      native("Cache<int>::keep(std::vector<int> const&)", "train"),
      native("void work<float>(int)", "train"),
      native("main", "train"),
      native("__libc_start_call_main", "libc.so.6")};
  EXPECT_EQ(site_title(visible_frames(frames)), "Cache<int>::keep [train] <- work<float> <- main");
}

TEST(StackView, TitleOfARustStackNamesTheProgramsOwnFunctions) {
  std::vector<FrameName> frames = {
      native("__rust_alloc", "train"),
      native("alloc::alloc::alloc", "train"),
      native("<alloc::alloc::Global as core::alloc::Allocator>::allocate", "train"),
      native("<str>::repeat", "train"),
      native("train::grow", "train"),
      native("train::main", "train"),
      native("core::ops::function::FnOnce::call_once", "train"),
      native("std::rt::lang_start::{{closure}}", "train"),
      native("main", "train")};
  frames[3].file = "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/alloc/src/str.rs";
  EXPECT_EQ(site_title(visible_frames(frames)), "train::grow [train] <- train::main <- main");
}

TEST(StackView, LibraryWithoutSymbolsIsOneFrame) {
  std::vector<FrameName> frames = {native("malloc", "libc.so.6"), native("", "libx.so"),
                                   native("", "libx.so"), native("main", "a")};
  frames[1].offset = 0x1234;
  frames[2].offset = 0x5678;
  EXPECT_THAT(words_of(visible_frames(frames)), ElementsAre("libx.so", "main [a]"));
}

TEST(StackView, ExtensionModuleIsNamedWithoutItsPlatform) {
  const std::string module = "_imaging.cpython-311-x86_64-linux-gnu.so";
  EXPECT_EQ(frame_words(native("ImagingNew", module)), "ImagingNew [_imaging.so]");
  EXPECT_EQ(frame_words(native("", module)), "_imaging.so");
}

TEST(StackView, SomethingIsAlwaysLeft) {
  const std::vector<FrameName> frames = {native("malloc", "libc.so.6"), native("_start", "a.out")};
  EXPECT_THAT(words_of(visible_frames(frames)), ElementsAre("malloc [libc.so.6]"));
  EXPECT_EQ(site_title({}), "(no stack)");
}

TEST(StackView, InterpreterIsShownWhereThereIsNoPython) {
  const std::vector<FrameName> frames = {native("PyMem_RawMalloc", "libpython3.12.so.1.0"),
                                         native("Py_InitializeFromConfig", "libpython3.12.so.1.0"),
                                         native("main", "python3")};
  EXPECT_THAT(words_of(visible_frames(frames)),
              ElementsAre("Py_InitializeFromConfig [libpython3.12.so.1.0]", "main [python3]"));
}

TEST(ShortFunction, DropsReturnTypeParametersAndLongArguments) {
  const auto shortened = [](const char* name) { return short_function(native(name, "")); };
  EXPECT_EQ(shortened("img::decode(char const*, int)"), "img::decode");
  EXPECT_EQ(shortened("std::vector<int> img::decode<float>(char const*)"), "img::decode<float>");
  EXPECT_EQ(shortened("(anonymous namespace)::keep(int)"), "(anonymous namespace)::keep");
  EXPECT_EQ(shortened("Job::operator()(int) const"), "Job::operator()");
  EXPECT_EQ(shortened("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(shortened("Map<std::string, std::vector<std::string>, std::less<void>>::grow()"),
            "Map<...>::grow");
  EXPECT_EQ(shortened("std::_Function_handler<void (int), main::{lambda(int)#1}>::_M_invoke("
                      "std::_Any_data const&, int&&)"),
            "main::{lambda}");
  EXPECT_EQ(shortened("plain_c_name"), "plain_c_name");
  EXPECT_EQ(shortened("broken<name"), "broken<name");
}

TEST(ShortFile, NamesThePackageOfALibraryAndOnlyTheFileOfAScript) {
  EXPECT_EQ(short_file("/home/me/work/train.py"), "train.py");
  EXPECT_EQ(short_file("/usr/lib/python3/dist-packages/PIL/Image.py"), "PIL/Image.py");
  EXPECT_EQ(short_file("/opt/v/lib/python3.11/site-packages/six.py"), "six.py");
  EXPECT_EQ(short_file("train.py"), "train.py");
}

}  // namespace
}  // namespace plateau
