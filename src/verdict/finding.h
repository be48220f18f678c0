// SPDX-License-Identifier: Apache-2.0
// One thing that the verdict found out, as a kind and its numbers.
//
// This room makes no sentences. A finding says what was seen ("growth stopped with the first pass")
// and the figures behind it, each with a name and a unit; src/words turns it into English for the
// terminal, the page and Markdown, and `--json` carries it as it is. So a program never reads
// numbers back out of sentences, and a screen knows that two findings are the same one.
//
// Worked case: the production log of the manual gives {stopped_with_first_pass, epoch_steps = 83,
// source = "663 examples / 8 per step"}, which is told as "Growth stopped where the first pass over
// the data ended: 663 examples / 8 per step = step 83."
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plateau {

// How a number is to be read. MB is 1,000,000 bytes; clock values are those of Verdict::clock.
enum class Unit : uint8_t {
  mb,      // An amount of memory.
  change,  // An amount that was gained or lost: told with its sign.
  rate,    // MB per unit of the clock.
  moment,  // A place on the clock.
  length,  // A stretch of the clock.
  count,   // A whole number of things.
  share,   // 0 to 1.
  ratio,   // How many times as much.
};

struct Number {
  std::string_view name;  // Stable, as in JSON: "epoch_steps". Static storage.
  double value = 0;
  Unit unit = Unit::count;
};

// A name that belongs to a finding.
enum class NameKind : uint8_t {
  text,         // As logged: a gauge, a process, where a figure came from. Hostile until printed.
  explanation,  // Stable id of an explanation ("epoch-hinge"), told by its phrase.
  message,      // Stable id of what the job said ("gpu-memory"), told by what that means,
  remedy,       // or by what to try.
};
struct Name {
  std::string_view name;
  std::string text;
  NameKind kind = NameKind::text;
};

// What can be found. Each kind has one row in src/words/finding_table.cc with its stable id and its
// wording; docs/formats/answer.md lists them with their numbers.
enum class FindingKind : uint8_t {
  none,
  // Evidence for the word.
  grew_then_level,
  level_all_along,
  growth_left_below,
  slows_down,
  will_level_near,
  rises_still,
  bounded_ruled_out,
  bounded_hardly_fits,
  likeliest_shape,
  stopped_with_first_pass,
  kept_per_new_example,
  did_not_slow,
  first_pass_ends,
  outlasts_new_examples,
  outpaces_new_examples,
  follows_new_examples,
  objects_accumulate,
  objects_steady,
  file_pages_grew,
  creeps_on,
  series_odd,
  series_apart,
  ranks_all_leak,
  ranks_of_node_leak,
  rank_saves,
  node_fills_first,
  process_has_most,
  growth_is_spread,
  spikes_over_floor,
  // What the job said, or had done to it.
  last_words,
  killed_for_memory,
  said_and_went_on,
  // Why the evidence does not decide.
  nothing_measured,
  too_few_samples,
  two_camps_fit,
  nothing_fits,
  other_figure_leaks,
  // What would decide, and what to try.
  pass_end_would_name_cause,
  pass_length_missing,
  steps_missing,
  longer_run_missing,
  load_missing,
  samples_missing,
  memory_name_missing,
  try_evaluations_in_a_row,
  try_few_evaluations,
  try_saves_in_a_row,
  try_same_batches_over,
  try_same_batches_twice,
  try_less_load,
  try_same_requests_again,
  // About the data.
  machine_memory_only,
  processes_ended,
  survivors_judged,
  judged_until_ended,
  lives_repeat,
  one_life_judged,
  falls_like_restarts,
  one_series_judged,
  rank_set_apart,
  ranks_missing,
  rank_ended_early,
  ranks_restarted,
  samples_are_the_clock,
  steps_given_but_not_logged,
  batch_missing,
  last_samples_pending,
  // For and against an explanation.
  fits_to,
  fits_far_worse,
  fits_worse,
  needs_one_off_steps,
  growth_is_negative,
  expected_more_growth,
  rose_as_expected,
  still_rose,
  hardly_moved,
  // Evidence for a cause, where it is none of those above.
  steady_within_first_pass,
  cache_not_full,
  slowed_by,
  steps_come_rarer,
  arrived_at_start,
  one_step_up,
  first_events_only,
  rises_at_evaluations,
  rises_at_checkpoints,
  follows_epochs,
  follows_load,
  comes_in_waves,
  pages_copied,
  shared_memory_grew,
  processes_multiply,
  threads_multiply,
  grows_per_step,
  grows_beside_counts,
  holder_grew,
  graph_deepened,
  gpu_memory_grew,
  java_heap_grew,
  grows_within_the_heap,
  teeth_over_floor,
  // About an allocation site, or another series of live bytes.
  site_unmeasured,
  site_unbounded,
  site_filling,
  site_grown,
  site_jumped,
  site_churns,
  site_teeth,
  site_spiked,
  site_within_error,
  site_level,
  site_too_short,
  site_open,
  // About two runs that are compared.
  compared_over_seconds,
  compared_epochs_differ,
  compared_measures_taken_as_same,
  compared_by_growth_only,
  compared_on_common_measure,
  compared_process_counts_differ,
  compared_without_common_span,
  compared_starts_differ,
  compared_by_samples,
  compared_cadence_differs,
  compared_component_missing,
};
inline constexpr size_t kFindingKinds =
    static_cast<size_t>(FindingKind::compared_component_missing) + 1;

struct Finding {
  FindingKind kind = FindingKind::none;
  std::vector<Number> numbers;
  std::vector<Name> names;

  [[nodiscard]] explicit operator bool() const { return kind != FindingKind::none; }
  // The number of that name; nullptr if there is none.
  [[nodiscard]] const Number* number(std::string_view name) const;
  [[nodiscard]] const Name* named(std::string_view name) const;
};

bool operator==(const Number& a, const Number& b);
bool operator==(const Name& a, const Name& b);
bool operator==(const Finding& a, const Finding& b);

}  // namespace plateau
