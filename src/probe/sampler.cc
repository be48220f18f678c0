// SPDX-License-Identifier: Apache-2.0
// The tick: tree, figures, and what is due of walks, scans, cgroup and devices.
#include "probe/sampler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/files.h"
#include "probe/cgroup.h"
#include "probe/fd_scan.h"
#include "probe/gpus.h"
#include "probe/launch_identity.h"
#include "probe/roles.h"
#include "probe/root_choice.h"
#include "probe/tree.h"
#include "probe/walk_budget.h"

namespace plateau {
namespace {

// The machine's and the cgroup's figures cost as much as some processes'; more often is no use.
constexpr double kSurroundingsEverySeconds = 1;
// Status is read again after this long if statm has moved,
constexpr double kStatusEverySeconds = 1;
// and after this long even if it has not.
constexpr double kStatusAtLeastEverySeconds = 10;

// Anonymous memory is what is resident and not shared. False if that cannot be told from `statm`,
// because the shared pages, file and shmem, are others than at the last status.
bool take_statm(const Statm& statm, ProcessSample& figures) {
  static const int64_t page_kb = std::max(1L, sysconf(_SC_PAGESIZE) / 1024);
  if (statm.resident == kUnread || statm.shared == kUnread || figures.file_kb == kUnread) {
    return false;
  }
  if (statm.shared * page_kb != figures.file_kb + figures.shmem_kb) return false;
  figures.rss_kb = statm.resident * page_kb;
  figures.anon_kb = std::max<int64_t>(0, statm.resident - statm.shared) * page_kb;
  return true;
}

Tree::Options tree_options(const ProbeOptions& options) {
  return {options.proc, options.follow_orphans, options.exclude};
}

}  // namespace

struct Sampler::State {
  State(const ProbeOptions& probe_options, ProcessKey root, std::string reason)
      : options(probe_options),
        tree(tree_options(probe_options), root),
        root_reason(std::move(reason)),
        budget(probe_options.walk_share, probe_options.walk_cpu_share),
        fd_scan(probe_options.fd_scan_every_s, probe_options.walk_share,
                probe_options.walk_cpu_share),
        cgroup(probe_options.cgroup_root, tree.proc()),
        gpus(probe_options.gpus ? probe_options.nvml : std::string()),
        meminfo(openat(tree.proc(), "meminfo", O_RDONLY | O_CLOEXEC)),
        ticks_per_s(static_cast<double>(std::max(1L, sysconf(_SC_CLK_TCK)))) {}

  void take_in_changes(double now_s);
  void find_the_alone();
  void learn_launch(Member& member, const Member* forked_from);
  void read_all_figures(double now_s);
  void take_status(Member& member, const ProcStatus& status, double now_s);
  [[nodiscard]] ProcStatus status_of_another_thread(const Member& member);
  // 0, or the errno of what made it impossible.
  int read_figures(Member& member, double now_s);
  void walk_if_due(double now_s, Snapshot& snapshot);
  void look_into_heaps(double now_s);
  void look_around(double now_s);
  void complain(const Member& member, std::string_view file, int error, std::string_view effect);
  void fill(double now_s, Snapshot& snapshot);

  ProbeOptions options;
  Tree tree;
  std::string root_reason;
  WalkBudget budget;
  FdScan fd_scan;
  CgroupReader cgroup;
  Gpus gpus;
  Fd meminfo;
  double ticks_per_s;

