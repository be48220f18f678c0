// SPDX-License-Identifier: Apache-2.0
// A verb of the command line as plain data: parser, help, man page and completions all read the
// same declaration, so they cannot disagree.
//
// Texts are ASCII and one sentence a string where they can be; each reader wraps them as it needs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "command/output.h"

namespace plateau {

// What may follow an option or stand as an argument. It drives checking and completion.
enum class Takes : uint8_t {
  nothing,  // A flag.
  count,    // A whole number of at least 1.
  index,    // A whole number of at least 0.
  real,     // A number of at least 0: "3", "2e-5".
  memory,   // "20GB".
  choice,   // One of Option::choices.
  text,     // Anything; the verb checks it.
  file,     // A path.
  seconds,  // A length of time: "30", "1.5s", "10m", "1h30m".
  pid,      // A process id.
  command,  // As an argument: a program and its arguments, taken as they are to the end.
};

struct Option {
  std::string name;  // Without dashes: "until-step".
  char letter = 0;   // 'q' for -q; 0 if there is none.
  Takes takes = Takes::nothing;
  std::string placeholder = {};  // "N", "FILE"; empty for a flag.
  std::string group = {};        // Heading in --help: "Context", "Output".
  std::string help = {};
  std::vector<std::string> choices = {};
  bool may_be_bare = false;  // The value may be left out ("--heap", "--heap=exact"); then it is "".
  bool divides = false;      // A flag whose place among the arguments counts: Arguments::dividers.
};

// Rows of a table of options: without a value, with one, with one of several; may_be_bare() lets
// the value be left out.
Option flag(std::string name, std::string help, char letter = 0);
Option option(std::string name, Takes takes, std::string placeholder, std::string help,
              char letter = 0);
Option choice(std::string name, std::string placeholder, std::vector<std::string> choices,
              std::string help);
Option may_be_bare(Option option);

// A table with its heading in --help; several as one; one without the row of that name.
using Options = std::vector<Option>;
Options grouped(const std::string& group, Options options);
Options together(std::initializer_list<Options> tables);
Options without(std::string_view name, Options options);

struct Positional {
  std::string placeholder;  // "FILE".
  std::string help;
  Takes takes = Takes::file;
  bool required = false;
  bool many = false;
  std::vector<std::string> choices = {};
  size_t most = 1;  // Words it may be, where it is not many: "PID WHAT" is two.
};

struct Example {
  std::string purpose;
  std::string command;
};

struct ExitMeaning {
  std::string code;  // "1", or "126, 127".
  std::string meaning;
};

// What was given, after checking against the verb's declaration.
class Arguments {
 public:
  [[nodiscard]] bool has(std::string_view option) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view option) const;
  // Requires: the option takes count, index or real.
  [[nodiscard]] std::optional<double> number(std::string_view option) const;
  // Requires: the option takes memory.
  [[nodiscard]] std::optional<double> memory_mb(std::string_view option) const;
  // Requires: the option takes seconds.
  [[nodiscard]] std::optional<double> seconds(std::string_view option) const;

  std::map<std::string, std::string, std::less<>> options;  // A flag's value is "".
  std::vector<std::string> positionals;
  std::vector<size_t> dividers;  // How many positionals stand before each dividing flag.
};

struct Verb;

struct Invocation {
  const Verb& verb;
  std::span<const Verb> verbs;  // The whole table, for help, man and completion.
  const Arguments& arguments;
  Output& out;
  std::span<const std::string> words = {};  // What arguments were made of.
};

// Says on standard error, in the verb's name, why it cannot be done; misused() also where to look
// it up. Both return the exit code for that.
int trouble(const Invocation& invocation, std::string_view message);
int misused(const Invocation& invocation, const Error& error);

struct Verb {
  std::string name;
  std::string program = "plateau";       // What people type in front of it.
  std::string summary;                   // One line, lower case, no full stop.
  std::vector<std::string> description;  // Paragraphs.
  Positional positional;                 // Empty placeholder: the verb takes none.
  std::vector<Option> options;
  std::vector<Example> examples;
  std::vector<ExitMeaning> exits;  // Empty: 0, or 2 for trouble.
  bool passes_on = false;          // Another program reads its words, --help too: not checked here.
  int (*run)(const Invocation&) = nullptr;
};

// Verbs that answer the same wish, by name. A name that is no verb of the program is left out.
struct VerbGroup {
  std::string wish;  // "An answer".
  std::vector<std::string> verbs;
};

// A program that has verbs, for its own help.
struct Program {
  std::string name = "plateau";
  std::string tagline;
  std::string way_in;              // Lines that say how to begin.
  std::vector<ExitMeaning> exits;  // Of most verbs.
  // In the order of the help; what stands in none comes last. Empty: one list.
  std::vector<VerbGroup> groups = {};
};

// "plateau judge [OPTIONS] [FILE...]".
std::string usage_line(const Verb& verb);

// "--examples N", "-q, --quiet", "--heap[=MODE]" as help and man show it.
std::string option_title(const Option& option);
// Whether the word after the option is its value.
bool takes_next_word(const Option& option);

}  // namespace plateau
