// SPDX-License-Identifier: Apache-2.0
#include "inject/python_line.h"

#include <fmt/format.h>

#include <cstring>
#include <thread>

#include "inject/safe_point.h"
#include "ptrace/memory.h"

namespace plateau {
namespace {

constexpr size_t kSemaphoreAt = 0;
constexpr size_t kLineAt = 64;

}  // namespace

Result<PythonDesk> find_python(pid_t pid) {
  const RemoteNames names(pid);
  PythonDesk desk;
  for (const MappedObject& object : names.objects()) {
    const auto add = names.in(object, "Py_AddPendingCall");
    const auto run = names.in(object, "PyRun_SimpleString");
    // An extension module only refers to them.
    if (!add || !run || *add == object.bias || *run == object.bias) continue;
    desk.add_pending = *add;
    desk.run_string = *run;
    desk.object = object.path;
    break;
  }
  if (desk.add_pending == 0) {
    return Error{Error::Kind::not_found,
                 fmt::format("process {} holds no Python interpreter that can be found", pid)};
  }
  for (const char* library : {"libc.so", "libpthread"}) {
    if (const auto post = names.find(library, "sem_post")) desk.post = *post;
  }
  if (desk.post == 0) {
    return Error{Error::Kind::not_found, fmt::format("process {} has no sem_post", pid)};
  }
  return desk;
}

std::string quiet_python(const std::string& body) {
  return "exec('''\ntry:\n" + body + "except BaseException: pass\n''', {})\n";
}

Result<uint64_t> queue_python_line(SafePoint& point, const PythonDesk& desk,
                                   const std::string& line) {
  if (kLineAt + line.size() + 1 > kPythonPostBytes) {
    return Error{Error::Kind::bad_input, "the line of Python is too long to be put there"};
  }
  std::string post(kPythonPostBytes, '\0');
  std::memcpy(post.data() + kLineAt, line.c_str(), line.size() + 1);
  // A semaphore of zeros is one that counts nothing and is private to its process.
  Result<uint64_t> kept = point.keep(post.data(), post.size());
  if (!kept.ok()) return kept.error();
  const Result<uint64_t> first =
      point.call(desk.add_pending, {desk.run_string, kept.value() + kLineAt});
  if (!first.ok()) return first.error();
  if (static_cast<int>(first.value()) != 0) {
    (void)point.unkeep(kept.value(), kPythonPostBytes);
    return Error{Error::Kind::not_found,
                 "Python's list of pending calls in that process is full; try again"};
  }
  const Result<uint64_t> second =
      point.call(desk.add_pending, {desk.post, kept.value() + kSemaphoreAt});
  if (!second.ok()) return second.error();
  if (static_cast<int>(second.value()) != 0) {
    return Error{Error::Kind::not_found,
                 "a line was queued in that process, but its end cannot be seen: Python's list of "
                 "pending calls is full"};
  }
  return kept;
}

bool await_python_line(pid_t pid, uint64_t queued, double timeout_s) {
  const auto until = TraceClock::now() + std::chrono::duration<double>(timeout_s);
  while (TraceClock::now() < until) {
    uint32_t count = 0;
    if (!read_memory(pid, queued + kSemaphoreAt, &count, sizeof count)) return false;
    if (count != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

Result<Intrusion> run_python_line(pid_t pid, const std::string& line, double timeout_s,
                                  const InjectOptions& options) {
  const Result<PythonDesk> desk = find_python(pid);
  if (!desk.ok()) return desk.error();
  Intrusion cost;
  uint64_t queued = 0;
  {
    Result<SafePoint> point = SafePoint::reach(pid, options);
    if (!point.ok()) return point.error();
    const Result<uint64_t> kept = queue_python_line(point.value(), desk.value(), line);
    if (!kept.ok()) return kept.error();
    queued = kept.value();
    cost = {.stopped_s = point.value().stopped_s(), .how = point.value().how()};
  }
  if (!await_python_line(pid, queued, timeout_s)) {
    cost.left_behind =
        "Python's main thread has run no bytecode meanwhile; the line is queued and runs when it "
        "does, and a page of 4 KB stays mapped for it";
    return cost;
  }
  Result<SafePoint> point = SafePoint::reach(pid, options);
  if (point.ok()) (void)point.value().unkeep(queued, kPythonPostBytes);
  return cost;
}

}  // namespace plateau
