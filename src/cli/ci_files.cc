// SPDX-License-Identifier: Apache-2.0
#include "cli/ci_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "base/files.h"
#include "cli/write_file.h"
#include "command/exit_code.h"

namespace plateau {
namespace {

std::optional<Error> append(const std::string& path, const std::string& text) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666));
  const int code = file.open() ? write_all(file.get(), text) : errno;
  if (code == 0) return std::nullopt;
  return usage_error(fmt::format("{}: {}", path, std::strerror(code)));
}

}  // namespace

Options ci_options() {
  return grouped(
      "For CI",
      {option("junit", Takes::file, "XML",
              "Also write the answers to XML in JUnit's format: a leak is a failure, undecided is "
              "skipped. Replaces the file."),
       option("sarif", Takes::file, "JSON",
              "Also write leaks and undecided runs to JSON as SARIF 2.1.0, at the line that holds "
              "what grows if that is known. Replaces the file."),
       option("summary", Takes::file, "MD",
              "Also append the answers to MD as Markdown, for example to "
              "\"$GITHUB_STEP_SUMMARY\".")});
}

bool ci_files_wanted(const Arguments& arguments) {
  return arguments.has("junit") || arguments.has("sarif") || arguments.has("summary");
}

int write_ci_files(const Invocation& invocation, const std::vector<CiCase>& cases,
                   const std::string& markdown) {
  const Arguments& arguments = invocation.arguments;
  int code = kExitFine;
  const auto settle = [&](const std::optional<Error>& error) {
    if (error) code = trouble(invocation, error->message);
  };
  if (const auto path = arguments.text("junit")) {
    settle(write_file(*path, junit_xml("plateau " + invocation.verb.name, cases), true));
  }
  if (const auto path = arguments.text("sarif")) settle(write_file(*path, sarif_json(cases), true));
  if (const auto path = arguments.text("summary")) settle(append(*path, markdown + "\n"));
  return code;
}

}  // namespace plateau
