// SPDX-License-Identifier: Apache-2.0
#include "cli/follow.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "answer/answer.h"
#include "cli/input.h"
#include "recording/facts.h"
#include "report/terminal.h"

namespace plateau {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void note_signal(int) {
  interrupted = 1;
}

bool is_pipe(int fd) {
  struct stat about{};
  return fstat(fd, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
}

// Judges what came so far and says it if the word is another than before.
class Looker {
 public:
  Looker(const Invocation& invocation, const JudgeRequest& request)
      : invocation_(invocation), request_(request) {}

  bool look(std::string_view so_far) {
    if (interrupted != 0) return false;
    ImportOptions options;
    options.format = invocation_.arguments.text("format").value_or("auto");
    const Result<ReadingWishes> wishes = wishes_of(invocation_.arguments);
    if (wishes) options.wishes = wishes.value();
    const Result<std::vector<Run>> runs = import_bytes("so far", so_far, options);
    // Too little as yet; the end will say why nothing was found.
    if (!runs || runs.value().empty() || runs.value().back().instants.empty()) return true;
    Run run = runs.value().back();
    run.source.clear();
    apply_facts(request_.given, run.context);
    const Verdict verdict = answer_run(run, {.policy = request_.policy}).verdict;
    if (said_ && verdict.word == word_) return !invocation_.out.closed();
    said_ = true;
    word_ = verdict.word;
    say(render_line(verdict, request_.view));
    return !invocation_.out.closed();
  }

 private:
  void say(const std::string& line) {
    if (request_.follow && !request_.json) {
      invocation_.out.print(line);
      invocation_.out.flush();
    } else {
      invocation_.out.remark("so far: " + line);
    }
  }

  const Invocation& invocation_;
  const JudgeRequest& request_;
  bool said_ = false;
  Word word_ = Word::undecided;
};

}  // namespace

std::optional<Following> following_for(const Invocation& invocation, const JudgeRequest& request,
                                       const std::string& file) {
  if (!request.follow && !(file == "-" && is_pipe(STDIN_FILENO))) return std::nullopt;
  if (request.follow) {
    struct sigaction action{};
    action.sa_handler = note_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // The second one ends the program.
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
  }
  Following following;
  following.waits = request.follow;
  following.look = [looker = std::make_shared<Looker>(invocation, request)](std::string_view text) {
    return looker->look(text);
  };
  return following;
}

}  // namespace plateau
