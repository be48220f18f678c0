// SPDX-License-Identifier: Apache-2.0
#include "push/live_facts.h"

#include <map>

#include "recording/pages.h"

namespace plateau::push {
namespace {

void take_memory(const Snapshot& snapshot, Verdict& verdict) {
  for (ComponentVerdict& component : verdict.components) {
    for (const PageKind& kind : kPageKinds) {
      if (component.name != kind.name) continue;
      double mb = kMissing;
      for (const ProcessSample& process : snapshot.processes) {
        add_known(mb, amount_mb(kind, process));
      }
      if (std::isfinite(mb)) component.last_mb = mb;
    }
  }
}

std::vector<ProcessGrowth> by_role(const Snapshot& snapshot, const Verdict& verdict) {
  std::map<Role, ProcessGrowth> roles;
  for (const ProcessSample& process : snapshot.processes) {
    const double mb = amount_mb(kOwnedPages, process);
    if (!std::isfinite(mb)) continue;
    ProcessGrowth& role = roles[process.role];
    role.id = kAllOfRole;
    role.role = process.role;
    role.last_mb += mb;
    for (const ProcessGrowth& grown : verdict.processes) {
      const bool same = grown.id_is_pid && grown.id == process.key.pid;
      if (same && std::isfinite(grown.growth_mb)) role.growth_mb += grown.growth_mb;
    }
  }
  std::vector<ProcessGrowth> rows;
  rows.reserve(roles.size());
  for (auto& [role, row] : roles) rows.push_back(std::move(row));
  return rows;
}

}  // namespace

RunFacts live_facts(const Verdict& verdict, const Snapshot* snapshot, double unix_s) {
  RunFacts facts;
  facts.version = 1;
  facts.live = snapshot != nullptr;
  facts.ended = snapshot == nullptr;
  facts.changed_unix_s = unix_s;
  facts.verdict = verdict;
  facts.verdict->processes.clear();
  if (snapshot != nullptr && snapshot->whole) {
    take_memory(*snapshot, *facts.verdict);
    facts.verdict->processes = by_role(*snapshot, verdict);
  }
  return facts;
}

}  // namespace plateau::push
