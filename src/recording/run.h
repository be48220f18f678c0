// SPDX-License-Identifier: Apache-2.0
// What was measured of one run of a job: the type in which all rooms meet.
//
// A Run is a table. Its rows are instants (`instants`), in order; its columns are series, one per
// process and metric, each with one value per instant (NaN where nothing was read). Gauges are
// columns of other things than memory (tensor counts, threads). Events happen at an instant.
// Importers build Runs from foreign logs, the verdict reads them; neither knows the other.
//
// Plain data, value semantics, no invariants beyond check_shape() (checks_for_test.h). Not
// synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/heap_track.h"
#include "recording/holder.h"
#include "recording/outline.h"

namespace plateau {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// What a memory column counts. `memory` is for logs that do not say ("RAM: 5552 MB").
enum class Metric : uint8_t {
  memory,          // Unspecified; treated like RSS of one process.
  rss,             // Resident set, shared pages counted in full.
  pss,             // Proportional share: shared pages divided among their mappers.
  uss,             // Private pages only.
  anon,            // RssAnon: anonymous resident pages, shared-by-fork pages counted in full.
  pss_anon,        // Anonymous pages, proportional: what a tree owns.
  file,            // File-backed resident pages; the kernel can take them back.
  shmem,           // Shared memory, tmpfs, memfd.
  swap,            // Swapped out.
  system_used,     // Whole machine or container, used.
  gpu,             // Device memory in use (driver's figure).
  gpu_reserved,    // Held by the framework's caching allocator.
  pss_file,        // File-backed pages, proportional.
  pss_shmem,       // Shared memory, proportional: sums over a tree without counting twice.
  shmem_unmapped,  // Shared memory that only open descriptors keep: in nobody's RSS or PSS.
  java_heap,       // What collections leave in a JVM's old generation (probe/jvm_heap.h).
};
inline constexpr size_t kMetricCount = 16;

// "rss", "pss_anon", ... as used in tidy CSV (with suffix _mb) and in JSON.
std::string_view metric_name(Metric metric);
std::optional<Metric> metric_from_name(std::string_view name);

enum class Role : uint8_t { unknown, wrapper, main, data_worker, compile_worker, helper, orphan };
std::string_view role_name(Role role);

struct Process {
  int64_t id = 0;          // As the log names it (pid, or an index); unique within a Run.
  int64_t parent = -1;     // The id of its parent, -1 if unknown or root.
  bool id_is_pid = false;  // False for a mere index such as the corpus's `proc`.
  std::string name;        // Command or label; may be empty.
  Role role = Role::unknown;
  std::string role_reason;  // Why this role: "forked by pid 4242, same command line"; may be empty.
  int64_t rank = -1;        // Of a job of many ranks, which one it is part of; -1: not known.
  int64_t node = -1;        // Index into Run::nodes; -1: there are none. Not in files.

  bool operator==(const Process&) const = default;
};

// One row. A log may know the step, the time, or both; an absent one is -1 or NaN.
struct Instant {
  int64_t step = -1;
  double time_s = kMissing;  // Seconds; only differences mean anything unless `Run::epoch_time`.
  double epoch = kMissing;   // As logged, fractional: 0.12.
};

struct Series {
  size_t process = 0;  // Index into Run::processes.
  Metric metric = Metric::memory;
  std::string label;       // The column or key it came from, for messages: "rss_mb", "RAM".
  std::vector<double> mb;  // One per instant, in MB (see base/units.h); NaN = not read.
};

// What watching itself cost, as gauges of the root process: CPU seconds of the watcher and its
// helpers so far, and the largest share of one process's time under page-table walks. No verdict
// reads them.
inline constexpr std::string_view kCostCpu = "plateau.cpu_s";
inline constexpr std::string_view kCostWalks = "plateau.walk_share";

// What the job may take beside memory, as gauges of the root process in MB: /dev/shm with what of
// it is in use, by whomever, and the limit on address space. No verdict's word depends on them.
inline constexpr std::string_view kShmSize = "shm.size_mb";
inline constexpr std::string_view kShmUsed = "shm.used_mb";
inline constexpr std::string_view kAddressLimit = "limit.address_mb";

// What is known of a JVM's heap beside what is kept in it, as gauges of its process: how often it
// was seen to be collected, and what it may grow to, in MB.
inline constexpr std::string_view kJavaCollections = "java.collections";
inline constexpr std::string_view kJavaHeapLimit = "java.heap_limit_mb";

struct Gauge {
  std::string name;  // "tensors", "tensors.cpu", "threads"
  size_t process = 0;
  std::vector<double> value;  // One per instant; NaN = not read.
};

enum class EventKind : uint8_t { eval, checkpoint, epoch, restart, oom, mark };
std::string_view event_name(EventKind kind);
std::optional<EventKind> event_from_name(std::string_view name);

struct Event {
  size_t instant = 0;  // Index into Run::instants: the row at or right after which it happened.
  EventKind kind = EventKind::mark;
  std::string text;
};

// What is known about the job besides its memory (facts.h). `source` says from where, for the
// report.
struct Fact {
  double value = 0;
  std::string source;     // "log line 4", "--examples"
  std::string text = {};  // Instead of a value, of those that are names. Hostile until printed.

