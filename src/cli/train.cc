// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/exit_code.h"
#include "cli/trainer_program.h"
#include "cli/verbs.h"

namespace plateau {
namespace {

constexpr std::string_view kTrainer = "plateau-train";

// Beside this program, as git does it; else wherever the shell would find it.
std::string trainer_program() {
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::filesystem::path beside = self.parent_path() / kTrainer;
  return std::filesystem::exists(beside, ignored) ? beside.string() : std::string(kTrainer);
}

int run_trainer(const Invocation& invocation) {
  return become_trainer(invocation, invocation.words);
}

Verb passed_on(std::string name, std::string summary) {
  Verb verb;
  verb.name = std::move(name);
  verb.summary = std::move(summary);
  verb.description = {
      fmt::format("Runs the separate program {}. Build it from the sources with 'make train', or "
                  "install the Debian package of that name; wheels do not contain it. "
                  "'plateau {} --help' explains its options.",
                  kTrainer, verb.name)};
  verb.positional = {.placeholder = "OPTIONS", .help = "Passed on as they are.", .many = true};
  verb.run = run_trainer;
  verb.passes_on = true;
  return verb;
}

}  // namespace

int become_trainer(const Invocation& invocation, std::span<const std::string> given) {
  const std::string program = trainer_program();
  std::vector<std::string> words = {std::string(kTrainer), invocation.verb.name};
  words.insert(words.end(), given.begin(), given.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(program.c_str(), argv.data());
  const std::string why =
      errno == ENOENT ? "is not installed; build it from the sources with 'make train', or install "
                        "the Debian package plateau-train (wheels do not contain it)"
                      : std::strerror(errno);
  return trouble(invocation, fmt::format("{} {}", kTrainer, why));
}

Verb train_verb() {
  return passed_on("train",
                   "fine-tune a Qwen2.5-VL model (LoRA, DoRA or all weights), with its memory "
                   "planned before step 1");
}

}  // namespace plateau
