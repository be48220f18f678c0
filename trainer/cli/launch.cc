// SPDX-License-Identifier: Apache-2.0
// plateau-train as users start it: finds their LibTorch, then becomes the program that needs it.
//
// LibTorch lies inside a Python package, in a directory that no loader looks into, and a program
// runs only with the version it was built with. A program that is linked with it would end in the
// loader's own words, before its first line. So this one needs nothing: it looks for a torch of the
// right version, in this order,
//
//   1. that of the Python PLATEAU_TORCH_PYTHON, if it is set,
//   2. the one of the build, which plateau-train-libtorch.place names (a package has no such file),
//   3. that of python3 on the PATH,
//
// gives its directory to the loader, and becomes plateau-train-libtorch; or says in one line what
// is missing. Python is only started where 1 or 3 is asked, and never loads torch.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/installed.h"
#include "trainer/cli/loader_path.h"

namespace plateau::train {
namespace {

constexpr int kUsage = 2;
constexpr size_t kMostRead = 4096;
constexpr std::string_view kBuiltWith = PLATEAU_TORCH_VERSION;  // "2.13.0+cpu"
constexpr const char* kAsk =
    "cd / && \"${PLATEAU_TORCH_PYTHON:-python3}\" -c 'import importlib.util as u, os; "
    "print(os.path.dirname(u.find_spec(\"torch\").origin))' 2>/dev/null";

int fail(const std::string& what) {
  fmt::print(stderr, "plateau-train: {}\n", what);
  return kUsage;
}

// "2.13.0" of "2.13.0+cpu"
std::string_view release_of(std::string_view version) {
  return version.substr(0, version.find('+'));
}
// "2.13" of it: what has one binary interface.
std::string_view series_of(std::string_view version) {
  return version.substr(0, version.find('.', version.find('.') + 1));
}

// Of the package in `directory`, from its version.py; "" if there is none.
std::string version_in(const std::string& directory) {
  constexpr std::string_view kBefore = "__version__ = '";
  const std::string text = text_of_file(directory + "/version.py", kMostRead);
  const size_t begin = text.find(kBefore);
  if (begin == std::string::npos) return "";
  const std::string_view rest = std::string_view(text).substr(begin + kBefore.size());
  return std::string(rest.substr(0, rest.find('\'')));
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string directory_by_python() {
  const std::unique_ptr<FILE, int (*)(FILE*)> shell(::popen(kAsk, "r"), ::pclose);
  std::string said(kMostRead, '\0');
  if (shell == nullptr) return "";
  said.resize(std::fread(said.data(), 1, said.size(), shell.get()));
  return first_line(said);
}

std::string directory_of_build() {
  return first_line(
      text_of_file(first_readable(places_of("plateau-train-libtorch.place")), kMostRead));
}

struct Found {
  std::string directory;
  std::string version;  // "" if there is no torch.
};

Found look_in(std::string directory) {
  std::string version = directory.empty() ? "" : version_in(directory);
  return {std::move(directory), std::move(version)};
}

bool fits(const Found& found) {
  return !found.version.empty() && series_of(found.version) == series_of(kBuiltWith);
}

Found find_torch(const char* chosen_python) {
  if (chosen_python == nullptr) {
    Found built = look_in(directory_of_build());
    if (fits(built)) return built;
  }
  return look_in(directory_by_python());
}

int become_trainer(char** words) {
  const char* chosen = std::getenv("PLATEAU_TORCH_PYTHON");
  if (chosen != nullptr && *chosen == 0) chosen = nullptr;
  const std::string program = first_readable(places_of("plateau-train-libtorch"));
  if (program.empty()) return fail("plateau-train-libtorch is not beside it: install it again");
  const Found torch = find_torch(chosen);
  if (!fits(torch)) {
    const std::string python = chosen == nullptr ? "python3 on the PATH" : chosen;
    const std::string has = torch.version.empty() ? "no torch" : "torch " + torch.version;
    return fail(
        fmt::format("needs torch {}, and {} has {}: 'pip install torch=={}', or set "
                    "PLATEAU_TORCH_PYTHON to a Python that has it",
                    series_of(kBuiltWith), python, has, release_of(kBuiltWith)));
  }
  const char* before = std::getenv(kLoaderPath);
  const std::string theirs = before == nullptr ? "" : before;
  ::setenv(kLoaderPathBefore, theirs.c_str(), 1);
  ::setenv(kLoaderPath, (torch.directory + "/lib" + (theirs.empty() ? "" : ":") + theirs).c_str(),
           1);
  ::execv(program.c_str(), words);
  return fail(fmt::format("{} cannot be started: {}", program, std::strerror(errno)));
}

}  // namespace
}  // namespace plateau::train

int main(int /*argc*/, char** argv) {
  return plateau::train::become_trainer(argv);
}
