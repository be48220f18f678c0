// SPDX-License-Identifier: Apache-2.0
#include "base/own_directory.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "base/testing/scratch_directory.h"

namespace plateau {
namespace {

namespace fs = std::filesystem;

// A socket's file without a listener.
void leave_socket(const std::string& path) {
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

TEST(OwnDirectory, IsOneThatNobodyElseMayWriteTo) {
  const ScratchDirectory scratch;
  EXPECT_TRUE(OwnDirectory::open(scratch.path()).has_value());
  for (const mode_t mode : {0777, 01777, 0770, 0702}) {
    ASSERT_EQ(chmod(scratch.path().c_str(), mode), 0);
    EXPECT_FALSE(OwnDirectory::open(scratch.path()).has_value()) << mode;
  }
  ASSERT_EQ(chmod(scratch.path().c_str(), 0700), 0);
  scratch.write("file", "");
  EXPECT_FALSE(OwnDirectory::open(scratch.file("file")).has_value());
  EXPECT_FALSE(OwnDirectory::open(scratch.file("gone")).has_value());
}

TEST(OwnDirectory, OfAnotherUserIsNotOurs) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  const ScratchDirectory scratch;
  ASSERT_EQ(chown(scratch.path().c_str(), 65534, 65534), 0);
  EXPECT_FALSE(OwnDirectory::open(scratch.path()).has_value());
  EXPECT_FALSE(OwnDirectory::around(scratch.file("steps")).has_value());
}

TEST(OwnDirectory, RemovesSocketsOnly) {
  const ScratchDirectory scratch;
  const auto own = OwnDirectory::open(scratch.path());
  ASSERT_TRUE(own.has_value());
  leave_socket(scratch.file("steps"));
  scratch.write("file", "precious");
  fs::create_symlink(scratch.file("file"), scratch.file("link"));
  fs::create_directory(scratch.file("directory"));
  EXPECT_FALSE(own->remove_socket("file"));
  EXPECT_FALSE(own->remove_socket("link"));
  EXPECT_FALSE(own->remove_socket("directory"));
  EXPECT_TRUE(own->remove_socket("steps"));
  EXPECT_TRUE(own->remove_socket("steps")) << "it is gone, which is all that was wanted";
  EXPECT_EQ(scratch.entries(), 3u);
}

TEST(OwnDirectory, ASocketOfAnotherUserStays) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a socket away";
  const ScratchDirectory scratch;
  leave_socket(scratch.file("steps"));
  ASSERT_EQ(chown(scratch.file("steps").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(OwnDirectory::open(scratch.path())->remove_socket("steps"));
  EXPECT_TRUE(fs::exists(scratch.file("steps")));
}

TEST(OwnDirectory, StaysTheOneItWasWhenItsPathIsTaken) {
  const ScratchDirectory scratch;
  fs::create_directory(scratch.file("a"));
  fs::create_directory(scratch.file("b"));
  leave_socket(scratch.file("b/steps"));
  const auto own = OwnDirectory::around(scratch.file("a/steps"));
  ASSERT_TRUE(own.has_value());
  fs::rename(scratch.file("a"), scratch.file("moved"));
  fs::create_symlink(scratch.file("b"), scratch.file("a"));
  EXPECT_TRUE(own->remove_socket("steps"));
  EXPECT_TRUE(fs::exists(scratch.file("b/steps")));
  leave_socket(own->reach("steps"));
  EXPECT_TRUE(fs::exists(scratch.file("moved/steps")));
}

TEST(PinSocket, NeedsASocketOfTheNamedUserAndFollowsNoLink) {
  const ScratchDirectory scratch;
  leave_socket(scratch.file("steps"));
  fs::create_symlink(scratch.file("steps"), scratch.file("link"));
  scratch.write("file", "");
  EXPECT_TRUE(pin_socket_of(scratch.file("steps"), geteuid()).open());
  EXPECT_FALSE(pin_socket_of(scratch.file("steps"), geteuid() + 1).open());
  EXPECT_FALSE(pin_socket_of(scratch.file("link"), geteuid()).open());
  EXPECT_FALSE(pin_socket_of(scratch.file("file"), geteuid()).open());
  EXPECT_FALSE(pin_socket_of(scratch.file("gone"), geteuid()).open());
}

}  // namespace
}  // namespace plateau
