// SPDX-License-Identifier: Apache-2.0
// Names of real stacks: of this program, of a library with known inlined calls, of every Python.
#include "symbols/stack_names.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/files.h"
#include "symbols/debug_file.h"
#include "symbols/dwarf_index.h"
#include "symbols/elf_file.h"
#include "symbols/elf_symbols.h"
#include "symbols/module_names.h"
#include "symbols/testing/commands.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;
using testing::output_of;
using testing::split;

const std::string kSample = PLATEAU_STAND_IN_INLINED_CALLS;
const std::string kSampleSource = PLATEAU_SOURCE_DIR "/tests/stand_in/inlined_calls.cc";

int line_with(const std::string& path, const std::string& mark) {
  int line = 0;
  for (const std::string& text : split(text_of_file(path), '\n')) {
    ++line;
    if (text.ends_with("// " + mark) || text.ends_with("# " + mark)) return line;
  }
  return -1;
}

void take_stack(void* context) {
  void* addresses[64];
  const int count = ::backtrace(addresses, 64);
  auto* native = static_cast<std::vector<uint64_t>*>(context);
  for (int i = 0; i < count; ++i) native->push_back(reinterpret_cast<uint64_t>(addresses[i]));
}

// A stack through `function` of the sample, as a track would hold it.
HeapTrack track_through(const char* function) {
  HeapTrack track;
  void* library = ::dlopen(kSample.c_str(), RTLD_NOW);
  if (library == nullptr) return track;
  auto* run = reinterpret_cast<int (*)(void (*)(void*), void*)>(::dlsym(library, function));
  HeapStack stack;
  run(&take_stack, &stack.native);
  track.stacks.push_back(std::move(stack));
  for (const MappedObject& object : mapped_objects(::getpid())) {
    const auto file = ElfFile::open(object.open_path);
    track.modules.push_back({.begin = object.begin,
                             .end = object.end,
                             .bias = object.bias,
                             .path = object.path,
                             .build_id = file.ok() ? file.value().build_id() : ""});
  }
  return track;
}

HeapModule& sample_module(HeapTrack& track) {
  return *std::ranges::find_if(track.modules, [](const HeapModule& module) {
    return module.path.ends_with(base_name(kSample));
  });
}

std::vector<FrameName> of_sample(const std::vector<FrameName>& frames) {
  std::vector<FrameName> kept;
  std::ranges::copy_if(frames, std::back_inserter(kept),
                       [](const FrameName& frame) { return frame.module == base_name(kSample); });
  return kept;
}

// A stripped copy of the sample with its debug information in `debug`, linked by name.
std::string stripped_copy(const ScratchDirectory& directory, const std::string& debug) {
  const std::string copy = (directory.path() / base_name(kSample)).string();
  std::filesystem::copy_file(kSample, copy);
  std::filesystem::create_directories(std::filesystem::path(debug).parent_path());
  const std::string done = output_of("objcopy --only-keep-debug " + copy + " " + debug +
                                     " && objcopy --strip-all --add-gnu-debuglink=" + debug + " " +
                                     copy + " && echo done");
  return done.empty() ? "" : copy;
}

TEST(StackNames, InlinedCallsAreExpandedInnermostFirstWithTheirLines) {
  HeapTrack track = track_through("stand_in_outer");
  ASSERT_EQ(track.stacks.size(), 1u);

  StackNames names(track);
  const auto frames = of_sample(names.frames(track.stacks[0]));

  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].kind, FrameKind::inlined);
  EXPECT_THAT(frames[0].function, HasSubstr("stand_in::inner<int>(int&"));
  EXPECT_EQ(frames[0].line, line_with(kSampleSource, "INNER"));
  EXPECT_EQ(frames[1].kind, FrameKind::inlined);
  EXPECT_THAT(frames[1].function, HasSubstr("stand_in::middle(int&"));
  EXPECT_EQ(frames[1].line, line_with(kSampleSource, "MIDDLE"));
  EXPECT_EQ(frames[2].kind, FrameKind::native);
  EXPECT_EQ(frames[2].function, "stand_in_outer");
  EXPECT_EQ(frames[2].line, line_with(kSampleSource, "OUTER"));
  EXPECT_THAT(frames[2].file, HasSubstr("inlined_calls.cc"));
  EXPECT_TRUE(names.notes().empty()) << names.notes().front();
}

TEST(StackNames, FileWithAnotherBuildIdIsNotUsedAndSaidOnce) {
  HeapTrack track = track_through("stand_in_outer");
  sample_module(track).build_id = std::string(20, 'x');

  StackNames names(track);
  const auto frames = of_sample(names.frames(track.stacks[0]));
  (void)names.frames(track.stacks[0]);

  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "");
  EXPECT_THAT(frame_title(frames[0]), HasSubstr(base_name(kSample) + "+0x"));
  ASSERT_EQ(names.notes().size(), 1u);
  EXPECT_THAT(names.notes()[0], HasSubstr("is not the file that ran (build id differs)"));
}