  bool operator==(const Fact&) const = default;
};
struct Context {
  // Compiled once, in run.cc: copies and moves of so many members are long.
  Context();
  Context(const Context& other);
  Context(Context&& other) noexcept;
  Context& operator=(const Context& other);
  Context& operator=(Context&& other) noexcept;
  ~Context();

  std::optional<Fact> examples;     // In the training set.
  std::optional<Fact> batch;        // Examples per optimizer step, over all devices.
  std::optional<Fact> epoch_steps;  // Optimizer steps in one pass over the data.
  std::optional<Fact> total_steps;  // Planned.
  std::optional<Fact> limit_mb;     // Memory limit.
  // Which part of which job it is (docs/ranks.md).
  std::optional<Fact> rank;     // From 0.
  std::optional<Fact> world;    // How many ranks there are.
  std::optional<Fact> attempt;  // How often it was started before: 0 for the first time.
  std::optional<Fact> job;      // What its launcher calls it; a name.
  std::optional<Fact> node;     // The machine, as the launcher calls it; a name.
};

// How the job ended, where that is known: Plateau's own recordings know, logs do not.
struct Ending {
  enum class Kind : uint8_t {
    unknown,     // The recording stops: the watcher was killed, or it is still being written.
    exited,      // With exit code `code`.
    signaled,    // By signal `code`.
    oom_killed,  // By the kernel for want of memory; `code` is the signal.
    left,        // The watcher stopped looking while the job went on.
    vanished,    // A watched process that is not our child is gone; its exit code is not known.
  };
  Kind kind = Kind::unknown;
  int code = 0;
  std::string text;  // For a reader: "stopped by --on-limit after 20 GB"; may be empty.
};

// One machine, or container, of a job that was put together from several recordings: what its ranks
// hold together counts against its limit.
struct Node {
  std::string name;
  double limit_mb = 0;       // 0: not known.
  std::string limit_source;  // "the limit of its cgroup"; may be empty.
};

struct Run {
  // Compiled once, in run.cc: copies and moves of so many members are long.
  Run();
  Run(const Run& other);
  Run(Run&& other) noexcept;
  Run& operator=(const Run& other);
  Run& operator=(Run&& other) noexcept;
  ~Run();

  std::string source;  // File name, or "stdin".
  std::string format;  // Importer's name: "text log", "csv", "mprof", ...
  std::string title;   // "run 2 of 2 (line 31)" when a file holds several; else empty.
  std::vector<LifeOutline> earlier;  // The runs before it in the same log.
  Context context;
  std::vector<Process> processes;
  std::vector<Instant> instants;
  std::vector<Series> series;
  std::vector<Gauge> gauges;
  std::vector<Event> events;
  std::vector<HeapTrack> heaps;  // By process (HeapTrack::pid), where its heap was traced.
  double heap_start_s = 0;       // HeapRow::time_s counts from here, on the clock of `instants`.
  std::optional<HolderGrowth> holders;  // Who holds what grew in a process, where it was looked at.
  std::string command;                  // The job's command line, if known.
  std::string host;                     // The machine it ran on, if known.
  std::vector<Node> nodes;              // Of a job of several recordings (answer/job_run.h).
  Ending ending;

  // Importer's account of what it could not use.
  size_t lines_read = 0;
  size_t instants_read = 0;              // Where they were too many to be kept; else 0.
  size_t lines_bad = 0;                  // Looked like data but could not be read.
  std::vector<std::string> bad_samples;  // The first few, "line 17: negative memory '-3 MB'".
  std::vector<std::string> notes;        // "values were summed over 4 GPUs", ...
  bool epoch_time = false;               // time_s counts from 1970.

  [[nodiscard]] bool has_steps() const;  // Every instant carries a step.
  [[nodiscard]] bool has_times() const;  // Every instant carries a time.
};

// The first `count` instants of `run`, with series, gauges, events and the rows of heaps cut to
// match. A process that only appears later stays listed; its columns are then all NaN. What is cut
// short has not ended. What a heap's sites ever allocated stays that of the whole run.
Run prefix_of(const Run& run, size_t count);

// The same in place, which costs nothing: to look at many prefixes, take the longest first.
void cut_to(Run& run, size_t count);

}  // namespace plateau
