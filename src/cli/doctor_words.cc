// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "census/find_python.h"
#include "probe/loader.h"

namespace plateau {
namespace {

using State = Check::State;

// PyTorch's loader workers hand batches over there; docker's own size of 64 MB ends in bus errors.
constexpr int64_t kSmallShmKb = int64_t{1} << 20;

// What the archive has beside the static program.
constexpr const char* kOtherProgram = "plateau-glibc, which is beside it in the archive";

Check memory(const MachineFacts& machine) {
  Check check{.name = "memory", .essential = true};
  if (!machine.proc || (!machine.rollup && !machine.smaps)) {
    check.state = State::missing;
    check.text = machine.proc ? "the kernel does not show which pages a process owns"
                              : "/proc does not show this process";
    check.remedy =
        machine.proc ? "a kernel with CONFIG_PROC_PAGE_MONITOR" : "mount -t proc proc /proc";
  } else if (!machine.pss) {
    check.state = State::limited;
    check.text =
        "shared pages are not split by kind (Linux before 5.9); verdicts use anonymous "
        "memory";
    check.remedy = "a newer kernel";
  } else {
    check.text = "what each process owns and shares is read from smaps_rollup";
  }
  return check;
}

Check others(const MachineFacts& machine) {
  Check check{.name = "others"};
  if (machine.may_trace_all && !machine.hides_others) {
    check.text = "processes of all users can be watched";
    return check;
  }
  check.state = State::limited;
  check.text = machine.hides_others && !machine.may_trace_all
                   ? "processes of other users are hidden (hidepid)"
                   : "only processes of this user can be watched in full; the kernel shows "
                     "the pages of others only to root (CAP_SYS_PTRACE)";
  check.remedy = "run plateau as root for jobs of other users";
  return check;
}

// Why a running process may not be entered; empty if it may.
std::string attach_trouble(const MachineFacts& machine, std::string& remedy) {
  if (machine.yama == 3) {
    remedy = "kernel.yama.ptrace_scope=3 lasts until the next boot";
    return "tracing is switched off for everybody";
  }
  if (machine.may_trace_all) return "";
  if (machine.yama >= 1) {
    remedy = machine.container.empty()
                 ? "sudo sysctl kernel.yama.ptrace_scope=0, or run plateau as root"
                 : "give the container the capability SYS_PTRACE";
    return machine.yama == 1 ? "only a process's own parent may trace it"
                             : "tracing needs the capability SYS_PTRACE";
  }
  return "";
}

Check attach(const MachineFacts& machine, const OwnFacts& own) {
  Check check{.name = "attach"};
  const std::string what = "watch --heap, profile PID and try";
  if (!own.attaches) {
    check.state = State::missing;
    check.text = what + " need x86-64";
    check.remedy = "start the job with 'plateau run --heap'";
    return check;
  }
  const std::string trouble = attach_trouble(machine, check.remedy);
  if (trouble.empty()) {
    check.text = what + " can enter running processes";
    return check;
  }
  check.state = State::limited;
  check.text = fmt::format("{} cannot enter running processes: {}", what, trouble);
  return check;
}

Check tracer(const MachineFacts& machine, const OwnFacts& own) {
  if (!own.tracer.empty() && !machine.glibc) {
    return {.name = "tracer",
            .state = State::limited,
            .text = fmt::format("there is no glibc here ({}): run --heap cannot trace programs "
                                "on musl, nor static ones",
                                kGlibcLoader),
            .remedy = "a job on glibc (memory is judged on any)"};
  }
  if (!own.tracer.empty()) return {.name = "tracer", .text = "run --heap uses " + own.tracer};
  return {
      .name = "tracer",
      .state = State::missing,
      .text = "the heap tracer libplateau_tracer.so is not beside plateau, nor in ../lib/plateau",
      .remedy = "'make install', or keep the files of the build together"};
}

Check python(const MachineFacts& machine, bool (*census_knows)(int minor)) {
  Check check{.name = "python"};
  std::vector<std::string> fine;
  std::vector<std::string> unknown;
  for (const PythonFound& found : machine.pythons) {
    (census_knows(found.minor) ? fine : unknown).push_back(fmt::format("3.{}", found.minor));
  }
  if (fine.empty() && unknown.empty()) {
    check.text = "no Python in $PATH; objects and lines are still read from any that runs";
    return check;
  }
  check.text =
      fine.empty() ? "" : fmt::format("{}: objects and lines can be read", fmt::join(fine, ", "));
  if (!unknown.empty()) {
    check.state = fine.empty() ? State::missing : State::limited;
    check.text +=
        fmt::format("{}{}: not known", fine.empty() ? "" : "; ", fmt::join(unknown, ", "));
    check.remedy = fmt::format("CPython {} (memory is judged with any)", known_pythons());
  }
  return check;
}

Check steps(const OwnFacts& own) {
  if (!own.module.empty()) {
    return {.name = "steps", .text = "read from Python training loops by " + own.module};
  }
  return {.name = "steps",
          .state = State::limited,
          .text =
              "the module that reads steps inside Python is not beside plateau, nor in "
              "../lib/plateau; steps come from what the job prints",
          .remedy = "two lines in the training loop (import plateau)"};
}

Check names(const MachineFacts& machine, const OwnFacts& own) {
  Check check{.name = "names"};
  const std::string maps =
      machine.perf_maps == 0
          ? ""
          : fmt::format("; {} of compiled code",
                        counted(static_cast<uint64_t>(machine.perf_maps), "map"));
  if (machine.debug_files || own.debuginfod) {
    check.text = fmt::format("functions and lines of libraries from {}{}",
                             own.debuginfod ? "debuginfod" : "/usr/lib/debug", maps);
    return check;
  }
  check.state = State::limited;
  check.text = "functions of libraries by their exported names only: no debug files" + maps;
  if (own.servers_named) {
    check.text += "; DEBUGINFOD_URLS names servers, but libdebuginfod.so.1 cannot be loaded";
    check.remedy = own.loads_libraries ? "install libdebuginfod1" : kOtherProgram;
    return check;
  }
  check.remedy =
      "install their -dbg packages, or export DEBUGINFOD_URLS=https://debuginfod.elfutils.org/";
  return check;
}

Check cgroup(const MachineFacts& machine) {
  Check check{.name = "cgroup"};
  if (machine.cgroup.version == 0) {
    check.state = State::limited;
    check.text = "no memory cgroup is visible; give a container's limit with --limit";
    return check;
  }
  check.text = fmt::format("version {}, ", machine.cgroup.version);
  check.text += machine.cgroup.limit_kb == kUnread
                    ? std::string("no limit")
                    : fmt::format("limit {}", format_mb(mb_of_kb(machine.cgroup.limit_kb)));
  if (machine.may_make_groups) {
    check.text += "; a job can get its own group";
    return check;
  }
  check.state = State::limited;
  check.text += "; no group can be created, so 'run --limit' may notice a jump too late";
  check.remedy = machine.container.empty()
                     ? "systemd-run --user --scope -p Delegate=yes plateau run ..."
                     : "a container with a writable /sys/fs/cgroup";
  return check;
}

Check shm(const MachineFacts& machine) {
  Check check{.name = "shm"};
  if (machine.shm_kb == kUnread) {
    check.state = State::limited;
    check.text = "there is no /dev/shm; data workers cannot pass batches on";
    check.remedy = "mount -t tmpfs tmpfs /dev/shm";
    return check;
  }
  check.text = fmt::format("/dev/shm has {}, {} free", format_mb(mb_of_kb(machine.shm_kb)),
                           format_mb(mb_of_kb(machine.shm_free_kb)));
  if (machine.shm_free_kb >= kSmallShmKb) return check;
  check.state = State::limited;
  check.text += "; data workers die of bus errors when it is full";
  check.remedy = machine.container.empty()
                     ? "mount -o remount,size=8G /dev/shm"
                     : "docker run --shm-size=8g, or an emptyDir of medium Memory";
  return check;
}

Check gpu(const MachineFacts& machine, const OwnFacts& own) {
  Check check{.name = "gpu"};
  if (machine.nvml && !machine.gpus.empty()) {
    check.text = fmt::format("{} through NVML", counted(machine.gpus.size(), "device"));
    return check;
  }
  if (!machine.nvidia) {
    check.text = "no NVIDIA device found";
    return check;
  }
  check.state = State::limited;
  if (!own.loads_libraries) {
    check.text =
        "there is an NVIDIA driver, whose libnvidia-ml.so.1 this static program cannot load";
    check.remedy = kOtherProgram;
    return check;
  }
  check.text = "there is an NVIDIA driver, but libnvidia-ml.so.1 is not found or shows no device";
  check.remedy = machine.container.empty() ? "install the driver's libnvidia-ml package"
                                           : "docker run --gpus all";
  return check;
}

Check sandbox(const MachineFacts& machine) {
  Check check{.name = "sandbox"};
  const bool filtered = machine.seccomp == 2;
  if (machine.container.empty()) {
    check.text = "not in a container";
  } else {
    check.text =
        fmt::format("in a container ({}); processes outside are not visible", machine.container);
  }
  if (filtered) check.text += "; system calls are filtered (seccomp)";
  return check;
}

Check training(const OwnFacts& own) {
  if (!own.trainer.empty())
    return {.name = "train", .text = "train and its plan use " + own.trainer};
  return {.name = "train",
          .state = State::limited,
          .text = "plateau-train is not installed; only 'plateau train' needs it",
          .remedy = "'make train' in the sources, or the Debian package plateau-train"};
}

}  // namespace

std::string_view state_word(Check::State state) {
  switch (state) {
    case State::works:
      return "works";
    case State::limited:
      return "limited";
    case State::missing:
      return "missing";
  }
  return "";
}

std::vector<Check> doctor_checks(const MachineFacts& machine, const OwnFacts& own,
                                 bool (*census_knows)(int minor)) {
  return {memory(machine),
          others(machine),
          attach(machine, own),
          tracer(machine, own),
          python(machine, census_knows),
          steps(own),
          names(machine, own),
          cgroup(machine),
          shm(machine),
          gpu(machine, own),
          sandbox(machine),
          training(own)};
}

bool essentials_work(const std::vector<Check>& checks) {
  return std::ranges::none_of(
      checks, [](const Check& check) { return check.essential && check.state == State::missing; });
}

}  // namespace plateau
