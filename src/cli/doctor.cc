// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/installed.h"
#include "base/json_writer.h"
#include "base/version.h"
#include "census/find_python.h"
#include "cli/doctor_words.h"
#include "cli/exit_code.h"
#include "cli/shared_options.h"
#include "cli/verbs.h"
#include "inject/inject.h"
#include "probe/machine.h"
#include "report/text.h"
#include "symbols/debug_file.h"

namespace plateau {
namespace {

constexpr size_t kTextColumn = 20;  // After the name and the word.

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread.
  return value != nullptr ? value : "";
}

OwnFacts own_facts() {
  OwnFacts own;
  own.tracer = first_readable(places_of("libplateau_tracer.so"));
  own.module = installed_directory("python", "sitecustomize.py");
  own.trainer = first_readable(places_of("plateau-train"));
  own.attaches = kCallsFunctions;
  own.loads_libraries = loads_libraries();
  own.servers_named = !variable("DEBUGINFOD_URLS").empty();
  own.debuginfod = own.servers_named && can_ask_servers();
  return own;
}

Ink ink_of(Check::State state) {
  switch (state) {
    case Check::State::works:
      return Ink::green;
    case Check::State::limited:
      return Ink::yellow;
    case Check::State::missing:
      return Ink::red;
  }
  return Ink::plain;
}

// A name, a word, and the text beside them, wrapped.
std::string row(const Check& check, const View& view) {
  std::string out = "  " + pad_right(check.name, 8) + " " +
                    paint(view, ink_of(check.state), pad_right(state_word(check.state), 8)) + " ";
  std::string text = check.text;
  if (!check.remedy.empty()) text += ". Try: " + check.remedy;
  bool first = true;
  for (const std::string& line : wrap(text, std::max<size_t>(view.width, 60) - kTextColumn)) {
    out += (first ? "" : std::string(kTextColumn, ' ')) + line + "\n";
    first = false;
  }
  return out;
}

std::string screen(const std::vector<Check>& checks, const View& view) {
  const bool fine = essentials_work(checks);
  const auto limits = static_cast<size_t>(std::ranges::count_if(
      checks, [](const Check& check) { return check.state != Check::State::works; }));
  std::string out = paint(view, fine ? Ink::green : Ink::red, fine ? "READY" : "NOT READY");
  out += fine ? "     jobs can be watched and judged here" : " jobs cannot be watched here";
  out += limits == 0 ? "\n" : fmt::format("; {} of {} could work better\n", limits, checks.size());
  for (const Check& check : checks) out += row(check, view);
  return view.utf8 ? out : to_ascii(out);
}

std::string json_of(const std::vector<Check>& checks) {
  JsonWriter json;
  json.begin_object().members("schema", 1, "version", version(), "ready", essentials_work(checks));
  json.key("checks").begin_array();
  for (const Check& check : checks) {
    json.begin_object()
        .members("name", check.name, "state", state_word(check.state), "essential", check.essential,
                 "text", check.text, "remedy", text_or_null(check.remedy))
        .end_object();
  }
  return json.end_array().end_object().take() + "\n";
}

int run_doctor(const Invocation& invocation) {
  MachinePlaces places;
  places.path = variable("PATH");
  const std::vector<Check> checks =
      doctor_checks(look_at_machine(places), own_facts(), census_knows);
  invocation.out.print(invocation.arguments.has("json")
                           ? json_of(checks)
                           : screen(checks, view_of(invocation.arguments, STDOUT_FILENO)));
  return essentials_work(checks) ? kExitFine : kExitLeak;
}

}  // namespace

Verb doctor_verb() {
  Verb verb;
  verb.name = "doctor";
  verb.summary = "check what works on this machine, what does not, and how to allow it";
  verb.description = {
      "Checks what watching needs: what /proc shows, whose processes can be read, whether running "
      "processes can be traced, the tracer, Python versions, debug files, cgroups, /dev/shm, GPUs. "
      "Nothing is changed, no process is touched. docs/doctor.md explains each line."};
  verb.options = together({grouped("Output", {flag("json", "Print one JSON object.")}),
                           without("no-plot", without("quiet", look_options()))});
  verb.examples = {{"what works here?", "plateau doctor"},
                   {"inside the container that trains", "docker exec JOB plateau doctor"},
                   {"what is limited, for a script",
                    "plateau doctor --json | jq '.checks[] | select(.state != \"works\")'"}};
  verb.exits = {{"0", "jobs can be watched and judged"},
                {"1", "something essential is missing"},
                {"2", "wrong usage"}};
  verb.run = run_doctor;
  return verb;
}

}  // namespace plateau
