// SPDX-License-Identifier: Apache-2.0
// A look from a shell's prompt has to be quick and must never wait: what is found by itself are
// recordings, which are of bounded size; a file that is named must be an ordinary one. Nothing is
// started and no process is looked into.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "answer/answer.h"
#include "cli/exit_code.h"
#include "cli/find_recording.h"
#include "cli/input.h"
#include "cli/shared_options.h"
#include "cli/verbs.h"
#include "report/status_line.h"
#include "report/terminal.h"

namespace plateau {
namespace {

constexpr int kExitNothing = 4;

struct Candidate {
  std::string file;
  timespec changed = {};
};

bool newer(const Candidate& a, const Candidate& b) {
  if (a.changed.tv_sec != b.changed.tv_sec) return a.changed.tv_sec > b.changed.tv_sec;
  return a.changed.tv_nsec > b.changed.tv_nsec;
}

// Those that are ordinary files, the last changed first.
std::vector<Candidate> candidates_of(const std::vector<std::string>& files) {
  std::vector<Candidate> found;
  for (const std::string& file : files) {
    struct stat info = {};
    if (stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    found.push_back({file, info.st_mtim});
  }
  std::ranges::sort(found, newer);
  return found;
}

Result<Verdict> look_at(const Invocation& invocation, const std::string& file) {
  Result<std::vector<Run>> runs = read_runs(invocation, file);
  if (!runs) return runs.error();
  return answer_run(runs.value().back(), {.policy = policy_of(invocation.arguments)}).verdict;
}

int show(const Invocation& invocation, const std::vector<Candidate>& found, bool given) {
  const bool brief = invocation.arguments.has("short");
  const View view = view_of(invocation.arguments, STDOUT_FILENO);
  int code = kExitFine;
  size_t shown = 0;
  for (const Candidate& each : found) {
    const Result<Verdict> verdict = look_at(invocation, each.file);
    if (!verdict) {
      // One that has just begun has no samples yet, and one may end as we look.
      if (!given) continue;
      code = worse_exit_code(code, trouble(invocation, verdict.error().message));
      continue;
    }
    ++shown;
    code = worse_exit_code(code, exit_code_for(verdict.value()));
    invocation.out.print(brief ? render_status(verdict.value(), view) + "\n"
                               : render_line(verdict.value(), view));
    if (brief) break;
  }
  if (shown > 0 || code != kExitFine) return code;
  if (!brief)
    invocation.out.print("no job is being recorded; 'plateau run' and 'plateau watch' do\n");
  return kExitNothing;
}

int show_paths(const Invocation& invocation, const std::vector<Candidate>& found) {
  for (const Candidate& each : found) invocation.out.print(printable(each.file) + "\n");
  return found.empty() ? kExitNothing : kExitFine;
}

int run_status(const Invocation& invocation) {
  const std::vector<std::string>& files = invocation.arguments.positionals;
  if (files.empty()) {
    const std::vector<Candidate> live = candidates_of(open_recordings());
    return invocation.arguments.has("paths") ? show_paths(invocation, live)
                                             : show(invocation, live, false);
  }
  if (invocation.arguments.has("paths")) {
    return misused(invocation,
                   usage_error("--paths lists what is being recorded: it takes no FILE"));
  }
  const std::vector<Candidate> found = candidates_of(files);
  if (found.size() < files.size()) {
    for (const std::string& file : files) {
      const auto same = [&file](const Candidate& each) { return each.file == file; };
      if (std::ranges::none_of(found, same))
        return trouble(invocation, file + ": no such recording");
    }
  }
  return show(invocation, found, true);
}

}  // namespace

Verb status_verb() {
  Verb verb;
  verb.name = "status";
  verb.summary = "show the jobs being recorded, with their verdicts, one per line";
  verb.description = {
      "Judges the recordings that your running 'plateau run' and 'plateau watch' write, newest "
      "first, or the given FILEs. It only reads files: it touches no process, starts nothing and "
      "waits for nothing.",
      "--short is for a shell prompt or the status line of tmux: verdict, level and rate of the "
      "newest one, and nothing if no job is being recorded."};
  verb.positional = {.placeholder = "FILE", .help = "Recordings to judge instead.", .many = true};
  verb.options = together(
      {grouped("Answer",
               {flag("short", "Print verdict, level and rate of the newest one only."),
                flag("paths", "Print only the paths of the live recordings."), strict_option()}),
       without("no-plot", without("quiet", look_options()))});
  verb.examples = {
      {"what is running?", "plateau status"},
      {"in tmux", "tmux set -g status-right '#(plateau status --short)'"},
      {"in a bash prompt", "PS1='$(plateau status --short 2>/dev/null) \\w\\$ '"},
      {"a finished recording", "plateau status job.plateau --short"},
  };
  // Of several jobs the worst; nothing can be expected of them here.
  verb.exits = {{"0", "plateau or warming"},
                {"1", "leak"},
                {"2", "wrong usage, or input or output that failed"},
                {"3", "undecided"},
                {"4", "no job is being recorded"}};
  verb.run = run_status;
  return verb;
}

}  // namespace plateau
