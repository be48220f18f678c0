// SPDX-License-Identifier: Apache-2.0
// Calls functions in a thread that stands at a safe point.
//
// The thread gets a stack of its own in memory mapped for the purpose, so that nothing of the
// program's is written; the red zone and a nearly full stack do not matter. Everything it was
// (general, floating-point and vector registers, signal mask) is saved and put back. All signals
// but those of faults wait in the kernel while a call runs: none is lost, none is handled in a
// strange place. A system call in which the thread slept goes on by the kernel's own rules, because
// the register that says which call was interrupted is put back too.
#include "inject/safe_point.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/files.h"
#include "base/proc_fields.h"
#include "base/text.h"
#include "inject/detour.h"
#include "ptrace/memory.h"

namespace plateau {
namespace {

using Kind = ThreadStop::Kind;

constexpr auto kSystemCallLimit = std::chrono::seconds(10);
constexpr auto kEndLimit = std::chrono::milliseconds(100);       // For a killed thread to end.
constexpr uint64_t kArgumentRoom = 128;                          // Above the return address.
constexpr uint64_t kRegistersCleared = 0x100 | 0x400 | 0x10000;  // TF, DF, RF of the flags.

Error failed(const std::string& text) {
  return {Error::Kind::not_found, text};
}

TraceClock::time_point after(double seconds) {
  return TraceClock::now() +
         std::chrono::duration_cast<TraceClock::duration>(std::chrono::duration<double>(seconds));
}

// `before`, but about to run `address` with the first six arguments, and not on the way out of a
// system call that the kernel would want to restart. The fourth argument is in rcx for a function
// and in r10 for the kernel, and neither minds what is in the other.
user_regs_struct registers_for(const user_regs_struct& before, uint64_t address,
                               const std::vector<uint64_t>& arguments) {
  const auto argument = [&](size_t i) { return i < arguments.size() ? arguments[i] : 0; };
  user_regs_struct registers = before;
  registers.rip = address;
  registers.orig_rax = ~0ULL;
  registers.eflags &= ~kRegistersCleared;
  registers.rdi = argument(0);
  registers.rsi = argument(1);
  registers.rdx = argument(2);
  registers.rcx = argument(3);
  registers.r10 = argument(3);
  registers.r8 = argument(4);
  registers.r9 = argument(5);
  return registers;
}

}  // namespace

bool TargetCode::has(uint64_t address) const {
  const auto next = std::ranges::upper_bound(ranges, address, {}, &CodeRange::begin);
  return next != ranges.begin() && address < std::prev(next)->end;
}

TargetCode find_code(pid_t pid) {
  TargetCode code;
  const std::string maps = text_of_file(fmt::format("/proc/{}/maps", pid));
  for (std::string_view rest = maps; !rest.empty();) {
    const auto line = split_maps_line(take_line(rest));
    if (!line || line->perms != "r-xp" || line->name == "[vsyscall]") continue;
    const CodeRange range{line->begin, line->end};
    code.ranges.push_back(range);
    // The vdso has one and is never unloaded; any other is borrowed only if it has none.
    const bool vdso = line->name == "[vdso]";
    if (code.system_call != 0 && !vdso) continue;
    std::string bytes(std::min<uint64_t>(range.end - range.begin, uint64_t{1} << 20), '\0');
    if (!read_memory(pid, range.begin, bytes.data(), bytes.size())) continue;
    const size_t at = bytes.find("\x0f\x05");
    if (at != std::string::npos) code.system_call = range.begin + at;
  }
  return code;
}

PatientSignals::PatientSignals() {
  sigset_t wait = {};
  sigemptyset(&wait);
  for (const int signal :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2}) {
    sigaddset(&wait, signal);
  }
  sigprocmask(SIG_BLOCK, &wait, &before_);
}

