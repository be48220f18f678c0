// SPDX-License-Identifier: Apache-2.0
#include "inject/detour.h"

#include <sys/syscall.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace plateau {
namespace {

// The kernel's own numbers for calls that it wants made again; user space never sees them.
constexpr int64_t kRestartSys = 512;
constexpr int64_t kRestartNoIntr = 513;
constexpr int64_t kRestartNoHand = 514;
constexpr int64_t kRestartBlock = 516;

constexpr uint64_t kFrameAt = 64;         // Of the signal frame, after the result word.
constexpr uint64_t kExtendedAt = 4096;    // Of the XSAVE area; it needs alignment to 64.
constexpr uint32_t kFrameHasXsave = 7;    // UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS.
constexpr int kLeaveAltStack = 0x70;      // No valid value: the kernel keeps what it has.
constexpr size_t kXfeaturesAt = 464;      // In what ptrace gives: the features the kernel has on.
constexpr size_t kSoftwareBytesAt = 464;  // In a signal frame: the description of the area.

// struct rt_sigframe of the kernel without its last member.
struct KernelSignalFrame {
  uint64_t return_address;
  uint64_t flags;
  uint64_t link;
  uint64_t stack_pointer;
  int32_t stack_flags;
  int32_t padding;
  uint64_t stack_bytes;
  sigcontext context;
  uint64_t signal_mask;
};

void append(std::string& code, std::initializer_list<int> bytes) {
  for (const int byte : bytes) code.push_back(static_cast<char>(byte));
}

void append_word(std::string& code, uint64_t word) {
  code.append(reinterpret_cast<const char*>(&word), sizeof word);
}

void append_call(std::string& code, int number) {
  append(code, {0xb8, number & 0xff, number >> 8, 0, 0, 0x0f, 0x05});  // mov $n,%eax; syscall
}

std::string up_to_stop(const DetourPlan& plan) {
  std::string code;
  append(code, {0x48, 0xa3});  // movabs %rax, result
  append_word(code, plan.result());
  append_call(code, SYS_getpid);
  append(code, {0x89, 0xc7});  // mov %eax,%edi
  append_call(code, SYS_gettid);
  append(code, {0x89, 0xc6});             // mov %eax,%esi
  append(code, {0xba, SIGURG, 0, 0, 0});  // mov $SIGURG,%edx
  append_call(code, SYS_tgkill);
  return code;
}

// As the kernel would have left the thread had it delivered a signal with SA_RESTART.
user_regs_struct settled(user_regs_struct registers) {
  const auto result = static_cast<int64_t>(registers.rax);
  if (static_cast<int64_t>(registers.orig_rax) < 0) return registers;
  if (result == -kRestartSys || result == -kRestartNoIntr || result == -kRestartNoHand) {
    registers.rax = registers.orig_rax;
    registers.rip -= 2;
  } else if (result == -kRestartBlock) {
    registers.rax = static_cast<uint64_t>(-EINTR);
  }
  return registers;
}

}  // namespace

std::string detour_code(const DetourPlan& plan) {
  std::string code = up_to_stop(plan);
  // rt_sigreturn takes the frame from just below the stack pointer.
  append(code, {0x48, 0xbc});  // movabs $frame+8,%rsp
  append_word(code, plan.frame() + kFrameAt + 8);
  append_call(code, SYS_rt_sigreturn);
  append(code, {0x0f, 0x0b});  // ud2
  return code;
}

uint64_t detour_stop_offset() {
  return up_to_stop({}).size();
}

std::string detour_frame(const DetourPlan& plan, const ThreadState& state) {
  const user_regs_struct registers = settled(state.registers);
  KernelSignalFrame frame = {};
  frame.flags = kFrameHasXsave;
  frame.stack_flags = kLeaveAltStack;
  sigcontext& to = frame.context;
  to.r8 = registers.r8;
  to.r9 = registers.r9;
  to.r10 = registers.r10;
  to.r11 = registers.r11;
  to.r12 = registers.r12;
  to.r13 = registers.r13;
  to.r14 = registers.r14;
  to.r15 = registers.r15;
  to.rdi = registers.rdi;
  to.rsi = registers.rsi;
  to.rbp = registers.rbp;
  to.rbx = registers.rbx;
  to.rdx = registers.rdx;
  to.rax = registers.rax;
  to.rcx = registers.rcx;
  to.rsp = registers.rsp;
  to.rip = registers.rip;
  to.eflags = registers.eflags;
  to.cs = static_cast<uint16_t>(registers.cs);
  to.__pad0 = static_cast<uint16_t>(registers.ss);  // The kernel calls it ss.
  to.__fpstate_word = plan.frame() + kExtendedAt;
  frame.signal_mask = state.signal_mask;

  std::string bytes(kExtendedAt, '\0');
  std::memcpy(bytes.data() + kFrameAt, &frame, sizeof frame);
  std::string extended(state.extended.begin(), state.extended.end());
  if (extended.size() >= kSoftwareBytesAt + sizeof(_fpx_sw_bytes)) {
    uint64_t features = 0;
    std::memcpy(&features, extended.data() + kXfeaturesAt, sizeof features);
    const auto area = static_cast<uint32_t>(extended.size());
    _fpx_sw_bytes description = {};
    description.magic1 = FP_XSTATE_MAGIC1;
    description.extended_size = area + FP_XSTATE_MAGIC2_SIZE;
    description.xstate_bv = features;
    description.xstate_size = area;
    std::memcpy(extended.data() + kSoftwareBytesAt, &description, sizeof description);
    const uint32_t end = FP_XSTATE_MAGIC2;
    extended.append(reinterpret_cast<const char*>(&end), sizeof end);
  }
  bytes += extended;
  return bytes;
}

}  // namespace plateau