  // Those who were forked from one image.
  struct Family {
    size_t size = 0;
    size_t walked = 0;       // Members that a walk has seen.
    bool has_owner = false;  // The one that forked the others is there.
  };
  uint64_t families = 0;                        // Given out so far.
  std::map<uint64_t, size_t> walked_of_family;  // As of the last sweep.
  Context launched;
  bool launch_news = false;  // Since the last snapshot.
  std::vector<ProcessKey> gone;
  std::vector<WalkBudget::Load> loads;
  Meminfo machine;
  CgroupSample group;
  double looked_around_s = -1e300;
  pid_t cgroup_of = 0;
  std::set<std::string, std::less<>> said;
  std::vector<std::string> complaints;
  ProbeCost cost;
};

void Sampler::State::take_in_changes(double now_s) {
  gone = tree.gone();
  if (!tree.changed()) return;
  std::vector<Member>& members = tree.members();
  assign_roles(members, tree.root());
  budget.set_changed();
  const double boot_s = clock_s(CLOCK_BOOTTIME);
  for (Member& member : members) {
    if (!member.reborn) continue;
    member.reborn = false;
    member.statm.clear();
    member.status_s = -1e300;
    // The parent's figures of the tick before may be from long before it forked: in a tenth of a
    // second a job loads its data and forks. Those of now are as large as they were then, or
    // larger.
    const auto parent =
        std::find_if(members.begin(), members.end(), [&member](const Member& other) {
          return member.forked && other.key.pid == member.parent && !other.found_orphaned;
        });
    if (parent != members.end()) read_figures(*parent, now_s);
    member.carry.begin(member.forked || member.found_orphaned,
                       parent == members.end() ? kUnread : parent->figures.anon_kb);
    member.family = member.found_orphaned ? 0 : ++families;
    member.figures.key = member.key;
    member.figures.parent = member.parent;
    member.figures.name = member.program.label;
    learn_launch(member, parent == members.end() ? nullptr : &*parent);
    if (member.walk.born_s == 0) {
      const double age_s = boot_s - static_cast<double>(member.key.start_ticks) / ticks_per_s;
      member.walk.born_s = now_s - std::max(age_s, 1e-3);
    }
  }
  find_the_alone();
}

// Once a program: launchers tell each process who it is before it starts. Who was forked has the
// environment of its parent.
void Sampler::State::learn_launch(Member& member, const Member* forked_from) {
  if (forked_from != nullptr) {
    member.figures.rank = forked_from->figures.rank;
    return;
  }
  int error = 0;
  const Context told = launch_identity_of(member.dir.read_all("environ", error));
  const bool is_root = member.key == tree.root();
  for (const FactKind& kind : kFacts) {
    // A tree may hold many ranks and attempts; which it is as a whole only the root can tell.
    const bool of_one = kind.field == &Context::rank || kind.field == &Context::attempt;
    if (!(told.*kind.field) || launched.*kind.field || (of_one && !is_root)) continue;
    launched.*kind.field = told.*kind.field;
    launch_news = true;
  }
  // What the root was told and the others have inherited is about the tree as a whole: a task of
  // Slurm, in which torchrun starts ranks of its own.
  const bool own = told.rank && !is_root && !(launched.rank && *launched.rank == *told.rank);
  member.figures.rank = own ? static_cast<int64_t>(told.rank->value) : -1;
}

// A family of one shares with nobody; of an orphan it is not known. Who was forked stays in the
// family when its parent is gone.
void Sampler::State::find_the_alone() {
  std::vector<Member>& members = tree.members();
  for (Member& member : members) {
    // Up to the first that was not forked, or whose parent is gone.
    const Member* from = &member;
    while (from->forked && from->parent_index < members.size()) from = &members[from->parent_index];
    if (from != &member) member.family = from->family;
  }
  std::map<uint64_t, Family> now;
  for (const Member& member : members) {
    if (member.leaving) continue;  // It has let go of its pages, and shares none.
    Family& family = now[member.family];
    ++family.size;
    family.walked += member.carry.has_walk() ? 1 : 0;
    family.has_owner |= !member.forked;
  }
  for (Member& member : members) {
    const Family& family = now[member.family];
    const bool known = member.family != 0;
    member.carry.set_alone(known && family.size == 1);
    if (known && family.has_owner && family.walked < walked_of_family[member.family]) {
      member.carry.sharer_ended();
    }
  }
}

int Sampler::State::read_figures(Member& member, double now_s) {
  ProcessSample& figures = member.figures;
  figures.threads = member.threads;
  figures.cpu_s = static_cast<double>(member.cpu_ticks) / ticks_per_s;
  // What is of interest in status moves with statm, at a sixth of the price: whoever maps, faults,
  // frees or swaps changes its size or its resident pages. As long as the shared pages are as many
  // as they were, statm tells all but swap, and status is read once a second. A process whose
  // status is due and that was restless before is not asked for statm.
  const double status_age_s = now_s - member.status_s;
  const bool status_due = status_age_s >= kStatusEverySeconds - 1e-6;
  if (!status_due || !member.restless) {
    const ProcRead statm = member.dir.read(PidDir::statm, tree.buffer());
    if (statm.error == ESRCH) return ESRCH;
    // What has no memory is a zombie, or a leader whose threads go on.
    const bool empty = statm.bytes.starts_with("0 ");
    if (empty && tree.ended(member)) return ESRCH;
    const bool same = statm.ok() && !empty && !member.statm.empty() &&
                      statm.bytes == member.statm && (!status_due || !member.by_statm) &&
                      status_age_s < kStatusAtLeastEverySeconds;
    member.statm.assign(statm.bytes);
    if (same || (!status_due && !empty && take_statm(parse_statm(statm.bytes), figures))) {
      member.by_statm |= !same;
      member.carry.tick(figures);
      return 0;
    }
  }
  const ProcRead text = member.dir.read(PidDir::status, tree.buffer());
  if (!text.ok()) return text.error;
  ProcStatus status = parse_status(text.bytes);
  if (status.rss_kb == kUnread) {
    if (tree.ended(member)) return ESRCH;
    status = status_of_another_thread(member);
  }
  // It has let go of its memory, which takes the kernel a second for each 10 GB or so, and is still
  // there. What was read before is no figure of now.
  member.leaving = status.rss_kb == kUnread;
  if (!member.leaving) take_status(member, status, now_s);
  return 0;
}

// A leader that has ended has no memory; its threads, if they go on, have.
ProcStatus Sampler::State::status_of_another_thread(const Member& member) {
  if (member.threads <= 1) return {};
  const std::string pid = std::to_string(member.key.pid);
  for (const pid_t thread : pids_in(options.proc + "/" + pid + "/task")) {
    if (thread == member.key.pid) continue;
    const std::string name = "task/" + std::to_string(thread) + "/status";
    const ProcStatus status = parse_status(member.dir.read_once(name.c_str(), tree.buffer()).bytes);
    if (status.rss_kb != kUnread) return status;
  }
  return {};
}

void Sampler::State::take_status(Member& member, const ProcStatus& status, double now_s) {
  ProcessSample& figures = member.figures;
  if (status.threads != kUnread) figures.threads = status.threads;
  member.status_s = now_s;
  member.by_statm = false;
  member.restless = status.rss_kb != figures.rss_kb || status.swap_kb != figures.swap_kb;
  // Statm as it was before is no witness for the status of now.
  if (member.restless) member.statm.clear();
  figures.rss_kb = status.rss_kb;
  figures.anon_kb = status.anon_kb;
  figures.file_kb = status.file_kb;
  figures.shmem_kb = status.shmem_kb;
  figures.swap_kb = status.swap_kb;
  member.carry.tick(figures);
}

void Sampler::State::read_all_figures(double now_s) {
  std::vector<Member>& members = tree.members();
  std::vector<ProcessKey> vanished;
  bool left = false;
  for (Member& member : members) {
    const bool was_leaving = member.leaving;
    const int error = read_figures(member, now_s);
    left |= member.leaving && !was_leaving;
    member.untold = error != 0;
    if (error == ESRCH || error == ENOENT) {
      vanished.push_back(member.key);
    } else if (error != 0) {
      complain(member, "status", error, "its memory is not known");
    }
  }
  for (const ProcessKey& key : vanished) {
    gone.push_back(key);
    tree.drop(key, now_s);
    budget.set_changed();
  }
  if (!vanished.empty() || note_growth(members)) assign_roles(members, tree.root());
  if (vanished.empty() && !left) return;
  find_the_alone();
  for (Member& member : members) member.carry.tick(member.figures);
}

void Sampler::State::walk_if_due(double now_s, Snapshot& snapshot) {
  std::vector<Member>& members = tree.members();
  loads.clear();
  for (const Member& member : members) loads.push_back({&member.walk, member.figures.rss_kb});
  if (members.empty() || !budget.due(now_s, loads)) return;
  // Who is on its way out still holds its share of what the others are asked for.
  if (std::ranges::any_of(members, &Member::leaving)) return;
  budget.begin_sweep();
  for (Member& member : members) {
    const double begin_s = monotonic_now_s();
    const ProcRead text = member.dir.read_once("smaps_rollup", tree.buffer());
    const double took_s = monotonic_now_s() - begin_s;
    if (text.forbidden()) {
      complain(member, "smaps_rollup", text.error, "its PSS is not known");
    }
    if (!text.ok() || text.bytes.empty()) continue;
    budget.book_walk(member.walk, member.figures.rss_kb, took_s);
    const SmapsRollup rollup = parse_smaps_rollup(text.bytes);
    // Of a process that has just let go of its memory there is a head without figures.
    if (rollup.pss_kb == kUnread || member.leaving) continue;
    member.carry.walked(rollup, member.figures);
    snapshot.walked = true;
  }
  walked_of_family.clear();
  for (const Member& member : members) {
    walked_of_family[member.family] += member.carry.has_walk() ? 1 : 0;
  }
  budget.end_sweep(now_s);
}

void Sampler::State::look_into_heaps(double now_s) {
  for (Member& member : tree.members()) {
    if (member.comm != "java" || member.leaving || !member.jvm.due(now_s)) continue;
    budget.book(member.walk, member.jvm.look(member.dir, now_s));
    if (member.jvm.floor().collections() == 0) continue;
    member.figures.java_heap_kb = member.jvm.floor().kept_kb();
    member.figures.java_collections = member.jvm.floor().collections();
    if (member.jvm.most_kb() > 0) member.figures.java_limit_kb = member.jvm.most_kb();
  }
}

void Sampler::State::look_around(double now_s) {
  std::vector<Member>& members = tree.members();
  if (members.empty()) return;
  if (fd_scan.due(now_s)) {
    fd_scan.run(now_s, members, budget, monotonic_now_s, [this](const Member& member, int error) {
      complain(member, "fd", error, "its open files are not known");
    });
  }
  const bool due = now_s - looked_around_s >= kSurroundingsEverySeconds - 1e-6;
  if (due) looked_around_s = now_s;
  const auto main = std::ranges::find(members, Role::main, &Member::role);
  const pid_t whose = main == members.end() ? members.front().key.pid : main->key.pid;
  const bool moved = whose != cgroup_of;
  if (moved) cgroup.follow(whose, tree.buffer());
  cgroup_of = whose;
  // Close to a limit every tick counts. A job is asked to save from three quarters of its limit on.
  const bool close = group.limit_kb != kUnread && group.usage_kb > group.limit_kb / 10 * 6;
  group = cgroup.read(due || moved || close, tree.buffer());
  if (!due) return;
  if (meminfo) machine = parse_meminfo(read_kept(meminfo.get(), tree.buffer()).bytes);
  if (!gpus.present()) return;
  gpus.read();
  for (Member& member : members) member.figures.gpu_kb = gpus.used_by_kb(member.key.pid);
}

void Sampler::State::complain(const Member& member, std::string_view file, int error,
                              std::string_view effect) {
  // The files of a process that is just ending belong to root, whoever ran it. It has no address
  // space any more, so statm is all zeros, before it is a zombie.
  if (error == EACCES || error == EPERM) {
    ProcBuffer buffer;
    const ProcRead statm = member.dir.read_once("statm", buffer);
    if (!statm.ok() || statm.bytes.starts_with("0 ")) return;
  }
  // Once per file and reason: twenty workers of another user are one complaint, not twenty.
  if (!said.insert(fmt::format("{} {}", file, error)).second) return;
  std::string reason = std::strerror(error);
  if (!reason.empty()) reason[0] = static_cast<char>(reason[0] | 0x20);
  complaints.push_back(fmt::format("pid {} ({}): {}: {}; {}", member.key.pid, member.program.label,
                                   file, reason, effect));
}

void Sampler::State::fill(double now_s, Snapshot& snapshot) {
  snapshot.time_s = now_s;
  snapshot.gone = std::move(gone);
  gone.clear();
  snapshot.cgroup = group;
  snapshot.system_available_kb = machine.available_kb;
  snapshot.system_total_kb = machine.total_kb;
  if (gpus.present()) snapshot.gpus = gpus.devices();
  if (launch_news) snapshot.launched = launched;
  launch_news = false;
  snapshot.complaints = std::move(complaints);
  complaints.clear();
  cost.walks_s = budget.total_s();
  cost.walks = budget.walks();
  cost.worst_share = tree.worst_ended_share();
  snapshot.processes.reserve(tree.members().size());
  for (Member& member : tree.members()) {
    cost.worst_share = std::max(cost.worst_share, member.walk.share(now_s));
    if (member.figures.role != member.role || member.figures.role_reason != member.role_reason) {
      member.figures.role = member.role;
      member.figures.role_reason = member.role_reason;
    }
    const bool matters = member.key == tree.root() || member.role == Role::main;
    if (member.untold || (member.leaving && matters)) snapshot.whole = false;
    if (!member.leaving) snapshot.processes.push_back(member.figures);
  }
}

Result<Sampler> Sampler::of_pid(pid_t pid, const ProbeOptions& options, bool exact_root) {
  const Fd proc(open(options.proc.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!proc) {
    return Error{Error::Kind::not_found,
                 fmt::format("{}: {}; processes cannot be watched without it", options.proc,
                             std::strerror(errno))};
  }
  auto choice = choose_root(proc.get(), pid, options.exclude, exact_root);
  if (!choice.ok()) return choice.error();
  return Sampler(make_hidden<State>(options, choice.value().root, choice.value().reason));
}

Snapshot Sampler::sample(double now_s) {
  const double begin_s = clock_s(CLOCK_THREAD_CPUTIME_ID);
  State& state = *state_;
  Snapshot snapshot;
  state.tree.refresh(now_s);
  state.take_in_changes(now_s);
  state.read_all_figures(now_s);
  state.walk_if_due(now_s, snapshot);
  state.look_into_heaps(now_s);
  state.look_around(now_s);
  ++state.cost.ticks;
  state.fill(now_s, snapshot);
  state.cost.cpu_s += clock_s(CLOCK_THREAD_CPUTIME_ID) - begin_s;
  snapshot.cost = state.cost;
  return snapshot;
}

void Sampler::exclude(pid_t pid) {
  state_->tree.exclude(pid);
}

void Sampler::want_walk() {
  state_->budget.want();
}

ProcessKey Sampler::root() const {
  return state_->tree.root();
}

const std::string& Sampler::root_reason() const {
  return state_->root_reason;
}

}  // namespace plateau