TEST(StackNames, FileThatIsGoneIsSaid) {
  HeapTrack track = track_through("stand_in_plain");
  sample_module(track).path = "/nonexistent/" + base_name(kSample);

  StackNames names(track);
  (void)names.frames(track.stacks[0]);

  ASSERT_EQ(names.notes().size(), 1u);
  EXPECT_THAT(names.notes()[0], HasSubstr("cannot be opened"));
}

TEST(StackNames, DebugFileNamedByTheLinkIsUsed) {
  const ScratchDirectory directory;
  const std::string copy =
      stripped_copy(directory, (directory.path() / ".debug/sample.debug").string());
  ASSERT_FALSE(copy.empty());
  HeapTrack track = track_through("stand_in_outer");
  sample_module(track).path = copy;

  StackNames names(track);
  const auto frames = of_sample(names.frames(track.stacks[0]));

  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].line, line_with(kSampleSource, "INNER"));
}

TEST(StackNames, StrippedFileStillNamesWhatItExports) {
  const ScratchDirectory directory;
  const std::string debug = (directory.path() / "elsewhere/sample.debug").string();
  const std::string copy = stripped_copy(directory, debug);
  ASSERT_FALSE(copy.empty());
  HeapTrack track = track_through("stand_in_plain");
  sample_module(track).path = copy;

  StackNames names(track);
  const auto frames = of_sample(names.frames(track.stacks[0]));

  // plain() is exported by its mangled name.
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_THAT(frames[0].function, HasSubstr("stand_in::plain("));
  EXPECT_EQ(frames[0].line, 0);
  EXPECT_EQ(frame_title(frames[1]), "stand_in_plain [" + base_name(kSample) + "]");
}

std::string hex_id(const std::string& id) {
  std::string hex;
  for (const char c : id) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(c));
    hex += two;
  }
  return hex;
}

TEST(DebugFile, ServerIsAskedOnlyIfTheUserNamesOne) {
  // given: a stripped file whose debug information only a "server" has
  if (void* client = ::dlopen("libdebuginfod.so.1", RTLD_NOW); client == nullptr) {
    GTEST_SKIP() << "libdebuginfod is not installed";
  }
  const ScratchDirectory directory;
  const std::string debug = (directory.path() / "elsewhere/sample.debug").string();
  const std::string copy = stripped_copy(directory, debug);
  const auto stripped = ElfFile::open(copy);
  ASSERT_TRUE(stripped.ok());
  const DebugFileRequest request{.path = copy, .build_id = stripped.value().build_id()};
  const auto served = directory.path() / "server/buildid" / hex_id(request.build_id);
  std::filesystem::create_directories(served);
  std::filesystem::copy_file(debug, served / "debuginfo");
  ::setenv("DEBUGINFOD_CACHE_PATH", (directory.path() / "cache").c_str(), 1);
  ::unsetenv("DEBUGINFOD_URLS");

  // when
  const auto unasked = find_debug_file(request, &stripped.value());
  ::setenv("DEBUGINFOD_URLS", ("file://" + (directory.path() / "server").string()).c_str(), 1);
  const auto asked = find_debug_file(request, &stripped.value());
  DebugFileRequest without = request;
  without.ask_servers = false;
  const auto forbidden = find_debug_file(without, &stripped.value());
  ::unsetenv("DEBUGINFOD_URLS");

  // then
  EXPECT_FALSE(unasked.has_value());
  EXPECT_FALSE(forbidden.has_value());
  ASSERT_TRUE(asked.has_value());
  EXPECT_TRUE(DwarfIndex(*asked).usable());
}

TEST(DebugFile, BuildIdFindsItAlsoWhenTheFileItselfIsGone) {
  const ScratchDirectory directory;
  const auto sample = ElfFile::open(kSample);
  ASSERT_TRUE(sample.ok());
  const std::string id = sample.value().build_id();
  ASSERT_EQ(id.size(), 20u);
  const std::string hex = hex_id(id);
  const auto place = directory.path() / ".build-id" / hex.substr(0, 2);
  std::filesystem::create_directories(place);
  std::filesystem::copy_file(kSample, place / (hex.substr(2) + ".debug"));

  const auto found = find_debug_file(
      {.path = "/gone.so", .build_id = id, .debug_root = directory.path().string()}, nullptr);
  const auto wrong = find_debug_file({.path = "/gone.so",
                                      .build_id = std::string(20, 'y'),
                                      .debug_root = directory.path().string()},
                                     nullptr);

  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(DwarfIndex(*found).usable());
  EXPECT_FALSE(wrong.has_value());
}

