// SPDX-License-Identifier: Apache-2.0
// A comparison for a reader: what became of the growth first, then the figures side by side.
//
//   BETTER    the fix removed the growth (+168 MB/step → 0); peak 17.7 → 6.10 GB
//
//     A  leak      99.9 %  1,200 steps    300 samples  before.log
//     B  plateau   99.2 %  1,200 steps    300 samples  after.log
//     ...
//
// Texts from the logs are made harmless here; callers pass them as they came.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "report/text.h"
#include "verdict/compare.h"

namespace plateau {

// The figures in the order in which every table shows them, with their titles.
struct FigureRow {
  FigureKind kind;
  std::string_view title;
};
inline constexpr std::array<FigureRow, kFigureCount> kFigureRows = {
    {{FigureKind::rate, "growth now"},
     {FigureKind::growth, "growth in all"},
     {FigureKind::floor, "floor"},
     {FigureKind::plateau, "plateau"},
     {FigureKind::peak, "peak"},
     {FigureKind::spike_count, "spikes"},
     {FigureKind::spike_height, "spike height"},
     {FigureKind::step_time, "time per step"}}};
// Of the plain number: "MB/step", "MB", "s"; "" for counts.
std::string figure_unit(FigureKind kind, Clock clock);

// How one figure of one side reads: "+168 MB/step", "level", "17.4 GB"; "-" where there is none.
std::string figure_phrase(FigureKind kind, Clock clock, const std::optional<Figure>& figure);
// "-250 kB/step  (-255 to -244)", "+2.1 %".
std::string difference_phrase(FigureKind kind, Clock clock, const Difference& difference);

// For a pull request, against its baseline: "memory per step +3.10 MB, plateau +240 MB, peak
// unchanged". What cannot be told apart from no difference is "unchanged"; a level more than a
// tenth away is told with "(perhaps by chance)". Empty where nothing could be compared.
std::string delta_sentence(const Change& change);

std::string_view outcome_name(Outcome outcome);  // "no_worse", "worse", "undecided"

// What is significant about one change, in one sentence without a full stop.
std::string change_sentence(const Comparison& comparison, const Change& change);

// The outcome in a word, "BETTER" or "NO WORSE" where nothing got worse; and all changes together
// in one line, as printable text.
std::string_view comparison_stamp(const Comparison& comparison);
std::string comparison_sentence(const Comparison& comparison);

// Both, as the terminal shows them: "BETTER    the fix removed the growth ...".
std::string render_comparison_line(const Comparison& comparison, const View& view);

// The whole report, several lines, each ended by a newline.
std::string render_comparison(const Comparison& comparison, const View& view);

// One JSON object without a line end. docs/report-fields.md explains each key.
std::string comparison_json(const Comparison& comparison);

// What has to be known about a comparison before its figures are believed, one sentence each.
std::vector<std::string> warnings_of(const Change& change);

}  // namespace plateau
