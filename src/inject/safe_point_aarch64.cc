// SPDX-License-Identifier: Apache-2.0
// On arm64 no safe point is ever reached: neither the detour through a called function nor the way
// back from it is written for that processor. Whoever asks is refused with what to do instead.
#include "inject/safe_point.h"

namespace plateau {
namespace {

// Of a SafePoint, which does not exist.
Error not_here() {
  return check_enterable(0, {}).error();
}

}  // namespace

struct SafePoint::State {
  std::string how;
};

SafePoint::SafePoint(std::unique_ptr<State> state) : state_(std::move(state)) {}
SafePoint::SafePoint(SafePoint&&) noexcept = default;
SafePoint::~SafePoint() = default;

Result<SafePoint> SafePoint::reach(pid_t pid, const InjectOptions& /*options*/) {
  return check_enterable(pid, look_at_target(pid)).error();
}

Result<uint64_t> SafePoint::call(uint64_t /*address*/, const std::vector<uint64_t>& /*arguments*/) {
  return not_here();
}
Result<uint64_t> SafePoint::place(const void* /*bytes*/, size_t /*count*/) {
  return not_here();
}
Result<uint64_t> SafePoint::keep(const void* /*bytes*/, size_t /*count*/) {
  return not_here();
}
Result<uint64_t> SafePoint::unkeep(uint64_t /*address*/, size_t /*count*/) {
  return not_here();
}
Result<std::string> SafePoint::read(uint64_t /*address*/, size_t /*count*/) {
  return not_here();
}
pid_t SafePoint::thread() const {
  return -1;
}
const std::string& SafePoint::how() const {
  return state_->how;
}
double SafePoint::stopped_s() const {
  return 0;
}

}  // namespace plateau