TEST(StackNames, DebugPackageOfLibcNamesItsStaticFunctions) {
  const HeapTrack track = track_through("stand_in_plain");
  const auto libc = std::ranges::find_if(track.modules, [](const HeapModule& module) {
    return module.path.find("libc.so") != std::string::npos;
  });
  ASSERT_NE(libc, track.modules.end());
  if (!find_debug_file({.path = libc->path, .build_id = libc->build_id}, nullptr)) {
    GTEST_SKIP() << "libc6-dbg is not installed";
  }

  StackNames names(track);
  const auto frames = names.frames(track.stacks[0]);

  // What calls main() is not exported.
  const auto caller = std::ranges::find(frames, "__libc_start_call_main", &FrameName::function);
  ASSERT_NE(caller, frames.end());
  EXPECT_GT(caller->line, 0);
}

TEST(StackNames, LineTablesAloneStillGiveWholeNames) {
  // given: -g1 describes functions without the linker's names
  const ScratchDirectory directory;
  const std::string source = (directory.path() / "small.cc").string();
  const std::string library = (directory.path() / "small.so").string();
  std::ofstream(source) << "namespace deep { int twice(int x) {\n return x * 2; } }\n";
  ASSERT_FALSE(output_of("g++ -g1 -O1 -shared -fPIC -Wl,--build-id -o " + library + " " + source +
                         " && echo done")
                   .empty());
  const auto symbol = elf_symbol(library, "_ZN4deep5twiceEi");
  ASSERT_TRUE(symbol.ok());

  // when
  ModuleNames names(library, ElfFile::open(library).value().build_id());
  const auto found = names.at(symbol.value().address);

  // then
  ASSERT_EQ(found.frames.size(), 1u);
  EXPECT_EQ(found.frames[0].function, "deep::twice(int)");
  EXPECT_GT(found.frames[0].line, 0);
}

TEST(StackNames, AddressOutsideEveryModuleIsKept) {
  const HeapTrack track;
  StackNames names(track);

  const auto frames = names.frames({.native = {0x1235}});

  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frame_title(frames[0]), "?+0x1234");
}

TEST(FrameTitle, ShowsWhatIsKnown) {
  EXPECT_EQ(
      frame_title(
          {.kind = FrameKind::python, .function = "decode", .file = "/data/image.py", .line = 12}),
      "decode (image.py:12)");
  EXPECT_EQ(frame_title({.function = "ImagingNew", .module = "_imaging.so"}),
            "ImagingNew [_imaging.so]");
  EXPECT_EQ(frame_title({.module = "libx.so", .offset = 0x1234}), "libx.so+0x1234");
}

TEST(DwarfIndex, ForgettingEverythingAtEveryQuestionGivesTheSameAnswers) {
  const auto file = ElfFile::open(kSample);
  ASSERT_TRUE(file.ok());
  const auto landmark = elf_symbol(kSample, "stand_in_outer");
  ASSERT_TRUE(landmark.ok());
  DwarfIndex roomy(file.value());
  DwarfIndex forgetful(file.value(), 1);

  size_t inlined = 0;
  for (uint64_t offset = 0; offset < landmark.value().bytes; ++offset) {
    const auto expected = roomy.at(landmark.value().address + offset);
    const auto found = forgetful.at(landmark.value().address + offset);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].symbol, expected[i].symbol);
      EXPECT_EQ(found[i].file, expected[i].file);
      EXPECT_EQ(found[i].line, expected[i].line);
      if (found[i].inlined) ++inlined;
    }
  }
  EXPECT_GT(inlined, 0u);
  EXPECT_GT(roomy.bytes(), 0u);
}

TEST(DwarfIndex, DamagedDebugInformationNeverCrashes) {
  // given
  const ScratchDirectory directory;
  const std::string whole = text_of_file(kSample);
  const auto landmark = elf_symbol(kSample, "stand_in_outer");
  ASSERT_TRUE(landmark.ok());
  std::mt19937 random(11);  // NOLINT: the same damage in every run, on purpose.

  // when
  size_t named = 0;
  for (int round = 0; round < 200; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 12; ++i) {
      bytes[4096 + random() % (bytes.size() - 4096)] = static_cast<char>(random());
    }
    const std::string path = (directory.path() / "damaged.so").string();
    std::ofstream(path, std::ios::binary) << bytes;
    const auto file = ElfFile::open(path);
    if (!file.ok()) continue;
    DwarfIndex index(file.value());
    for (uint64_t offset = 0; offset < landmark.value().bytes; ++offset) {
      named += index.at(landmark.value().address + offset).size();
    }
  }

  // then: the damage was not so heavy that nothing was read
  EXPECT_GT(named, 100u);
}

}  // namespace
}  // namespace plateau
