// SPDX-License-Identifier: Apache-2.0
#include "census/refusal.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/fd.h"
#include "base/text.h"

namespace plateau {
namespace {

std::string status_path(pid_t pid) {
  return "/proc/" + std::to_string(pid) + "/status";
}

Error refusal(pid_t pid, std::string_view reason, std::string_view remedy,
              Error::Kind kind = Error::Kind::bad_input) {
  return {.kind = kind, .message = refusal_text(pid, reason, remedy)};
}

int yama_scope() {
  std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
  int scope = 0;
  return file >> scope ? scope : 0;
}

}  // namespace

std::string refusal_text(pid_t pid, std::string_view reason, std::string_view remedy) {
  std::string text = "pid " + std::to_string(pid) + " cannot be read: ";
  text += reason;
  if (!remedy.empty()) (text += "; ") += remedy;
  return text;
}

std::string status_field(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':') {
      return std::string(trim(std::string_view(line).substr(name.size() + 1)));
    }
  }
  return {};
}

std::optional<Error> refuse_at_first_sight(pid_t pid) {
  if (pid <= 0 || (::kill(pid, 0) != 0 && errno == ESRCH)) {
    return refusal(pid, "there is no such process", "", Error::Kind::not_found);
  }
  if (pid == ::getpid()) return refusal(pid, "it is this very program", "");
  const std::string state = status_field(status_path(pid), "State");
  if (state.starts_with("Z") || state.starts_with("X")) {
    return refusal(pid, "it has ended", "", Error::Kind::not_found);
  }
  const std::string tracer = status_field(status_path(pid), "TracerPid");
  if (!tracer.empty() && tracer != "0") {
    return refusal(pid, "pid " + tracer + " traces it already, and the kernel allows one tracer",
                   "end the debugger, strace or profiler that is attached");
  }
  const Fd memory(::open(("/proc/" + std::to_string(pid) + "/maps").c_str(), O_RDONLY | O_CLOEXEC));
  if (!memory) return trace_refusal(pid, errno);
  return std::nullopt;
}

Error trace_refusal(pid_t pid, int failure) {
  if (failure == ESRCH) return refusal(pid, "it ended", "", Error::Kind::not_found);
  if (failure == ENOSYS) {
    return refusal(pid, "this kernel or sandbox offers no ptrace or process_vm_readv",
                   "run outside of the container, or allow both in its seccomp profile");
  }
  const std::string uids = status_field(status_path(pid), "Uid");
  const bool other_user =
      !uids.empty() && static_cast<uid_t>(std::strtoul(uids.c_str(), nullptr, 10)) != ::geteuid();
  if (other_user && ::geteuid() != 0) {
    return refusal(pid, "it belongs to another user",
                   "run plateau as that user or with CAP_SYS_PTRACE (sudo)");
  }
  const int scope = yama_scope();
  if (scope == 3) {
    return refusal(pid, "kernel.yama.ptrace_scope is 3, which forbids it until the next boot", "");
  }
  if (scope > 0 && ::geteuid() != 0) {
    return refusal(pid,
                   "kernel.yama.ptrace_scope is " + std::to_string(scope) +
                       ", which allows only parents or root to look into a process",
                   "sysctl kernel.yama.ptrace_scope=0, or run with CAP_SYS_PTRACE (sudo)");
  }
  return refusal(pid, std::string("the kernel does not permit it (") + std::strerror(failure) + ")",
                 "in a container add the capability SYS_PTRACE (docker run --cap-add=SYS_PTRACE), "
                 "or run plateau outside of it as root");
}

}  // namespace plateau
