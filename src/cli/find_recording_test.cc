// SPDX-License-Identifier: Apache-2.0
#include "cli/find_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/testing/scratch_directory.h"

namespace plateau {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FindRecording : public ::testing::Test {
 protected:
  void process(const std::string& pid, const std::string& comm, const std::string& open_file) {
    std::filesystem::create_directories(root_ / pid / "fd");
    scratch_.write(pid + "/comm", comm + "\n");
    std::filesystem::create_symlink(open_file, root_ / pid / "fd" / "7");
  }
  std::string file(const std::string& name) { return scratch_.write(name, "x"); }

  ScratchDirectory scratch_;
  std::filesystem::path root_ = scratch_.path();
};

TEST_F(FindRecording, IsWhatARunningPlateauHoldsOpen) {
  const std::string recording = file("job.plateau");
  process("12", "plateau", recording);
  process("13", "plateau", recording);
  process("14", "vim", file("other.plateau"));
  process("15", "plateau", file("notes.txt"));
  EXPECT_THAT(open_recordings(root_.string()), ElementsAre(recording));
}

TEST_F(FindRecording, ProcessOfAnotherUserIsNotAsked) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a process away";
  process("12", "plateau", file("job.plateau"));
  ASSERT_EQ(chown((root_ / "12").c_str(), 65534, 65534), 0);
  EXPECT_THAT(open_recordings(root_.string()), IsEmpty());
}

TEST_F(FindRecording, FileThatIsGoneIsNone) {
  process("12", "plateau", (root_ / "gone.plateau").string());
  EXPECT_THAT(open_recordings(root_.string()), IsEmpty());
  EXPECT_THAT(open_recordings((root_ / "nothing").string()), IsEmpty());
}

}  // namespace
}  // namespace plateau
