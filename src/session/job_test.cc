// SPDX-License-Identifier: Apache-2.0
#include "session/job.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "session/machine.h"
#include "session/testing/child.h"

namespace plateau {
namespace {

using testing::HasSubstr;

struct Ran {
  int code = -1;
  std::string output;  // Standard output and error, or why it could not be started.
};

// Starts the job from a process of its own, whose standard output and error are one pipe.
Ran run_job(const JobRequest& request, const std::function<void()>& before = [] {}) {
  Pipe pipe;
  Ran ran;
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    dup2(pipe.in.get(), 1);
    dup2(pipe.in.get(), 2);
    before();
    Started started = start_job(request);
    if (!started.job) {
      write_text(1, started.failure.error.message);
      _exit(started.failure.exit_code);
    }
    int status = 0;
    waitpid(started.job->pid, &status, 0);
    for (const Relay& relay : started.job->relays) waitpid(relay.pid, nullptr, 0);
    _exit(exit_code_of(status));
  }
  pipe.in.reset();
  ran.output = read_to_end(pipe.out.get());
  int status = 0;
  waitpid(pid, &status, 0);
  ran.code = exit_code_of(status);
  return ran;
}

JobRequest shell(const std::string& line) {
  JobRequest request;
  request.command = {"sh", "-c", line};
  return request;
}

TEST(Job, ArgumentsReachItByteForByte) {
  const std::string odd = "\xff\xfe \n\t'\"\\$()\x01";
  JobRequest request;
  request.command = {"printf", "[%s]", "", odd, "--", "-o", ""};
  EXPECT_EQ(run_job(request).output, "[][" + odd + "][--][-o][]");
}

TEST(Job, DoesNotInheritTheTokenOfOurServer) {
  const Ran ran = run_job(shell("echo token=${PLATEAU_TOKEN-none}"),
                          [] { setenv("PLATEAU_TOKEN", "0123456789abcdef", 1); });
  EXPECT_THAT(ran.output, HasSubstr("token=none"));
}

TEST(Job, DoesNotInheritTheSecretsOfOurDatabase) {
  const Ran ran = run_job(shell("echo ${PLATEAU_PUSH_BEARER-none} ${PLATEAU_PUSH_BASIC-none}"), [] {
    setenv("PLATEAU_PUSH_BEARER", "token", 1);
    setenv("PLATEAU_PUSH_BASIC", "me:secret", 1);
  });
  EXPECT_THAT(ran.output, HasSubstr("none none"));
}

TEST(Job, ExitCodesAndSignalsAreThoseOfAShell) {
  EXPECT_EQ(run_job(shell("exit 0")).code, 0);
  EXPECT_EQ(run_job(shell("exit 255")).code, 255);
  EXPECT_EQ(run_job(shell("kill -9 $$")).code, 137);
  EXPECT_EQ(run_job(shell("kill -15 $$")).code, 143);
}

TEST(Job, OutputOfBothStreamsArrivesInOrder) {
  const Ran ran = run_job(shell("echo one; echo two >&2; echo three"));
  EXPECT_EQ(ran.output, "one\ntwo\nthree\n");
}

TEST(Job, ACommandThatIsNotThereIs127WithAHint) {
  JobRequest request;
  request.command = {"no-such-command-here"};
  const Ran ran = run_job(request);
  EXPECT_EQ(ran.code, 127);
  EXPECT_THAT(ran.output, HasSubstr("cannot start 'no-such-command-here'"));
  EXPECT_THAT(ran.output, HasSubstr("PATH"));
}

TEST(Job, ACommandThatMayNotBeExecutedIs126) {
  JobRequest request;
  request.command = {"/etc/passwd"};
  EXPECT_EQ(run_job(request).code, 126);
}

TEST(Job, ArgumentsArriveAsTheyAre) {
  JobRequest request;
  request.command = {"printf", "[%s]", "a b", "", "$HOME", "'"};
  EXPECT_EQ(run_job(request).output, "[a b][][$HOME][']");
}

TEST(Job, LeadsAProcessGroupOfItsOwn) {
  const Ran ran = run_job(shell("cut -d ' ' -f 1,5 /proc/$$/stat"));
  std::istringstream words(ran.output);
  pid_t pid = 0;
  pid_t group = 0;
  words >> pid >> group;
  EXPECT_GT(pid, 0);
  EXPECT_EQ(pid, group);
}

TEST(Job, EnvironmentIsOursWithTheAdditions) {
  JobRequest request = shell("echo $PLATEAU_TEST_A $PLATEAU_TEST_B");
  request.environment = {"PLATEAU_TEST_B=new=er"};
  const Ran ran = run_job(request, [] {
    setenv("PLATEAU_TEST_A", "kept", 1);
    setenv("PLATEAU_TEST_B", "old", 1);
  });
  EXPECT_EQ(ran.output, "kept new=er\n");
}

TEST(Job, SignalsAreAsAProgramExpectsThem) {
  const Ran ran = run_job(shell("grep -E 'SigBlk|SigIgn' /proc/self/status"), [] {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGHUP, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
  });
  EXPECT_THAT(ran.output, HasSubstr("SigBlk:\t0000000000000000"));
  // SIGPIPE is ours and is restored; SIGHUP may be the wish of whoever called us (nohup). Other
  // bits are those of whoever runs this test.
  const size_t ignored = ran.output.find("SigIgn:\t");
  ASSERT_NE(ignored, std::string::npos) << ran.output;
  const uint64_t mask = std::stoull(ran.output.substr(ignored + 8, 16), nullptr, 16);
  EXPECT_NE(mask & (1ull << (SIGHUP - 1)), 0u);
  EXPECT_EQ(mask & (1ull << (SIGPIPE - 1)), 0u);
}

TEST(Job, EntersTheGroupBeforeItRuns) {
  const ScratchDirectory scratch;
  const std::string procs = scratch.file("cgroup.procs");
  std::ofstream(procs) << "";
  JobRequest request = shell("true");
  request.cgroup_procs = procs;
  EXPECT_EQ(run_job(request).code, 0);
  EXPECT_EQ(text_of_file(procs), "0");
}

TEST(Job, OrphansComeBackToWhoeverStartedIt) {
  // The job ends at once; its child then belongs to the process that started the job.
  const Pipe silent;
  const int code = in_child([&] {
    dup2(silent.in.get(), 1);
    dup2(silent.in.get(), 2);
    const Started started = start_job(shell("(setsid sh -c 'exit 33' &) ; sleep 0.1; exit 0"));
    if (!started.job) return 1;
    int status = 0;
    int orphans = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, 0)) > 0;) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == 33) ++orphans;
    }
    return orphans == 1 ? 0 : 2;
  });
  EXPECT_EQ(code, 0);
}

TEST(StandardDescriptors, ClosedOnesAreFilledSoThatNoFileTakesTheirPlace) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("recording");
  const int code = in_child([&] {
    close(0);
    close(1);
    fill_standard_descriptors();
    const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return file.get() > 2 ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace plateau
