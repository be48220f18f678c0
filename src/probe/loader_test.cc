// SPDX-License-Identifier: Apache-2.0
#include "probe/loader.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstring>

#include "base/testing/scratch_directory.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

// A program of 64 bits with one segment: the name of its loader, or none that is one.
std::string program_with(const std::string& loader) {
  Elf64_Ehdr elf = {};
  std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
  elf.e_ident[EI_CLASS] = ELFCLASS64;
  elf.e_ident[EI_DATA] = ELFDATA2LSB;
  elf.e_phoff = sizeof elf;
  elf.e_phentsize = sizeof(Elf64_Phdr);
  elf.e_phnum = 1;
  Elf64_Phdr segment = {};
  segment.p_type = loader.empty() ? PT_LOAD : PT_INTERP;
  segment.p_offset = sizeof elf + sizeof segment;
  segment.p_filesz = loader.size() + 1;
  std::string bytes(sizeof elf + sizeof segment, '\0');
  std::memcpy(bytes.data(), &elf, sizeof elf);
  std::memcpy(bytes.data() + sizeof elf, &segment, sizeof segment);
  return bytes + loader + '\0';
}

class Loader : public ::testing::Test {
 protected:
  // Writes an executable file and returns its path.
  [[nodiscard]] std::string make(const std::string& name, const std::string& bytes) const {
    root_.write(name, bytes);
    std::string path = root_.file(name);
    chmod(path.c_str(), 0755);
    return path;
  }
  [[nodiscard]] std::string place() const { return root_.path().string(); }

 private:
  ScratchDirectory root_;
};

TEST_F(Loader, IsReadFromTheProgramsFile) {
  EXPECT_THAT(loader_of(make("dynamic", program_with("/lib64/ld-linux-x86-64.so.2")), ""),
              Optional(std::string("/lib64/ld-linux-x86-64.so.2")));
  EXPECT_THAT(loader_of(make("alone", program_with("")), ""), Optional(std::string()));
  EXPECT_THAT(loader_of("/proc/self/exe", ""), Optional(HasSubstr("ld-linux")));
}

TEST_F(Loader, OfAScriptIsThatOfItsInterpreter) {
  const std::string sh = make("sh", program_with("/lib/ld-musl-x86_64.so.1"));
  EXPECT_THAT(loader_of(make("job.sh", "#! " + sh + " -e\nexit 0\n"), ""),
              Optional(std::string("/lib/ld-musl-x86_64.so.1")));
  const std::string circle = place() + "/circle.sh";
  EXPECT_EQ(loader_of(make("circle.sh", "#!" + circle + "\n"), ""), std::nullopt);
}

TEST_F(Loader, IsLookedForAlongThePathAsExecDoes) {
  static_cast<void>(make("train", program_with("/lib/ld-musl-x86_64.so.1")));
  EXPECT_THAT(loader_of("train", "/nowhere:" + place()),
              Optional(std::string("/lib/ld-musl-x86_64.so.1")));
  EXPECT_EQ(loader_of("train", "/nowhere"), std::nullopt);
  EXPECT_EQ(loader_of("train", ""), std::nullopt);
}

TEST_F(Loader, OfWhatIsNoProgramIsNotKnown) {
  const std::string whole = program_with("/lib/ld-musl-x86_64.so.1");
  for (const size_t bytes : {0, 1, 2, 63, 64, 100, 119}) {
    EXPECT_EQ(loader_of(make("cut", whole.substr(0, bytes)), ""), std::nullopt) << bytes;
  }
  EXPECT_EQ(loader_of(make("blank", "#!"), ""), std::nullopt);
  EXPECT_EQ(loader_of(make("spaces", "#!   \n"), ""), std::nullopt);
  EXPECT_EQ(loader_of(place(), ""), std::nullopt) << "a directory";
}

TEST_F(Loader, OfMuslRefusesWhatIsForGlibc) {
  const std::string musl = make("musl", program_with("/lib/ld-musl-x86_64.so.1"));
  EXPECT_THAT(refuses_preload(musl, ""), HasSubstr("musl's loader, /lib/ld-musl-x86_64.so.1"));
  const std::string glibc = make("glibc", program_with("/nix/store/x/ld-linux-x86-64.so.2"));
  EXPECT_EQ(refuses_preload(glibc, "", "/nowhere/ld.so"), "");
}

TEST_F(Loader, OfAStaticProgramRefusesOnlyWhereNoChildCouldHaveOne) {
  const std::string alone = make("alone", program_with(""));
  EXPECT_EQ(refuses_preload(alone, "", alone), "") << "any file that is there";
  EXPECT_THAT(refuses_preload(alone, "", place() + "/ld.so"),
              HasSubstr("is linked statically, and there is no " + place() + "/ld.so"));
  EXPECT_EQ(refuses_preload("no-such-command", "/usr/bin"), "") << "exec says what is wrong";
}

}  // namespace
}  // namespace plateau
