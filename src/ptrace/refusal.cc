// SPDX-License-Identifier: Apache-2.0
#include "ptrace/refusal.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "base/files.h"
#include "base/proc_fields.h"
#include "base/text.h"

namespace plateau {
namespace {

constexpr int kCapSysPtrace = 19;
constexpr int kTrapSignal = 5;

bool bit(uint64_t bits, int index) {
  return (bits >> index & 1) != 0;
}

int64_t figure(std::string_view status, std::string_view key) {
  return static_cast<int64_t>(number_field(status, key) & INT64_MAX);
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
    pid = figure(text_of_file(fmt::format("/proc/{}/status", pid)), "PPid");
  }
  return false;
}

std::string remedy_for_yama(const TargetFacts& facts) {
  if (facts.yama == 3) return "the kernel forbids it for everybody until a reboot";
  if (facts.yama == 2) return "run plateau with CAP_SYS_PTRACE (sudo)";
  return "run plateau with CAP_SYS_PTRACE (sudo), or allow it with 'sysctl "
         "kernel.yama.ptrace_scope=0', or start the job under 'plateau run'";
}

}  // namespace

TargetFacts look_at_target(pid_t pid) {
  TargetFacts facts;
  const std::string directory = fmt::format("/proc/{}", pid);
  const std::string status = text_of_file(directory + "/status");
  if (status.empty()) return facts;
  facts.exists = true;
  const std::string_view state = field_of(status, "State");
  facts.state = state.empty() ? '?' : state.front();
  facts.name = field_of(status, "Name");
  facts.tracer = figure(status, "TracerPid");
  facts.user = figure(status, "Uid");
  facts.same_user = facts.user == static_cast<int64_t>(::geteuid());
  facts.trap_ignored = bit(bits_field(status, "SigIgn"), kTrapSignal - 1);
  facts.shadow_stack =
      field_of(status, "x86_Thread_features").find("shstk") != std::string_view::npos;
  if (facts.tracer > 0) {
    facts.tracer_name = trim(text_of_file(fmt::format("/proc/{}/comm", facts.tracer)));
  }
  // Files of a process that may not be dumped belong to root.
  struct stat owner = {};
  if (::stat((directory + "/environ").c_str(), &owner) == 0) {
    facts.dumpable = static_cast<int64_t>(owner.st_uid) == facts.user;
  }
  facts.same_user_namespace = same_namespace(pid, "user");
  facts.same_pid_namespace = same_namespace(pid, "pid");
  const std::string yama = text_of_file("/proc/sys/kernel/yama/ptrace_scope");
  facts.yama = static_cast<int>(parse_int(yama).value_or(-1));
  facts.descendant = is_descendant(pid);
  facts.we_may_all = bit(bits_field(text_of_file("/proc/self/status"), "CapEff"), kCapSysPtrace);
  return facts;
}

Error cannot_trace(pid_t pid, std::string_view reason, std::string_view remedy, Error::Kind kind) {
  return {kind, fmt::format("process {} cannot be traced: {}{}{}", pid, reason,
                            remedy.empty() ? "" : "; ", remedy)};
}

Result<void> check_target(pid_t pid, const TargetFacts& facts) {
  if (pid <= 0 || !facts.exists) {
    return Error{Error::Kind::not_found, fmt::format("pid {}: no such process", pid)};
  }
  if (pid == ::getpid()) return cannot_trace(pid, "it is this very program", "");
  if (facts.state == 'Z' || facts.state == 'X') return cannot_trace(pid, "it has ended", "");
  if (facts.tracer > 0) {
    const std::string who = facts.tracer_name.empty() ? "another program" : facts.tracer_name;
    return cannot_trace(pid,
                        fmt::format("it is traced by {} (pid {}) already, and the kernel allows "
                                    "one tracer",
                                    who, facts.tracer),
                        "end that first");
  }
  return {};
}

Error explain_refusal(pid_t pid, const TargetFacts& facts, int failure) {
  const auto refuse = [&](const std::string& reason, const std::string& remedy) {
    return cannot_trace(pid, reason, remedy);
  };
  if (!facts.exists || failure == ESRCH) return refuse("it has ended", "");
  if (failure == ENOSYS) {
    return refuse("this kernel or sandbox offers no ptrace or process_vm_readv",
                  "run plateau outside of the container, or allow both in its seccomp profile");
  }
  if (facts.yama == 3) return refuse("kernel.yama.ptrace_scope is 3", remedy_for_yama(facts));
  if (!facts.same_user && !facts.we_may_all) {
    return refuse(
        fmt::format("it belongs to another user, {}, and you are user {}", facts.user, ::geteuid()),
        "run plateau as that user or with CAP_SYS_PTRACE (sudo)");
  }
  if (!facts.same_user_namespace) {
    return refuse("it lives in another user namespace (a container)",
                  "run plateau inside that container, or as root outside");
  }
  if (!facts.dumpable && !facts.we_may_all) {
    return refuse("it has made itself unreadable (set-uid, or PR_SET_DUMPABLE)",
                  "run plateau as root");
  }
  if (facts.yama >= 1 && !facts.we_may_all && (facts.yama == 2 || !facts.descendant)) {
    return refuse(fmt::format("kernel.yama.ptrace_scope is {}", facts.yama),
                  remedy_for_yama(facts));
  }
  return refuse(fmt::format("the kernel does not permit it ({}), though user and yama do",
                            std::strerror(failure)),
                "in a container add the capability SYS_PTRACE (docker run --cap-add=SYS_PTRACE) or "
                "a seccomp profile that allows ptrace");
}

Result<void> check_failed_seize(pid_t pid, pid_t tid, int failure) {
  if (failure == ESRCH) return {};
  const std::string text = text_of_file(fmt::format("/proc/{}/task/{}/stat", pid, tid));
  const std::optional<StatLine> stat = split_stat(text);
  if (!stat || stat->ended()) return {};
  const TargetFacts facts = look_at_target(pid);
  if (const Result<void> checked = check_target(pid, facts); !checked) return checked;
  return explain_refusal(pid, facts, failure);
}

}  // namespace plateau
