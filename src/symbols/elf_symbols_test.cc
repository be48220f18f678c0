// SPDX-License-Identifier: Apache-2.0
#include "symbols/elf_symbols.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/files.h"
#include "symbols/elf_file.h"
#include "symbols/maps_rows.h"
#include "symbols/testing/commands.h"

extern "C" __attribute__((noinline, used)) int plateau_symbols_test_landmark(int value) {
  return value + 1;
}

namespace plateau {
namespace {

std::string own_program() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

// What the loader says about a function of libc; a sanitizer's own version of it does not count.
const void* in_libc(const char* name) {
  void* libc = ::dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  return libc == nullptr ? nullptr : ::dlsym(libc, name);
}

uint64_t address_of(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

const MappedObject* object_at(const std::vector<MappedObject>& objects, uint64_t address) {
  const auto found = std::ranges::find_if(objects, [&](const MappedObject& object) {
    return object.begin <= address && address < object.end;
  });
  return found == objects.end() ? nullptr : &*found;
}

TEST(ElfSymbols, OwnFunctionIsFoundWithItsSize) {
  const auto symbol = elf_symbol(own_program(), "plateau_symbols_test_landmark");

  ASSERT_TRUE(symbol.ok()) << symbol.error().message;
  EXPECT_GT(symbol.value().bytes, 0u);
}

TEST(ElfSymbols, SymbolThatDoesNotExistIsAnErrorThatNamesIt) {
  const auto symbol = elf_symbol(own_program(), "no_such_symbol_anywhere");

  ASSERT_FALSE(symbol.ok());
  EXPECT_NE(symbol.error().message.find("no_such_symbol_anywhere"), std::string::npos);
}

TEST(ElfSymbols, FileThatIsNoElfFileIsAnError) {
  EXPECT_FALSE(elf_symbol("/proc/self/status", "main").ok());
  EXPECT_FALSE(elf_symbol("/dev/zero", "main").ok());
  EXPECT_FALSE(elf_symbol("/nonexistent/file", "main").ok());
}

TEST(ElfSymbols, AddressesInThisProcessAreThoseThatTheLoaderGave) {
  const pid_t self = ::getpid();

  const auto landmark = remote_symbol(self, "", "plateau_symbols_test_landmark");
  const auto gnu_version = remote_symbol(self, "libc.so", "gnu_get_libc_version");
  const auto open_library = remote_symbol(self, "libc.so", "dlopen");

  ASSERT_TRUE(landmark.has_value());
  EXPECT_EQ(*landmark, address_of(reinterpret_cast<const void*>(&plateau_symbols_test_landmark)));
  ASSERT_TRUE(gnu_version.has_value());
  EXPECT_EQ(*gnu_version, address_of(in_libc("gnu_get_libc_version")));
  ASSERT_TRUE(open_library.has_value());
  EXPECT_EQ(*open_library, address_of(in_libc("dlopen")));
}

TEST(ElfSymbols, NarrowingToAnObjectThatIsNotMappedFindsNothing) {
  EXPECT_FALSE(remote_symbol(::getpid(), "libnothing.so", "malloc").has_value());
}

TEST(MappedObjects, OwnProgramAndLibcAreInOrderAndHoldTheirFunctions) {
  const auto objects = mapped_objects(::getpid());

  ASSERT_GE(objects.size(), 3u);
  EXPECT_TRUE(std::ranges::is_sorted(objects, {}, &MappedObject::begin));
  const MappedObject* own =
      object_at(objects, address_of(reinterpret_cast<const void*>(&plateau_symbols_test_landmark)));
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->path, own_program());
  const MappedObject* libc = object_at(objects, address_of(in_libc("puts")));
  ASSERT_NE(libc, nullptr);
  EXPECT_NE(libc->path.find("libc.so"), std::string::npos);
}

TEST(MappedObjects, ProcessThatDoesNotExistHasNone) {
  EXPECT_TRUE(mapped_objects(-1).empty());
}

TEST(MappedObjects, FileMappedOnlyAsDataIsNotAnObject) {
  // given: an ELF file that nothing loads, mapped for reading, as a reader of symbols does
  const ScratchDirectory directory;
  const auto copy = directory.path() / "data.so";
  std::filesystem::copy_file("/proc/self/exe", copy);
  const auto file = ElfFile::open(copy.string());
  ASSERT_TRUE(file.ok());

  // when
  const auto objects = mapped_objects(::getpid());

  // then
  EXPECT_EQ(std::ranges::count(objects, copy.string(), &MappedObject::path), 0);
}

TEST(MappedObjects, ProgramThatWasDeletedIsStillRead) {
  // given: a copy of `cat` that waits for input, removed while it runs
  const ScratchDirectory directory;
  const auto program = directory.path() / "cat copy";
  std::filesystem::copy_file("/bin/cat", program);
  int pipe_ends[2];
  ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  int answer_ends[2];
  ASSERT_EQ(::pipe2(answer_ends, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe_ends[0], 0);
    ::dup2(answer_ends[1], 1);
    ::execl(program.c_str(), program.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(answer_ends[1]);
  char letter = 'x';
  ASSERT_EQ(::write(pipe_ends[1], &letter, 1), 1);
  ASSERT_EQ(::read(answer_ends[0], &letter, 1), 1);  // It runs its own code by now.
  std::filesystem::remove(program);

  // when
  const auto objects = mapped_objects(child);

  // then
  const auto found = std::ranges::find(objects, program.string(), &MappedObject::path);
  ASSERT_NE(found, objects.end());
  EXPECT_TRUE(ElfFile::open(found->open_path).ok());
  EXPECT_FALSE(found->open_path.starts_with(directory.path().string()));
  ::close(pipe_ends[1]);
  ::close(pipe_ends[0]);
  ::close(answer_ends[0]);
  ::waitpid(child, nullptr, 0);
}

TEST(ElfFile, DamagedFilesNeverCrash) {
  // given
  const ScratchDirectory directory;
  const std::string whole = text_of_file("/proc/self/exe").substr(0, size_t{1} << 20);
  const std::string libc = text_of_file("/bin/cat");
  std::mt19937 random(7);  // NOLINT: the same damage in every run, on purpose.

  // when: cut short, and with bytes changed, mostly where the structure is
  size_t opened = 0;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = round % 2 == 0 ? libc : whole;
    if (round % 3 == 0) bytes.resize(random() % bytes.size());
    for (int i = 0; i < 20 && !bytes.empty(); ++i) {
      const size_t range = i < 10 ? std::min<size_t>(bytes.size(), 1024) : bytes.size();
      const size_t from_end = i % 2 == 0 ? 0 : bytes.size() - range;
      bytes[from_end + random() % range] = static_cast<char>(random());
    }
    const auto path = (directory.path() / "damaged").string();
    std::ofstream(path, std::ios::binary) << bytes;
    (void)elf_symbol(path, "main");
    const auto file = ElfFile::open(path);
    if (!file.ok()) continue;
    ++opened;
    (void)file.value().build_id();
    (void)file.value().segments();
    (void)file.value().section(".gnu_debuglink");
  }

  // then: some got far enough to be worth the test
  EXPECT_GT(opened, 20u);
}

TEST(MapsRows, DeletedEscapedAndSpacedPathsAreTakenApart) {
  const auto rows = parse_maps_rows(
      "55d0c0a00000-55d0c0a01000 r-xp 00002000 fd:01 1234                       /tmp/a b "
      "(deleted)\n"
      "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
      "7f0000002000-7f0000003000 r--p 00000000 00:1f 77     /x\\012y\n"
      "garbage\n"
      "7fff00000000-7fff00001000 r-xp 00000000 00:00 0                          [vdso]");

  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].path, "/tmp/a b");
  EXPECT_TRUE(rows[0].deleted);
  EXPECT_TRUE(rows[0].executable);
  EXPECT_EQ(rows[0].offset, 0x2000u);
  EXPECT_EQ(rows[1].path, "/x\ny");
  EXPECT_EQ(rows[1].device, "00:1f");
  EXPECT_FALSE(rows[1].executable);
}

}  // namespace
}  // namespace plateau
