// SPDX-License-Identifier: Apache-2.0
// The contents page of the comparison: align -> measure -> differ -> what became of the growth.
#include "verdict/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "verdict/compare_align.h"
#include "verdict/compare_figures.h"
#include "verdict/decision.h"

namespace plateau {
namespace {

size_t index_of(FigureKind kind) {
  return static_cast<size_t>(kind);
}

// "A" to "Z", then "S27", "S28".
std::string side_name(size_t index) {
  constexpr size_t kLetters = 26;
  if (index < kLetters) return std::string(1, static_cast<char>('A' + index));
  return fmt::format("S{}", index + 1);
}

ComparedSide judge_side(const RunGroup& runs, std::string name, const Policy& policy) {
  ComparedSide side{.name = std::move(name), .verdicts = {}, .word = Word::plateau};
  bool undecided = false, warming = false;
  for (const Run& run : runs) {
    side.verdicts.push_back(judge(run, policy));
    const Word word = side.verdicts.back().word;
    side.leaks += word == Word::leak ? 1 : 0;
    undecided = undecided || word == Word::undecided;
    warming = warming || word == Word::warming;
  }
  if (warming) side.word = Word::warming;
  if (undecided) side.word = Word::undecided;
  if (side.leaks > 0) side.word = Word::leak;
  return side;
}

// The kind of page to compare: that of a leak, the baseline's first; else the baseline's own.
std::string component_to_compare(const ComparedSide& before, const ComparedSide& after) {
  for (const ComparedSide* side : {&before, &after}) {
    for (const Verdict& verdict : side->verdicts) {
      if (verdict.word == Word::leak) return verdict.component;
    }
  }
  return before.verdicts.front().component;
}

bool leaks_throughout(std::span<const MeasuredRun> runs) {
  return std::all_of(runs.begin(), runs.end(),
                     [](const MeasuredRun& run) { return run.verdict.word == Word::leak; });
}

// The first clock value at which the run is known to leak. Requires: it is, as a whole.
std::optional<double> leak_shows_at(const Run& run, const Policy& policy) {
  size_t unknown = 0;
  size_t known = run.instants.size();
  while (known - unknown > 1) {
    const size_t middle = unknown + (known - unknown) / 2;
    const bool leak = judge(prefix_of(run, middle), policy).word == Word::leak;
    (leak ? known : unknown) = middle;
  }
  const Verdict verdict = judge(prefix_of(run, known), policy);
  if (verdict.word != Word::leak) return std::nullopt;
  return verdict.last_step;
}

struct Sides {
  const ComparedSide& before;
  const ComparedSide& after;
  std::span<const MeasuredRun> before_runs;
  std::span<const MeasuredRun> after_runs;
};

// Two leaks: by their rates.
GrowthChange compare_leaks(const Change& change) {
  const std::optional<Difference>& rate = change.differences[index_of(FigureKind::rate)];
  if (!rate || !rate->significant) return GrowthChange::same_leak;
  return rate->difference < 0 ? GrowthChange::slower : GrowthChange::faster;
}

// Two bounded runs: by how much their floors rose.
GrowthChange compare_rises(const Sides& sides, const Change& change) {
  const std::optional<Difference>& rise = change.differences[index_of(FigureKind::growth)];
  if (!rise || !rise->significant) return GrowthChange::none;
  const double before = change.before[index_of(FigureKind::growth)]->value;
  const double after = change.after[index_of(FigureKind::growth)]->value;
  const auto level = [](const Figures& figures) {
    return figures[index_of(FigureKind::peak)]->value;
  };
  // One that fell further than the other did not grow less; it had more to give back.
  const bool before_grew = before > material_growth_mb(level(change.before));
  const bool after_grew = after > material_growth_mb(level(change.after));
  if (!before_grew && !after_grew) return GrowthChange::none;
  if (rise->difference > 0) return GrowthChange::increased;
  const bool level_now = sides.after.word == Word::plateau;
  return !after_grew && level_now ? GrowthChange::removed : GrowthChange::reduced;
}

GrowthChange change_of_growth(const Sides& sides, const Change& change) {
  const ComparedSide& before = sides.before;
  const ComparedSide& after = sides.after;
  const bool apart = !(change.to > change.from);
  if (apart || before.word == Word::undecided || after.word == Word::undecided) {
    return GrowthChange::undecided;
  }
  // A leak in a minority of a side's runs may be absent from the other's by luck.
  const bool rare =
      (before.leaks > 0 && after.leaks == 0 && 2 * before.leaks <= before.verdicts.size()) ||
      (after.leaks > 0 && before.leaks == 0 && 2 * after.leaks <= after.verdicts.size() &&
       after.verdicts.size() > 1);
  if (rare) return GrowthChange::undecided;
  if (before.word == Word::leak && after.word == Word::leak) return compare_leaks(change);
  if (before.word == Word::leak) {
    if (!leaks_throughout(sides.before_runs) && before.leaks == before.verdicts.size()) {
      return GrowthChange::too_short;
    }
    return after.word == Word::plateau ? GrowthChange::removed : GrowthChange::ends_now;
  }
  if (after.word == Word::leak) {
    const bool shows =
        std::any_of(sides.after_runs.begin(), sides.after_runs.end(),
                    [](const MeasuredRun& run) { return run.verdict.word == Word::leak; });
    return shows ? GrowthChange::appeared : GrowthChange::too_short;
  }
  return compare_rises(sides, change);
}

Outcome outcome_of(GrowthChange growth) {
  switch (growth) {
    case GrowthChange::faster:
    case GrowthChange::increased:
    case GrowthChange::appeared:
      return Outcome::worse;
    case GrowthChange::too_short:
    case GrowthChange::undecided:
      return Outcome::undecided;
    default:
      return Outcome::no_worse;
  }
}

std::vector<MeasuredRun> measure_all(std::span<const Run> runs, const Change& change,
                                     const Policy& policy) {
  std::vector<MeasuredRun> measured;
  for (const Run& run : runs) {
    measured.push_back(measure(run, change.component, change.from, policy));
  }
  return measured;
}

void note_components(const Sides& sides, Change& change) {
  const auto missing = [&change](std::span<const MeasuredRun> runs) {
    return std::any_of(runs.begin(), runs.end(), [&change](const MeasuredRun& run) {
      return run.verdict.component != change.component;
    });
  };
  for (const bool first : {true, false}) {
    if (!missing(first ? sides.before_runs : sides.after_runs)) continue;
    change.warnings.push_back({FindingKind::compared_component_missing,
                               {},
                               {{"side", first ? sides.before.name : sides.after.name},
                                {"component", change.component}}});
  }
}

Change compare_pair(const RunGroup& before, const RunGroup& after, Comparison& comparison,
                    size_t side, const Policy& policy) {
  const ComparedSide& before_side = comparison.sides.front();
  const ComparedSide& after_side = comparison.sides[side];
  const Alignment aligned = align(before, before_side.name, after, after_side.name);
  Change change{.side = side,
                .clock = aligned.clock,
                .component = component_to_compare(before_side, after_side),
                .from = aligned.from,
                .to = aligned.to};
  change.warnings = aligned.warnings;
  const std::vector<MeasuredRun> before_runs = measure_all(aligned.before, change, policy);
  const std::vector<MeasuredRun> after_runs = measure_all(aligned.after, change, policy);
  const Sides sides{before_side, after_side, before_runs, after_runs};
  const size_t noted = change.warnings.size();
  note_components(sides, change);
  const bool levels = aligned.levels_comparable && change.warnings.size() == noted;

  const Span span = divide_span(before_runs, after_runs, change.from, change.to);
  change.level_from = span.level_from;
  change.before = figures_of(before_runs, span);
  change.after = figures_of(after_runs, span);
  if (change.to > change.from) change.differences = differ(before_runs, after_runs, span, levels);
  change.growth = change_of_growth(sides, change);
  change.outcome = outcome_of(change.growth);
  if (change.growth == GrowthChange::too_short) {
    const bool first = before_side.word == Word::leak;
    change.shows_at = leak_shows_at(first ? before.front() : after.front(), policy);
  }
  change.replicated = before.size() > 1 || after.size() > 1;
  return change;
}

}  // namespace

std::string_view figure_name(FigureKind kind) {
  constexpr std::array<std::string_view, kFigureCount> kNames = {
      "rate_mb_per_step", "growth_mb", "floor_mb",        "peak_mb",
      "plateau_mb",       "spikes",    "spike_height_mb", "step_s"};
  return kNames[index_of(kind)];
}

std::string_view growth_change_name(GrowthChange change) {
  constexpr std::array<std::string_view, 11> kNames = {
      "none",   "removed",   "ends_now", "reduced",   "slower",   "same_leak",
      "faster", "increased", "appeared", "too_short", "undecided"};
  return kNames[static_cast<size_t>(change)];
}

Comparison compare(std::span<const RunGroup> sides, const Policy& policy) {
  Comparison comparison;
  for (size_t i = 0; i < sides.size(); ++i) {
    comparison.sides.push_back(judge_side(sides[i], side_name(i), policy));
  }
  bool worse = false, undecided = false;
  for (size_t i = 1; i < sides.size(); ++i) {
    comparison.changes.push_back(compare_pair(sides.front(), sides[i], comparison, i, policy));
    const Outcome outcome = comparison.changes.back().outcome;
    worse = worse || outcome == Outcome::worse;
    undecided = undecided || outcome == Outcome::undecided;
  }
  comparison.outcome = undecided ? Outcome::undecided : Outcome::no_worse;
  if (worse) comparison.outcome = Outcome::worse;
  return comparison;
}

Comparison compare(std::span<const Run> runs, const Policy& policy) {
  std::vector<RunGroup> sides;
  for (const Run& run : runs) sides.push_back({run});
  return compare(std::span<const RunGroup>(sides), policy);
}

}  // namespace plateau
