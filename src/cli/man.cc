// SPDX-License-Identifier: Apache-2.0
#include "cli/man.h"

#include <fmt/format.h>

#include "base/version.h"
#include "cli/exit_code.h"
#include "cli/help_verb.h"
#include "cli/verbs.h"
#include "report/text.h"

namespace plateau {
namespace {

// roff reads a backslash as an escape, a leading dot or quote as a request, and a bare hyphen as
// something that may be typeset as a dash and then cannot be pasted into a shell.
std::string roff(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

// Running text in lines that an editor and `mandoc -T lint` are content with.
std::string prose(std::string_view text) {
  std::string out;
  for (const std::string& line : wrap(text, 66)) out += roff(line) + "\n";
  return out;
}

std::string option_entry(const Option& option) {
  std::string title = option.letter != 0 ? fmt::format("\\fB\\-{}\\fR, ", option.letter) : "";
  title += fmt::format("\\fB\\-\\-{}\\fR", roff(option.name));
  const std::string value = fmt::format("\\fI{}\\fR", roff(option.placeholder));
  if (option.may_be_bare) {
    title += fmt::format("[={}]", value);
  } else if (!option.placeholder.empty()) {
    title += " " + value;
  }
  return fmt::format(".TP\n{}\n{}", title, prose(option.help));
}

std::string verb_section(const Verb& verb) {
  std::string out = fmt::format(".SS {}\n\\fB{}\\fR\n", roff(verb.name), roff(usage_line(verb)));
  out += ".PP\n" + prose(fmt::format("To {}.", verb.summary));
  for (const std::string& paragraph : verb.description) {
    out += ".PP\n" + prose(paragraph);
  }
  if (!verb.positional.placeholder.empty()) {
    out += fmt::format(".TP\n\\fI{}\\fR\n{}", roff(verb.positional.placeholder),
                       prose(verb.positional.help));
  }
  for (const Option& option : verb.options) out += option_entry(option);
  return out;
}

std::string examples_section(std::span<const Verb> verbs) {
  std::string out = ".SH EXAMPLES\n";
  bool first = true;
  for (const Verb& verb : verbs) {
    for (const Example& example : verb.examples) {
      if (!first) out += ".PP\n";
      first = false;
      out += fmt::format("{}:\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n", roff(example.purpose),
                         roff(example.command));
    }
  }
  return out;
}

std::string exit_section(std::span<const Verb> verbs) {
  std::string out = ".SH EXIT STATUS\n";
  for (const Verb& verb : verbs) {
    if (verb.exits.empty()) continue;
    out += fmt::format(".SS {}\n", roff(verb.name));
    for (const ExitMeaning& exit : verb.exits) {
      out += fmt::format(".TP\n.B {}\n{}.\n", roff(exit.code), roff(exit.meaning));
    }
  }
  return out;
}

std::string environment_section() {
  return ".SH ENVIRONMENT\n"
         ".TP\n.B NO_COLOR\nSet and not empty: no colour, unless \\-\\-color always.\n"
         ".TP\n.B CLICOLOR_FORCE\nSet and not 0: colour also when piped.\n"
         ".TP\n.B COLUMNS\nWidth of the report when standard output is not a terminal.\n"
         ".TP\n.B PLATEAU_SOCKET\nSet by plateau run for its job: where the training loop reports "
         "its steps.\n"
         "A socket that was already set still gets them too.\n"
         ".TP\n.BR LC_ALL \", \" LC_CTYPE \", \" LANG\n"
         "The first one set decides whether the report uses UTF\\-8.\n";
}

int run_man(const Invocation& invocation) {
  invocation.out.print(manual_page(invocation.verbs));
  return kExitFine;
}

}  // namespace

std::string manual_page(std::span<const Verb> verbs) {
  std::string out =
      fmt::format(".TH PLATEAU 1 {} \"plateau {}\" \"User Commands\"\n", release_date(), version());
  out += ".SH NAME\nplateau \\- " + prose(kTagline);
  out += ".SH SYNOPSIS\n.B plateau\n.I verb\n[\\fIoptions\\fR] [\\fIfile\\fR ...]\n";
  out += ".SH DESCRIPTION\n" +
         prose(
             "Answers one question about a training job whose memory grows: is it a leak, or "
             "will it plateau? Then which process grows, why, where it will stop, whether it "
             "fits, and what single experiment would settle it.");
  out += ".SH VERBS\n";
  for (const Verb& verb : verbs) out += verb_section(verb);
  return out + exit_section(verbs) + environment_section() + examples_section(verbs);
}

Verb man_verb() {
  Verb verb;
  verb.name = "man";
  verb.summary = "print the manual page";
  verb.examples = {{"read it", "plateau man | man -l -"},
                   {"read it without man", "plateau man | mandoc -a"},
                   {"install it", "plateau man > ~/.local/share/man/man1/plateau.1"}};
  verb.run = run_man;
  return verb;
}

}  // namespace plateau
