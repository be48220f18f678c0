// SPDX-License-Identifier: Apache-2.0
#include "cli/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/files.h"
#include "command/exit_code.h"

namespace plateau {
namespace {

Error failed(const std::string& path, int code) {
  return {.kind = Error::Kind::usage, .message = fmt::format("{}: {}", path, std::strerror(code))};
}

std::optional<Error> write_directly(const std::string& path, std::string_view bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return failed(path, errno);
  int code = write_all(fd, bytes);
  if (close(fd) != 0 && code == 0) code = errno;
  if (code != 0) return failed(path, code);
  return std::nullopt;
}

// Moves without replacing, in one step where the file system can.
int move_unless_there(const char* from, const char* to) {
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (link(from, to) != 0) return errno;
  (void)unlink(from);
  return 0;
}

}  // namespace

std::optional<Error> write_file(const std::string& path, std::string_view bytes, bool overwrite) {
  const auto exists = [&path] { return usage_error(path + " exists; --force replaces it"); };
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return write_directly(path, bytes);
    if (S_ISDIR(info.st_mode)) return failed(path, EISDIR);
    if (!overwrite) return exists();
  }
  std::string temporary = path + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return failed(path, errno);
  // mkostemp makes files private; the result gets what open() would have given it.
  const mode_t mask = umask(0);
  (void)umask(mask);
  int code = fchmod(fd, 0666 & ~mask) == 0 ? write_all(fd, bytes) : errno;
  if (code == 0 && fsync(fd) != 0) code = errno;
  if (close(fd) != 0 && code == 0) code = errno;
  if (code == 0 && overwrite && std::rename(temporary.c_str(), path.c_str()) != 0) code = errno;
  if (code == 0 && !overwrite) code = move_unless_there(temporary.c_str(), path.c_str());
  if (code == 0) return std::nullopt;
  (void)unlink(temporary.c_str());
  if (code == EEXIST) return exists();
  return failed(path, code);
}

int write_output(const Invocation& invocation, std::string_view bytes) {
  const std::string path = invocation.arguments.text("output").value_or("-");
  if (path == "-") {
    invocation.out.print(bytes);
    return kExitFine;
  }
  const auto error = write_file(path, bytes, invocation.arguments.has("force"));
  return error ? trouble(invocation, error->message) : kExitFine;
}

}  // namespace plateau
