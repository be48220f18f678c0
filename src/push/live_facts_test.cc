// SPDX-License-Identifier: Apache-2.0
#include "push/live_facts.h"

#include <gmock/gmock.h>

#include "serve/metrics.h"

namespace plateau::push {
namespace {

ProcessSample process(pid_t pid, Role role, int64_t anon_kb) {
  ProcessSample sample;
  sample.key = {pid, 1};
  sample.role = role;
  sample.anon_kb = anon_kb;
  return sample;
}

Verdict verdict() {
  Verdict verdict;
  verdict.word = Word::warming;
  verdict.samples = 10;
  verdict.components = {{.name = "owned", .last_mb = 1}, {.name = "odd", .last_mb = 5}};
  verdict.processes = {{.id = 11, .id_is_pid = true, .growth_mb = 3},
                       {.id = 12, .id_is_pid = true, .growth_mb = 4},
                       {.id = 99, .id_is_pid = true, .growth_mb = 100}};
  return verdict;
}

std::vector<std::string> told(const RunFacts& facts) {
  MetricsList list;
  tell_run(list, facts);
  std::vector<std::string> lines;
  for (const MetricSample& sample : list.samples) {
    std::string line = sample.name;
    for (const auto& [name, value] : sample.labels) line.append(" ").append(name + "=" + value);
    lines.push_back(line + " " + std::to_string(static_cast<int64_t>(sample.value)));
  }
  return lines;
}

TEST(LiveFacts, MemoryIsThatOfTheLastLookAndProcessesAreSummedByRole) {
  Snapshot snapshot;
  snapshot.processes = {process(10, Role::main, 1000), process(11, Role::data_worker, 2000),
                        process(12, Role::data_worker, 3000)};
  RunFacts facts = live_facts(verdict(), &snapshot, 1.7e9);
  facts.name = "a";
  facts.labels = {{"rank", "3"}};
  const std::vector<std::string> lines = told(facts);
  using testing::Contains;
  EXPECT_THAT(lines, Contains("plateau_owned_memory_bytes run=a rank=3 6144000"));
  EXPECT_THAT(lines, Contains("plateau_memory_bytes run=a rank=3 component=odd 5000000"));
  EXPECT_THAT(lines, Contains("plateau_process_memory_bytes run=a rank=3 role=main 1024000"));
  EXPECT_THAT(lines,
              Contains("plateau_process_memory_bytes run=a rank=3 role=data worker 5120000"));
  EXPECT_THAT(lines,
              Contains("plateau_process_growth_bytes run=a rank=3 role=data worker 7000000"));
  EXPECT_THAT(lines, Contains("plateau_run_live run=a rank=3 1"));
}

TEST(LiveFacts, AJobThatIsOverHasNoProcesses) {
  RunFacts facts = live_facts(verdict(), nullptr, 1.7e9);
  facts.name = "a";
  const std::vector<std::string> lines = told(facts);
  EXPECT_THAT(lines, testing::Contains("plateau_run_live run=a 0"));
  EXPECT_THAT(lines, testing::Contains("plateau_owned_memory_bytes run=a 1000000"));
  EXPECT_THAT(lines,
              testing::Not(testing::Contains(testing::HasSubstr("plateau_process_memory_bytes"))));
}

}  // namespace
}  // namespace plateau::push
