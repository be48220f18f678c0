// SPDX-License-Identifier: Apache-2.0
// What the growth of RSS between two moments was: the ledger's lines, as differences.
//
// Nothing is cut here, unlike in make_ledger(): an amount that was not resident at either moment
// cancels, and one that was touched in between shows in the rest, where it belongs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "ledger/allocator_view.h"

namespace plateau {
namespace {

const Series* series_of(const Run& run, int64_t pid, Metric metric) {
  for (const Series& series : run.series) {
    if (series.metric != metric || series.process >= run.processes.size()) continue;
    if (run.processes[series.process].id == pid) return &series;
  }
  return nullptr;
}

// Between the readings on both sides of the time; the nearest one at either end. NaN if there is
// no reading at all.
double value_at(const Run& run, const Series& series, double time_s) {
  double before_s = kMissing;
  double before_mb = kMissing;
  for (size_t i = 0; i < series.mb.size(); ++i) {
    const double at_s = run.instants[i].time_s;
    if (std::isnan(series.mb[i]) || std::isnan(at_s)) continue;
    if (at_s >= time_s) {
      if (std::isnan(before_s) || at_s == before_s) return series.mb[i];
      const double share = (time_s - before_s) / (at_s - before_s);
      return before_mb + share * (series.mb[i] - before_mb);
    }
    before_s = at_s;
    before_mb = series.mb[i];
  }
  return before_mb;
}

class GrowthMaker {
 public:
  GrowthMaker(const Run& run, const HeapTrack& track, const HeapRow& from, const HeapRow& to)
      : run_(run), track_(track), from_(from), to_(to) {}

  // NaN if the run does not have it.
  double change_of(Metric metric) const {
    const Series* series = series_of(run_, track_.pid, metric);
    if (series == nullptr) return kMissing;
    return value_at(run_, *series, to_.time_s + run_.heap_start_s) -
           value_at(run_, *series, from_.time_s + run_.heap_start_s);
  }

  void add(std::string_view name, double mb, const std::string& source) {
    if (std::isnan(mb)) return;
    change_.lines.push_back({std::string(name), mb, source});
    claimed_mb_ += mb;
  }

  void add_traced() {
    double variance = 0;
    for (const HeapCell& cell : to_.cells) {
      variance += sampling_variance(track_, track_.sites[cell.site], cell.live_bytes);
    }
    add("live-heap", change([this](const HeapRow& row) { return live_at(row); }),
        tracer_source(track_, std::sqrt(variance)));
    const double arenas = change([this](const HeapRow& row) { return arenas_at(row); });
    if (has(HeapKind::arena)) {
      add(track_.python_hooked ? "arenas-free" : "arenas", arenas,
          track_.python_hooked ? "tracer, arenas less the objects in them"
                               : "tracer, Python's arenas, in use and free");
    }
    if (has(HeapKind::stack)) {
      add("thread-stacks", change([this](const HeapRow& row) {
            return live_bytes_at(track_, row, HeapKind::stack);
          }),
          "tracer, touched by threads that it saw begin");
    }
    add_held();
  }

  Ledger finish(double rss_mb) {
    change_.rss_mb = rss_mb;
    change_.rest_mb = rss_mb - claimed_mb_;
    return std::move(change_);
  }

 private:
  // Both moments by the same measure, or the difference would be that of the measures.
  void add_held() {
    const LedgerAllocator before = allocator_in(track_, from_);
    const LedgerAllocator after = allocator_in(track_, to_);
    const TracedBlocks then = traced_blocks(track_, from_);
    const TracedBlocks now = traced_blocks(track_, to_);
    const bool by_free =
        (fit_together(before, then) && fit_together(after, now)) || !before.system || !after.system;
    const auto held_before = by_free ? free_in(before) : held_beside(before, then);
    const auto held_after = by_free ? free_in(after) : held_beside(after, now);
    if (!held_before || !held_after) {
      change_.notes.emplace_back("what the allocator holds free is not known and is in the rest");
      return;
    }
    add("allocator-held", (*held_after - *held_before) / kBytesPerMb,
        fmt::format("{}, {}", track_.allocator.empty() ? "the allocator" : track_.allocator,
                    by_free ? "free" : "from the kernel, less the tracer's blocks"));
  }
  [[nodiscard]] bool has(HeapKind kind) const {
    return std::ranges::find(track_.sites, kind, &HeapSite::kind) != track_.sites.end();
  }
  template <typename Figure>
  double change(Figure figure) const {
    return (figure(to_) - figure(from_)) / kBytesPerMb;
  }
  // Without arenas: they have a line of their own.
  [[nodiscard]] double live_at(const HeapRow& row) const {
    // Shared memory has a line from the recording, stacks one of their own.
    const double all = live_bytes_at(track_, row) - live_bytes_at(track_, row, HeapKind::shared) -
                       live_bytes_at(track_, row, HeapKind::stack);
    return track_.python_hooked ? all : all - live_bytes_at(track_, row, HeapKind::arena);
  }
  [[nodiscard]] double arenas_at(const HeapRow& row) const {
    const double arenas = live_bytes_at(track_, row, HeapKind::arena);
    return track_.python_hooked ? arenas - live_bytes_at(track_, row, HeapKind::python) : arenas;
  }

  const Run& run_;
  const HeapTrack& track_;
  const HeapRow& from_;
  const HeapRow& to_;
  Ledger change_;
  double claimed_mb_ = 0;
};

}  // namespace

Result<LedgerGrowth> ledger_growth(const Run& run, const HeapTrack& track, size_t from, size_t to) {
  if (from >= to || to >= track.rows.size()) {
    return Error{Error::Kind::usage,
                 fmt::format("there are no rows {} to {} among the {} of pid {}", from, to,
                             track.rows.size(), track.pid)};
  }
  GrowthMaker maker(run, track, track.rows[from], track.rows[to]);
  const double file = maker.change_of(Metric::file);
  const double shmem = maker.change_of(Metric::shmem);
  double rss = maker.change_of(Metric::rss);
  if (std::isnan(rss)) {
    const auto known = [](double mb) { return std::isnan(mb) ? 0 : mb; };
    rss = maker.change_of(Metric::anon) + known(file) + known(shmem);
  }
  if (std::isnan(rss)) {
    return Error{Error::Kind::no_samples,
                 fmt::format("the recording has no resident memory of pid {}", track.pid)};
  }
  maker.add_traced();
  maker.add("files", file, "RssFile");
  maker.add("shared", shmem, "RssShmem");

  return LedgerGrowth{.from_step = static_cast<double>(track.rows[from].step),
                      .to_step = static_cast<double>(track.rows[to].step),
                      .from_s = track.rows[from].time_s,
                      .to_s = track.rows[to].time_s,
                      .change = maker.finish(rss)};
}

}  // namespace plateau