PatientSignals::~PatientSignals() {
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

struct SafePoint::State {
  pid_t pid = 0;
  InjectOptions options;
  PatientSignals patient;
  std::optional<Tracee> thread;
  std::string how;
  TraceClock::time_point stopped_at;
  ThreadState before;
  uint64_t system_call_at = 0;
  DetourPlan plan;
  uint64_t placed = 0;        // Bytes of the data area in use.
  std::vector<int> withheld;  // Signals that came to the thread although blocked.

  ~State() {
    if (!thread) return;
    if (thread->stopped()) {
      if (plan.base != 0) {
        (void)system_call(SYS_munmap, {plan.base, DetourPlan::kAllBytes});
        if (thread->stopped()) (void)rest();
      }
      if (thread->stopped()) thread->restore(before);
      thread->swallow_signal();
    }
    const pid_t tid = thread->tid();
    thread->release(TraceClock::now() + kSystemCallLimit);
    for (const int signal : withheld) ::syscall(SYS_tgkill, pid, tid, signal);
  }

  // The next stop that is not just a signal to keep for later.
  ThreadStop await(TraceClock::time_point until) {
    while (true) {
      const ThreadStop stop = thread->wait(until);
      if (stop.kind == Kind::group) {
        if (!thread->go_on()) return {.kind = Kind::gone};
        continue;
      }
      if (stop.kind != Kind::signal || stop.from_kernel || at_detour_end()) return stop;
      withheld.push_back(stop.signal);
      if (!thread->go_on()) return {.kind = Kind::gone};
    }
  }

  [[nodiscard]] bool at_detour_end() const {
    if (plan.base == 0) return false;
    const auto registers = thread->registers();
    return registers && registers->rip == plan.code() + detour_stop_offset();
  }

  Error lost(const ThreadStop& stop) {
    // The end of a thread is for its tracer to note: until then its process stays a zombie.
    if (stop.kind == Kind::gone) thread->wait(TraceClock::now() + kEndLimit);
    if (stop.kind == Kind::exec) {
      return failed(fmt::format("process {} replaced its program meanwhile", pid));
    }
    if (stop.kind == Kind::gone) {
      return failed(stop.signal != 0
                        ? fmt::format("process {} was ended by signal {}", pid, stop.signal)
                        : fmt::format("process {} or its thread has ended", pid));
    }
    return failed(fmt::format("thread of process {} could not be used", pid));
  }

  // Between calls the thread is as it was, and in a stop from which the kernel lets it go on
  // unharmed should we die: not at a trap signal, which would then be delivered.
  Result<void> rest() {
    thread->restore(before);
    thread->interrupt_stopped();
    if (!thread->go_on()) return lost({.kind = Kind::gone});
    const ThreadStop stop = thread->wait(TraceClock::now() + kSystemCallLimit);
    if (stop.kind == Kind::interrupt || stop.kind == Kind::group) return {};
    return lost(stop);
  }

  // No signal but those of faults and the one by which the thread tells that it is done.
  void block_signals() {
    constexpr uint64_t kUrgent = uint64_t{1} << (SIGURG - 1);
    thread->set_signal_mask(~(mask_of_faults() | kUrgent));
  }

  // One system call made by the thread; the thread is not at rest afterwards.
  Result<uint64_t> system_call(int64_t number, const std::vector<uint64_t>& arguments) {
    user_regs_struct registers = registers_for(before.registers, system_call_at, arguments);
    registers.rax = static_cast<uint64_t>(number);
    block_signals();
    if (!thread->set_registers(registers) || !thread->step()) return lost({.kind = Kind::gone});
    const ThreadStop stop = await(TraceClock::now() + kSystemCallLimit);
    if (stop.kind != Kind::signal || stop.signal != SIGTRAP) return lost(stop);
    const auto after = thread->registers();
    if (!after) return lost({.kind = Kind::gone});
    const auto result = static_cast<int64_t>(after->rax);
    if (result < 0 && result > -4096) {
      return failed(fmt::format("a system call inside process {} failed: {}", pid,
                                std::strerror(static_cast<int>(-result))));
    }
    return after->rax;
  }

  Result<void> prepare() {
    const auto saved = thread->save();
    if (!saved) return failed(fmt::format("registers of process {} cannot be read", pid));
    before = *saved;
    const Result<uint64_t> base =
        system_call(SYS_mmap, {0, DetourPlan::kAllBytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, ~0ULL, 0});
    if (!base.ok()) return base.error();
    plan.base = base.value();
    const std::string code = detour_code(plan);
    const std::string frame = detour_frame(plan, before);
    if (frame.size() > DetourPlan::kFrameBytes ||
        !write_memory(pid, plan.code(), code.data(), code.size()) ||
        !write_memory(pid, plan.frame(), frame.data(), frame.size())) {
      return failed(fmt::format("memory of process {} cannot be written", pid));
    }
    const Result<uint64_t> code_made =
        system_call(SYS_mprotect, {plan.code(), DetourPlan::kCodeBytes, PROT_READ | PROT_EXEC});
    if (!code_made.ok()) {
      return failed(code_made.error().message + " (does a security module forbid new code?)");
    }
    return rest();
  }

  // After a call that did not come back, the thread is stopped and put back all the same.
  Error abandon() {
    thread->interrupt();
    const ThreadStop stop = thread->wait(TraceClock::now() + kSystemCallLimit);
    if (stop.kind == Kind::gone || stop.kind == Kind::exec) return lost(stop);
    return failed(
        fmt::format("a function called in process {} did not return within {:.3g} s and was given "
                    "up; it may hold a lock",
                    pid, options.call_timeout_s));
  }
};

SafePoint::SafePoint(std::unique_ptr<State> state) : state_(std::move(state)) {}
SafePoint::SafePoint(SafePoint&&) noexcept = default;
SafePoint::~SafePoint() = default;

Result<SafePoint> SafePoint::reach(pid_t pid, const InjectOptions& options) {
  if (const auto checked = check_enterable(pid, look_at_target(pid)); !checked) {
    return checked.error();
  }
  auto state = std::make_unique<State>();
  state->pid = pid;
  state->options = options;
  const std::vector<MappedObject> objects = mapped_objects(pid);
  if (objects.empty()) return explain_refusal(pid, look_at_target(pid));
  const Result<TargetAllocator> allocator = find_allocator(pid, objects);
  if (!allocator.ok()) return allocator.error();
  const TargetCode code = find_code(pid);
  if (code.system_call == 0) {
    return failed(fmt::format("process {} has no system call to borrow", pid));
  }
  state->system_call_at = code.system_call;
  Result<FoundThread> found = hunt(pid, allocator.value(), code, options.timeout_s);
  if (!found.ok()) return found.error();
  state->thread = std::move(found.value().thread);
  state->how = std::move(found.value().how);
  state->stopped_at = found.value().stopped_at;
  if (const Result<void> prepared = state->prepare(); !prepared) return prepared.error();
  return SafePoint(std::move(state));
}

Result<uint64_t> SafePoint::call(uint64_t address, const std::vector<uint64_t>& arguments) {
  State& state = *state_;
  if (!state.thread->stopped()) return state.lost({.kind = Kind::gone});
  user_regs_struct registers = registers_for(state.before.registers, address, arguments);
  // At the entry of a function the stack pointer is 8 below a multiple of 16.
  registers.rsp = state.plan.stack_top() - kArgumentRoom - 8;
  registers.rax = 0;  // No vector arguments, where the function is variadic.
  std::vector<uint64_t> stack = {state.plan.code()};  // Where it returns to; further arguments.
  for (size_t i = 6; i < arguments.size(); ++i) stack.push_back(arguments[i]);
  state.block_signals();
  if (!write_memory(state.pid, registers.rsp, stack.data(), stack.size() * sizeof stack[0]) ||
      !state.thread->set_registers(registers) || !state.thread->go_on()) {
    return state.lost({.kind = Kind::gone});
  }
  const ThreadStop stop = state.await(after(state.options.call_timeout_s));
  if (stop.kind == Kind::none) return state.abandon();
  if (stop.kind != Kind::signal) return state.lost(stop);
  if (stop.signal != SIGURG || !state.at_detour_end()) {
    return failed(
        fmt::format("a function called in process {} was stopped by signal {} and given "
                    "up",
                    state.pid, stop.signal));
  }
  uint64_t result = 0;
  if (!read_memory(state.pid, state.plan.result(), &result, sizeof result)) {
    return failed(fmt::format("memory of process {} cannot be read", state.pid));
  }
  if (const Result<void> rested = state.rest(); !rested) return rested.error();
  return result;
}

Result<uint64_t> SafePoint::place(const void* bytes, size_t count) {
  State& state = *state_;
  const uint64_t at = (state.placed + 15) & ~uint64_t{15};
  if (count > DetourPlan::kDataBytes || at + count > DetourPlan::kDataBytes) {
    return failed("too much was put into the target at once");
  }
  const uint64_t address = state.plan.data() + at;
  if (!write_memory(state.pid, address, bytes, count)) {
    return failed(fmt::format("memory of process {} cannot be written", state.pid));
  }
  state.placed = at + count;
  return address;
}

Result<uint64_t> SafePoint::keep(const void* bytes, size_t count) {
  State& state = *state_;
  if (!state.thread->stopped()) return state.lost({.kind = Kind::gone});
  Result<uint64_t> address = state.system_call(
      SYS_mmap, {0, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, ~0ULL, 0});
  if (!address.ok()) return address.error();
  if (const Result<void> rested = state.rest(); !rested) return rested.error();
  if (!write_memory(state.pid, address.value(), bytes, count)) {
    return failed(fmt::format("memory of process {} cannot be written", state.pid));
  }
  return address;
}

Result<uint64_t> SafePoint::unkeep(uint64_t address, size_t count) {
  if (!state_->thread->stopped()) return state_->lost({.kind = Kind::gone});
  Result<uint64_t> done = state_->system_call(SYS_munmap, {address, count});
  if (const Result<void> rested = state_->rest(); !rested) return rested.error();
  return done;
}

Result<std::string> SafePoint::read(uint64_t address, size_t count) {
  std::string bytes(count, '\0');
  if (!read_memory(state_->pid, address, bytes.data(), count)) {
    return failed(fmt::format("memory of process {} cannot be read", state_->pid));
  }
  return bytes;
}

pid_t SafePoint::thread() const {
  return state_->thread->tid();
}

const std::string& SafePoint::how() const {
  return state_->how;
}

double SafePoint::stopped_s() const {
  return std::chrono::duration<double>(TraceClock::now() - state_->stopped_at).count();
}

}  // namespace plateau
