// SPDX-License-Identifier: Apache-2.0
#include "inject/refusal.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>

#include "base/text.h"

namespace plateau {
namespace {

constexpr int kCapSysPtrace = 19;
constexpr int kTrapSignal = 5;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// What follows "KEY:" in a status file.
std::string_view field(std::string_view status, std::string_view key) {
  size_t at = 0;
  while (at < status.size()) {
    size_t end = status.find('\n', at);
    if (end == std::string_view::npos) end = status.size();
    const std::string_view line = status.substr(at, end - at);
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ':') {
      return trim(line.substr(key.size() + 1));
    }
    at = end + 1;
  }
  return {};
}

int64_t number(std::string_view text) {
  return parse_int(next_word(text)).value_or(0);
}

bool bit(std::string_view mask, int index) {
  uint64_t value = 0;
  std::from_chars(mask.data(), mask.data() + mask.size(), value, 16);
  return ((value >> index) & 1) != 0;
}

bool same_namespace(pid_t pid, const char* kind) {
  struct stat ours = {};
  struct stat theirs = {};
  if (::stat(fmt::format("/proc/self/ns/{}", kind).c_str(), &ours) != 0) return true;
  if (::stat(fmt::format("/proc/{}/ns/{}", pid, kind).c_str(), &theirs) != 0) return true;
  return ours.st_ino == theirs.st_ino;
}

bool is_descendant(int64_t pid) {
  for (int depth = 0; pid > 1 && depth < 64; ++depth) {
    if (pid == ::getpid()) return true;
    pid = number(field(text_of(fmt::format("/proc/{}/status", pid)), "PPid"));
  }
  return false;
}

std::string remedy_for_yama(const TargetFacts& facts) {
  if (facts.yama == 3) return "the kernel forbids it for everybody until a reboot";
  if (facts.yama == 2) return "run it as root (or with CAP_SYS_PTRACE)";
  return "run it as root, or allow it with 'sysctl kernel.yama.ptrace_scope=0', or start the job "
         "under 'plateau run'";
}

}  // namespace

TargetFacts look_at_target(pid_t pid) {
  TargetFacts facts;
  const std::string directory = fmt::format("/proc/{}", pid);
  const std::string status = text_of(directory + "/status");
  if (status.empty()) return facts;
  facts.exists = true;
  const std::string_view state = field(status, "State");
  facts.state = state.empty() ? '?' : state.front();
  facts.name = field(status, "Name");
  facts.tracer = number(field(status, "TracerPid"));
  facts.user = number(field(status, "Uid"));
  facts.same_user = facts.user == static_cast<int64_t>(::geteuid());
  facts.trap_ignored = bit(field(status, "SigIgn"), kTrapSignal - 1);
  facts.shadow_stack = field(status, "x86_Thread_features").find("shstk") != std::string_view::npos;
  if (facts.tracer > 0) {
    facts.tracer_name = trim(text_of(fmt::format("/proc/{}/comm", facts.tracer)));
  }
  // Files of a process that may not be dumped belong to root.
  struct stat owner = {};
  if (::stat((directory + "/environ").c_str(), &owner) == 0) {
    facts.dumpable = static_cast<int64_t>(owner.st_uid) == facts.user;
  }
  facts.same_user_namespace = same_namespace(pid, "user");
  facts.same_pid_namespace = same_namespace(pid, "pid");
  const std::string yama = text_of("/proc/sys/kernel/yama/ptrace_scope");
  if (!yama.empty()) facts.yama = static_cast<int>(number(yama));
  facts.descendant = is_descendant(pid);
  facts.we_may_all = bit(field(text_of("/proc/self/status"), "CapEff"), kCapSysPtrace);
  return facts;
}

std::optional<Error> reason_not_to_try(pid_t pid, const TargetFacts& facts) {
  const auto refuse = [&](const std::string& text) {
    return Error{Error::Kind::not_found, fmt::format("process {} {}", pid, text)};
  };
#if !defined(__x86_64__)
  return refuse("cannot be entered: this works on x86-64 only; start it under 'plateau run'");
#endif
  if (!facts.exists)
    return Error{Error::Kind::not_found, fmt::format("pid {}: no such process", pid)};
  if (pid == ::getpid()) return refuse("is this very program");
  if (facts.state == 'Z' || facts.state == 'X') return refuse("has ended");
  if (facts.tracer > 0) {
    const std::string who = facts.tracer_name.empty() ? "another program" : facts.tracer_name;
    return refuse(
        fmt::format("is traced by {} (pid {}) already; end that first", who, facts.tracer));
  }
  if (facts.state == 'T') {
    return refuse(fmt::format("is stopped; let it go on first: kill -CONT {}", pid));
  }
  if (facts.shadow_stack) {
    return refuse(
        "runs with a shadow stack, which no call from outside can satisfy; start it "
        "under 'plateau run'");
  }
  return std::nullopt;
}

Error explain_refusal(pid_t pid, const TargetFacts& facts) {
  const auto refuse = [&](const std::string& reason, const std::string& remedy) {
    return Error{Error::Kind::not_found,
                 fmt::format("process {} may not be traced: {}; {}", pid, reason, remedy)};
  };
  if (!facts.exists)
    return Error{Error::Kind::not_found, fmt::format("pid {}: no such process", pid)};
  if (facts.yama == 3) {
    return refuse("yama's ptrace_scope is 3", remedy_for_yama(facts));
  }
  if (!facts.same_user && !facts.we_may_all) {
    return refuse(fmt::format("it belongs to user {} and you are user {}", facts.user, ::geteuid()),
                  "run it as that user or as root");
  }
  if (!facts.same_user_namespace) {
    return refuse("it lives in another user namespace (a container)",
                  "run plateau inside that container, or as root outside");
  }
  if (!facts.dumpable && !facts.we_may_all) {
    return refuse("it has made itself unreadable (set-uid, or PR_SET_DUMPABLE)", "run it as root");
  }
  if (facts.yama >= 1 && !facts.we_may_all && (facts.yama == 2 || !facts.descendant)) {
    return refuse(fmt::format("yama's ptrace_scope is {}", facts.yama), remedy_for_yama(facts));
  }
  return refuse("the kernel says no, though user and yama allow it",
                "in a container add the capability SYS_PTRACE (docker run --cap-add=SYS_PTRACE) or "
                "a seccomp profile that allows ptrace");
}

}  // namespace plateau
