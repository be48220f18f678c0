// SPDX-License-Identifier: Apache-2.0
// All parsers of what the kernel shows: no bytes crash one, and no figure is negative but kUnread.
#include "import_fuzz.h"
#include "probe/fd_scan.h"
#include "probe/jvm_heap.h"
#include "probe/launch_identity.h"
#include "probe/proc_files.h"
#include "probe/program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace plateau;  // NOLINT: a fuzz target is one function.
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto sound = [](int64_t figure) { require(figure >= kUnread, "a figure is not negative"); };
  if (const auto stat = parse_stat(bytes)) {
    sound(stat->threads);
    require(stat->comm.size() < size, "the name is part of the text");
  }
  const ProcStatus status = parse_status(bytes);
  for (const int64_t figure : {status.rss_kb, status.anon_kb, status.file_kb, status.shmem_kb,
                               status.swap_kb, status.threads, status.uid}) {
    sound(figure);
  }
  const SmapsRollup rollup = parse_smaps_rollup(bytes);
  for (const int64_t figure : {rollup.pss_kb, rollup.pss_anon_kb, rollup.uss_kb}) {
    sound(figure);
  }
  sound(parse_statm(bytes).shared);
  sound(parse_meminfo(bytes).available_kb);
  sound(parse_cgroup_amount_kb(bytes));
  sound(keyed_figure(bytes, "anon").value_or(0));
  parse_last_pid(bytes);
  parse_mapped_inodes(bytes);
  for (const CgroupLine& line : parse_cgroup(bytes)) {
    require(line.path.starts_with('/'), "a cgroup's path is absolute");
  }
  const Context launched = launch_identity_of(bytes);
  for (const FactKind& kind : kFacts) {
    const std::optional<Fact>& fact = launched.*kind.field;
    if (!fact) continue;
    require(fact->value >= 0 && fact->value <= static_cast<double>(kMaxRank), "ranks are sane");
    require(fact->text.size() <= kMaxFactText + 2, "names are short");
  }
  if (const auto jvm = parse_jvm_counters(bytes)) {
    for (const int64_t figure :
         {jvm->old_used_kb, jvm->old_most_kb, jvm->young_collections, jvm->old_collections}) {
      require(figure >= 0, "what a JVM counts is not negative");
    }
  }
  const std::string counters = jvm_counters_path(bytes);
  require(counters.empty() || counters.starts_with('/'), "the path of counters is absolute");
  const SeenProgram program = describe_program(bytes, "comm");
  require(program.label.size() <= 60, "labels are short");
  return 0;
}
