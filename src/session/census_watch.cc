// SPDX-License-Identifier: Apache-2.0
#include "session/census_watch.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "session/census_process.h"

namespace plateau {
namespace {

constexpr int64_t kStepsBeforeWork = 3;
constexpr double kSecondsBeforeWork = 10;
constexpr double kLeastGrowthMb = 4;
constexpr double kLeastGrowthShare = 0.01;
// Twelve steps may be a blink: two seconds of them let a job of ten seconds be told.
constexpr double kLeastBetweenS = 5;
constexpr double kLeastBetweenStepsS = 2;
// What takes one item a step has to grow by ten to be named (census/find_holders.cc).
constexpr int64_t kLeastStepsBetween = 12;
constexpr int kMostFailures = 3;

// The process that does the work: the largest one in the role of it.
const ProcessSample* main_process(const Snapshot& snapshot) {
  const ProcessSample* found = nullptr;
  for (const ProcessSample& process : snapshot.processes) {
    if (process.role != Role::main && snapshot.processes.size() > 1) continue;
    if (found == nullptr || process.anon_kb > found->anon_kb) found = &process;
  }
  return found;
}

}  // namespace

CensusWatch::CensusWatch(CensusWatch&& other) noexcept
    : share_(other.share_),
      stage_(other.stage_),
      pid_(std::exchange(other.pid_, -1)),
      socket_(std::move(other.socket_)),
      cpu_s_(other.cpu_s_),
      target_(other.target_),
      owned_mb_(other.owned_mb_),
      base_mb_(other.base_mb_),
      work_began_s_(other.work_began_s_),
      next_try_s_(other.next_try_s_),
      next_step_(other.next_step_),
      anew_(other.anew_),
      moments_(std::move(other.moments_)),
      failures_(other.failures_),
      found_(std::move(other.found_)),
      cost_(std::move(other.cost_)) {}

CensusWatch::~CensusWatch() {
  finish();
}

double CensusWatch::cpu_s() const {
  clockid_t clock = {};
  timespec used = {};
  if (pid_ <= 0) return cpu_s_;
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &used) != 0) return cpu_s_;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

void CensusWatch::finish() {
  if (pid_ <= 0) return;
  cpu_s_ = cpu_s();
  socket_.reset();
  // If it has the job stopped, the kernel lets that go.
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
  stage_ = Stage::ended;
}

void CensusWatch::tick(const Snapshot& snapshot, double at_s, int64_t step,
                       RecordingWriter& recording) {
  if (share_ <= 0 || stage_ == Stage::ended) return;
  if (stage_ == Stage::looking) return hear(at_s, step, recording);
  const ProcessSample* main = snapshot.whole ? main_process(snapshot) : nullptr;
  if (main == nullptr || main->anon_kb == kUnread) return;
  // Another process does the work now: it is looked at from its start.
  if (main->key.pid != target_) {
    if (cost_.looks > 0) return finish();
    target_ = main->key.pid;
    stage_ = Stage::waits_for_work;
  }
  owned_mb_ = static_cast<double>(main->anon_kb) * 1024 / 1e6;
  if (stage_ == Stage::waits_for_work) return wait_for_work(at_s, step);
  wait_for_growth(at_s, step);
}

void CensusWatch::wait_for_work(double at_s, int64_t step) {
  if (step < kStepsBeforeWork && at_s < kSecondsBeforeWork) return;
  base_mb_ = owned_mb_;
  work_began_s_ = at_s;
  stage_ = Stage::waits_for_growth;
}

void CensusWatch::wait_for_growth(double at_s, int64_t step) {
  if (cost_.looks == 1 && step >= kStepsBeforeWork && found_.from_step < kStepsBeforeWork) {
    forget_look();
    base_mb_ = owned_mb_;
    work_began_s_ = next_try_s_ = at_s;
    anew_ = true;
  }
  if (at_s < next_try_s_ || (step >= 0 && step < next_step_)) return;
  if (owned_mb_ < base_mb_ + std::max(kLeastGrowthMb, kLeastGrowthShare * base_mb_)) return;
  // Something must be left of what the looks may cost in all.
  if (allowed_s(at_s) <= cost_.stopped_s) return;
  ask(at_s, step);
}

double CensusWatch::allowed_s(double at_s) const {
  return share_ * at_s + (failures_ > 0 || cost_.early > 0 ? kRetriesS : kOnceS);
}

bool CensusWatch::start() {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  socket_.reset(ends[0]);
  const Fd far_end(ends[1]);
  pid_ = fork();
  if (pid_ == 0) look_on_request(far_end.get());
  if (pid_ < 0) socket_.reset();
  return pid_ > 0;
}

void CensusWatch::ask(double at_s, int64_t step) {
  if (pid_ <= 0 && !start()) {
    stage_ = Stage::ended;
    return;
  }
  const double left_s = allowed_s(at_s) - cost_.stopped_s;
  const LookRequest request{.pid = target_,
                            .anew = anew_,
                            .failures = failures_,
                            .most_estimate_s = std::min(kMostEstimateS, left_s),
                            .left_s = left_s};
  if (send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    return finish();
  }
  moments_ = {{at_s, step}};
  stage_ = Stage::looking;
}

void CensusWatch::hear(double at_s, int64_t step, RecordingWriter& recording) {
  moments_.push_back({at_s, step});
  std::string bytes(kMostLookBytes, '\0');
  const ssize_t got = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (got <= 0) return finish();
  bytes.resize(static_cast<size_t>(got));
  LookReply reply = decode_reply(bytes);
  cost_.stopped_s += reply.stopped_s;
  stage_ = Stage::waits_for_growth;
  if (!reply.looked) {
    // A tenth later more may be allowed, or the collector is not at work.
    next_try_s_ = 1.1 * at_s;
    cost_.awaited_s = reply.too_costly ? reply.estimate_s : 0;
    if (reply.too_costly) return;
    cost_.trouble = std::move(reply.trouble);
    if (reply.refused || ++failures_ >= kMostFailures) finish();
    return;
  }
  // It takes its time to begin: the step is the one that ran when it looked.
  const double looked_s = at_s - (monotonic_now_s() - reply.at_s);
  Moment when{looked_s, moments_.front().step};
  for (const Moment& moment : moments_) {
    if (moment.at_s <= looked_s) when.step = moment.step;
  }
  looked(when, std::move(reply), recording);
}

void CensusWatch::forget_look() {
  --cost_.looks;
  ++cost_.early;
}

void CensusWatch::looked(const Moment& when, LookReply reply, RecordingWriter& recording) {
  if (reply.first && cost_.looks > 0) forget_look();
  anew_ = false;
  base_mb_ = owned_mb_;
  const bool knows_steps = when.step >= kStepsBeforeWork;
  // Without steps nobody knows when the work began.
  const double worked_s = when.at_s - (knows_steps ? work_began_s_ : 0);
  next_try_s_ = when.at_s + std::max(worked_s, knows_steps ? kLeastBetweenStepsS : kLeastBetweenS);
  next_step_ = knows_steps ? when.step + kLeastStepsBetween : -1;
  cost_.awaited_s = 0;
  if (cost_.looks > 0 && reply.growth.holders.empty()) {
    ++cost_.empty;
    return;
  }
  if (++cost_.looks < kLooks) {
    found_ = {.pid = target_, .from_s = when.at_s, .from_step = when.step};
    return;
  }
  found_.to_s = when.at_s;
  found_.to_step = when.step;
  found_.stopped_s = cost_.stopped_s;
  found_.holders = std::move(reply.growth.holders);
  recording.holders(found_);
  finish();
}

}  // namespace plateau
