// SPDX-License-Identifier: Apache-2.0
#include "probe/launch_identity.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "base/printable.h"
#include "base/text.h"

namespace plateau {
namespace {

// Who says which rank of how many it is. `needs` is there where a name alone could be anybody's.
struct RankRow {
  const char* launcher;
  const char* rank;
  const char* world;  // "": not told.
  const char* needs;  // "": nothing.
};
constexpr std::array<RankRow, 8> kRanks = {{
    {"PLATEAU_RANK", "PLATEAU_RANK", "PLATEAU_WORLD", ""},
    {"torchrun", "RANK", "WORLD_SIZE", "WORLD_SIZE"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", ""},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", ""},
    {"MPI", "PMI_RANK", "PMI_SIZE", ""},
    // A batch script has a SLURM_PROCID too, and is no rank; only srun numbers its steps.
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"},
    {"PMIx", "PMIX_RANK", "", ""},
    {"Kubernetes", "JOB_COMPLETION_INDEX", "", ""},
}};

// One variable that tells a fact.
struct Row {
  FactField fact;
  const char* launcher;
  const char* variable;
  const char* needs;
};
// Of each fact the first that is told counts. The scheduler's id of a job comes before that of the
// launcher inside it: it is the one that people know, and that all processes see.
constexpr std::array<Row, 17> kRows = {{
    {&Context::attempt, "PLATEAU_ATTEMPT", "PLATEAU_ATTEMPT", ""},
    {&Context::attempt, "torchrun", "TORCHELASTIC_RESTART_COUNT", ""},
    {&Context::attempt, "Slurm", "SLURM_RESTART_COUNT", ""},
    {&Context::attempt, "JobSet", "JOBSET_RESTART_ATTEMPT", ""},
    {&Context::job, "PLATEAU_JOB", "PLATEAU_JOB", ""},
    {&Context::job, "Slurm", "SLURM_JOB_ID", ""},
    {&Context::job, "JobSet", "JOBSET_NAME", "KUBERNETES_SERVICE_HOST"},
    // Jenkins has a JOB_NAME as well.
    {&Context::job, "Kubernetes", "JOB_NAME", "JOB_COMPLETION_INDEX"},
    {&Context::job, "torchrun", "TORCHELASTIC_RUN_ID", ""},
    {&Context::job, "Ray", "RAY_JOB_ID", ""},
    {&Context::job, "PMIx", "PMIX_NAMESPACE", ""},
    {&Context::job, "Open MPI", "OMPI_MCA_ess_base_jobid", ""},
    {&Context::node, "PLATEAU_NODE", "PLATEAU_NODE", ""},
    {&Context::node, "Slurm", "SLURMD_NODENAME", ""},
    {&Context::node, "Kubernetes", "NODE_NAME", "KUBERNETES_SERVICE_HOST"},
    {&Context::node, "Kubernetes", "K8S_NODE_NAME", "KUBERNETES_SERVICE_HOST"},
    {&Context::node, "Kubernetes", "KUBE_NODE_NAME", "KUBERNETES_SERVICE_HOST"},
}};

std::string source_of(std::string_view launcher, std::string_view variable) {
  if (launcher == variable) return std::string(variable);
  return fmt::format("{} ({})", variable, launcher);
}

std::optional<double> number_of(const std::string& text) {
  const std::optional<int64_t> number = parse_int(text);
  if (!number || *number < 0 || *number > kMaxRank) return std::nullopt;
  return static_cast<double>(*number);
}

std::optional<Fact> name_of(std::string_view text, std::string source) {
  const std::string clean(trim(printable(text.substr(0, 4 * kMaxFactText))));
  std::string kept = clean.substr(0, kMaxFactText);
  // A cut through a character of several bytes leaves no half of it.
  if (kept.size() < clean.size()) kept = trim(printable(kept));
  // What torchrun calls every job with a static rendezvous is no name, nor is what Ray tells a
  // worker that it starts before it has a job for it.
  if (kept.empty() || kept == "none" || kept == "None" || kept == "ffffffff") return std::nullopt;
  return Fact{0, std::move(source), std::move(kept)};
}

void take_rank(const EnvironmentLookup& variable, Context& facts) {
  for (const RankRow& row : kRanks) {
    if (*row.needs != '\0' && variable(row.needs).empty()) continue;
    const std::optional<double> rank = number_of(variable(row.rank));
    if (!rank) continue;
    const std::optional<double> world =
        *row.world == '\0' ? std::nullopt : number_of(variable(row.world));
    if (world && *world <= *rank) continue;
    facts.rank = Fact{*rank, source_of(row.launcher, row.rank)};
    if (world) facts.world = Fact{*world, source_of(row.launcher, row.world)};
    return;
  }
}

// A pod of an indexed Job is called after the Job and its index: "train-3".
std::optional<Fact> job_of_pod(const EnvironmentLookup& variable) {
  const std::string index = variable("JOB_COMPLETION_INDEX");
  const std::string host = variable("HOSTNAME");
  const std::string suffix = "-" + index;
  if (index.empty() || !host.ends_with(suffix)) return std::nullopt;
  return name_of(host.substr(0, host.size() - suffix.size()), "HOSTNAME (Kubernetes)");
}

// Where all ranks of a torch job meet, if nothing else names it.
std::optional<Fact> meeting_place(const EnvironmentLookup& variable) {
  const std::string address = variable("MASTER_ADDR");
  const std::string port = variable("MASTER_PORT");
  if (address.empty() || port.empty() || variable("WORLD_SIZE").empty()) return std::nullopt;
  return name_of(address + ":" + port, "MASTER_ADDR and MASTER_PORT");
}

}  // namespace

Context launch_identity(const EnvironmentLookup& variable) {
  Context facts;
  take_rank(variable, facts);
  for (const Row& row : kRows) {
    if (facts.*row.fact || (*row.needs != '\0' && variable(row.needs).empty())) continue;
    const std::string said = variable(row.variable);
    const std::string source = source_of(row.launcher, row.variable);
    if (kFacts[fact_number(row.fact)].is_name()) {
      facts.*row.fact = name_of(said, source);
    } else if (const std::optional<double> number = number_of(said)) {
      facts.*row.fact = Fact{*number, source};
    }
  }
  if (!facts.job) facts.job = job_of_pod(variable);
  if (!facts.job) facts.job = meeting_place(variable);
  return facts;
}

Context launch_identity() {
  return launch_identity([](std::string_view name) {
    const char* value = std::getenv(std::string(name).c_str());
    return std::string(value == nullptr ? "" : value);
  });
}

Context launch_identity_of(std::string_view environment) {
  return launch_identity([environment](std::string_view name) {
    std::string_view rest = environment;
    while (!rest.empty()) {
      const std::string_view entry = take_part(rest, '\0');
      if (entry.size() <= name.size() || entry[name.size()] != '=') continue;
      if (entry.starts_with(name)) return std::string(entry.substr(name.size() + 1));
    }
    return std::string();
  });
}

}  // namespace plateau
