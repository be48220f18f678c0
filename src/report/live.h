// SPDX-License-Identifier: Apache-2.0
// A running job as a screen, as lines for a pipe, and as JSON.
//
// LiveState is everything that is shown; whoever watches the job fills it anew for each tick.
// LiveControls is what the person at the keyboard chose; handle_key() turns keys into choices.
// render_live() makes a picture of both. All of it is pure: no clock, no terminal, no state.
//
// Texts may come from foreign processes and are made harmless here. Amounts are in MB
// (base/units.h). What is unknown is NaN (kMissing) or -1 and shown as "-".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/run.h"
#include "report/frame.h"
#include "report/text.h"
#include "verdict/verdict.h"

namespace plateau {

struct LiveProcess {
  int64_t pid = -1;
  int64_t parent = -1;  // -1: the root, or not known.
  size_t depth = 0;     // Below the root.
  std::string name;
  Role role = Role::unknown;
  std::string role_reason;
  bool alive = true;

  double owned_mb = kMissing;  // Anonymous pages, proportional, and swap: what is judged.
  double rss_mb = kMissing;
  double file_mb = kMissing;
  double shmem_mb = kMissing;
  double swap_mb = kMissing;
  double gpu_mb = kMissing;
  double uss_mb = kMissing;
  double pss_mb = kMissing;
  double growth_mb = kMissing;    // Of owned_mb, since the process was first seen.
  double cpu_percent = kMissing;  // Since the last tick; 100 is one core.
  int64_t threads = -1;
  int64_t fds = -1;
};

// The whole tree, page by page counted once where the kernel lets one.
struct LiveTotals {
  double owned_mb = kMissing;
  double shared_mb = kMissing;
  double file_mb = kMissing;
  double swap_mb = kMissing;
  double gpu_mb = kMissing;
};

struct LiveLimit {
  double mb = kMissing;                    // NaN: no limit is known.
  std::string source;                      // "cgroup", "--limit", "machine".
  double used_mb = kMissing;               // What counts against it now; NaN: the owned total.
  std::optional<double> seconds_to_limit;  // At the present rate; empty if it is not approached.
};

struct LiveCgroup {
  std::string path;
  double usage_mb = kMissing;
  double limit_mb = kMissing;
  int64_t oom_kills = -1;
};

struct LiveGpu {
  int index = 0;
  std::string name;
  double used_mb = kMissing;
  double total_mb = kMissing;
};

// What watching costs.
struct LiveCost {
  double watcher_cpu_percent = kMissing;  // Of one core, this program.
  double walk_percent = kMissing;         // Of the target's time under page-table walks, the worst.
  double interval_s = kMissing;           // Between samples.
};

struct LiveEvent {
  double time_s = kMissing;  // Since watching began.
  std::string text;          // "evaluation begins", "pid 4250 (data worker) ended"
};

struct LiveState {
  std::string title;  // The command line, or what else names the job.
  int64_t root_pid = -1;
  std::string clock_text;  // The time of day as the screen shows it: "14:03:22"; may be empty.
  double elapsed_s = kMissing;
  int64_t step = -1;
  int64_t total_steps = -1;
  double steps_per_s = kMissing;
  double epoch = kMissing;  // Fractional: 1.45.
  bool ended = false;       // The job is gone; the screen shows how it was left.

  std::vector<LiveProcess>
      processes;  // In tree order: a child right after its parent's earlier kin.
  LiveTotals totals;
  std::optional<Verdict> verdict;  // Empty until the first one is made.
  LiveLimit limit;
  double system_available_mb = kMissing;
  double system_total_mb = kMissing;
  LiveCgroup cgroup;
  std::vector<LiveGpu> gpus;
  LiveCost cost;

  std::vector<LiveEvent> events;        // The latest last.
  std::vector<std::string> complaints;  // What could not be read, the latest last.
  std::string recording_path;           // Empty: nothing is recorded.
  std::string status;                   // A passing message: "mark set at step 120"; may be empty.
};

enum class LiveSort : uint8_t { tree, owned, growth, cpu, pid };
std::string_view sort_name(LiveSort sort);

struct LiveControls {
  LiveSort sort = LiveSort::tree;
  int64_t selected_pid = -1;  // Follows its process through sorting; -1 or gone: the first row.
  bool detail = false;        // One process in full instead of plot and table.
  bool help = false;
  size_t scroll = 0;    // Lines hidden above, in the detail and help views.
  bool paused = false;  // The picture stands still; sampling goes on.
  bool quit = false;
  bool mark = false;  // A mark was asked for; who acts on it clears it.
};

// A key pressed, whatever bytes a terminal sends for it.
struct Key {
  enum class Kind : uint8_t {
    unknown,    // A sequence that means nothing here.
    character,  // `character` holds it.
    up,
    down,
    left,
    right,
    page_up,
    page_down,
    home,
    end,
    enter,
    escape,
    backspace,
    tab,
    interrupt,  // ^C
  };
  Kind kind = Kind::unknown;
  char32_t character = 0;

  bool operator==(const Key&) const = default;
};

// A full picture of exactly `columns` x `rows` cells; both may be anything, 0 included.
// `view.width` and `view.plot` play no part.
Frame render_live(const LiveState& state, const LiveControls& controls, size_t columns, size_t rows,
                  const View& view);

// The controls after a key: arrows, j, k, page keys move; s sorts; enter and d show one process;
// escape and backspace go back; ? helps; space pauses; m marks; q and ^C quit.
LiveControls handle_key(LiveControls controls, const Key& key, const LiveState& state);

// Indices into state.processes in the order in which a sort shows them. Ties keep tree order;
// unknown amounts come last.
std::vector<size_t> process_order(const LiveState& state, LiveSort sort);

// One line for a pipe, without a line end:
//   12 min  step 120/250  owned 8.20 GB  +168 MB/step  UNDECIDED 52 %  decides at step 90  limit
//   ...
std::string live_line(const LiveState& state, const View& view);

// One JSON object on one line, without a line end; the verdict is verdict_json() of report/json.h.
// Unknown figures are null, never left out.
std::string live_json(const LiveState& state);

}  // namespace plateau
