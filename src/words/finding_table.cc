// SPDX-License-Identifier: Apache-2.0
#include "words/finding_table.h"

#include <array>

namespace plateau {
namespace {

using Kind = FindingKind;

constexpr std::array kRows = std::to_array<FindingRow>({
    {Kind::none, "none", Block::why, ""},
    // Evidence for the word: full sentences.
    {Kind::grew_then_level, "grew-then-level", Block::course,
     "Grew {first_mb>settled_mb} between {first_step} and {settled_step} ({rate_mb_per_step}), "
     "level since: {low_mb-high_mb}."},
    {Kind::level_all_along, "level-all-along", Block::course,
     "Level throughout: {low_mb-high_mb} from {first_step} to {last_step}."},
    {Kind::growth_left_below, "growth-left-below", Block::why,
     "Any growth left is below {rate_mb_per_step}."},
    {Kind::slows_down, "slows-down", Block::why,
     "Growing by {rate_mb_per_step} now, and every likely explanation is bounded[: {bounded}]."},
    {Kind::will_level_near, "will-level-near", Block::next,
     "It should level off near {plateau_mb} ({low_mb-high_mb})."},
    {Kind::rises_still, "rises-still", Block::course,
     "The floor rises by {rate_mb_per_step} (90 %: {rate_low-rate_high}), {first_mb>last_mb}, and "
     "is still rising at {last_step}."},
    {Kind::bounded_ruled_out, "bounded-ruled-out", Block::why,
     "No bounded explanation keeps even 0.01 % of the weight."},
    {Kind::bounded_hardly_fits, "bounded-hardly-fits", Block::why,
     "The best bounded explanation, {bounded}, has {weight} of the weight."},
    {Kind::likeliest_shape, "likeliest-shape", Block::why, "What fits: {unbounded}."},
    {Kind::stopped_with_first_pass, "stopped-with-first-pass", Block::why,
     "Growth stopped where the first pass over the data ended: {source} = {epoch_steps}."},
    {Kind::kept_per_new_example, "kept-per-new-example", Block::why,
     "{mb_per_example} stays in memory per newly seen example."},
    {Kind::did_not_slow, "did-not-slow", Block::why,
     "Not allocator warm-up: growth did not slow before it stopped ({first_half_mb} in its first "
     "half, {second_half_mb} in its second)."},
    {Kind::first_pass_ends, "first-pass-ends", Block::why,
     "The first pass over the data ends at {epoch_steps} ({source})."},
    {Kind::outlasts_new_examples, "outlasts-new-examples", Block::why,
     "Not kept per example: the last new one was loaded at {last_new_step}, and growth went on. "
     "The "
     "first pass over the data ended at {epoch_steps} ({source})."},
    {Kind::outpaces_new_examples, "outpaces-new-examples", Block::why,
     "Not kept per example: new ones come at {pace} of the pace of the first pass, and growth does "
     "not slow with them. A pass over the data ends at {epoch_steps} ({source})."},
    {Kind::follows_new_examples, "follows-new-examples", Block::why,
     "Growth follows the examples that are new to the process that loads them: {seen}[ of "
     "{to_see}] so far[, {mb_per_example} each]. A pass over the data ends at {epoch_steps} "
     "({source})."},
    {Kind::objects_accumulate, "objects-accumulate", Block::why,
     "Objects accumulate: {counted} went from {first} to {last}."},
    {Kind::objects_steady, "objects-steady", Block::why, "Not objects: {counted} stays at {last}."},
    {Kind::file_pages_grew, "file-pages-grew", Block::why,
     "File-backed pages grew by {growth_mb} ({first_mb>last_mb}): the kernel takes them back when "
     "memory is short, so they are not a leak."},
    {Kind::creeps_on, "creeps-on", Block::why,
     "It may creep on by {rate_mb_per_step}: {again_mb} over as long again, too little to call it "
     "a "
     "leak."},
    {Kind::series_odd, "series-odd", Block::why,
     "{name} leaks, the other {level:is|# are} level: judged one by one"},
    {Kind::series_apart, "series-apart", Block::why,
     "Of {series} series judged one by one {leaks} {leaks:leaks|leak}, {level} {level:is|are} "
     "level and "
     "{open} {open:is|are} open"},
    {Kind::ranks_all_leak, "ranks-all-leak", Block::why,
     "All {ranks} ranks leak: the cause is in what every rank does, not in one rank's data"},
    {Kind::ranks_of_node_leak, "ranks-of-node-leak", Block::why,
     "All {ranks} ranks on {node} leak, the other {level:is|# are} level: judged one by one"},
    {Kind::rank_saves, "rank-saves", Block::why,
     "{name} grows at its checkpoints[, by {mb_per_save} each], and no other rank does: not "
     "counted as the job's leak"},
    {Kind::node_fills_first, "node-fills-first", Block::course,
     "{node}, with {ranks} {ranks:rank|ranks}, reaches its limit of {limit_mb} first[, at "
     "{at_step}]"},
    {Kind::process_has_most, "process-has-most", Block::who,
     "[{process}][Process {id}] has {share} of the growth: {first_mb>last_mb}."},
    {Kind::growth_is_spread, "growth-is-spread", Block::why,
     "The growth is spread over {processes} processes."},
    {Kind::spikes_over_floor, "spikes-over-floor", Block::peaks,
     "{spikes} spike{spikes:|s} of about {height_mb} over the floor[ at {events}][ every "
     "{period_steps}]; peak {max_mb}."},
    // What the job said, or had done to it.
    {Kind::last_words, "last-words", Block::end,
     "Its last words on memory, at {said_step}: “{quote}”. {message}[ It asked for {asked_mb}.]"
     "[ The GPU has {capacity_mb}[, {free_mb} of it free][, and {unused_mb} more reserved but "
     "unused].][ /dev/shm has {shm_size_mb}, {shm_used_mb} of it in use.][ The limit on address "
     "space is {address_limit_mb}.][ The job held {held_mb} then[, {peak_mb} at its highest][, of "
     "{allowed_mb}].] {remedy}"},
    {Kind::killed_for_memory, "killed-for-memory", Block::end,
     "{quote}, at {said_step}[, with {held_mb} in use[ of {allowed_mb}][ ({peak_mb} at its "
     "highest)]]. {remedy}"},
    {Kind::said_and_went_on, "said-and-went-on", Block::why,
     "It printed “{quote}” at {said_step} and went on: that did not end it."},
    // Why the evidence does not decide.
    {Kind::nothing_measured, "nothing-measured", Block::why,
     "the recording holds no memory figures"},
    {Kind::too_few_samples, "too-few-samples", Block::why,
     "{samples} sample{samples:|s}: too few for any curve; at least {needed} are needed"},
    {Kind::two_camps_fit, "two-camps-fit", Block::why,
     "{bounded}[ (would level off near {plateau_mb})] against {unbounded} ({rate_mb_per_step}[; "
     "reaches {limit_mb} at {limit_step}][; doubles to {doubled_mb} at {doubled_step}])"},
    {Kind::nothing_fits, "nothing-fits", Block::why, "no explanation fits well"},
    {Kind::other_figure_leaks, "other-figure-leaks", Block::why,
     "'{name}', in the same log, grows: by {rate_mb_per_step}, {first_mb>last_mb}[; "
     "'{judged}', which was taken for the memory, does not]"},
    // What would decide, and what to try.
    {Kind::pass_end_would_name_cause, "pass-end-would-name-cause", Block::next,
     "if one pass over the data ends near {settled_step}, this is a per-example cache; --examples "
     "and --batch would tell"},
    {Kind::pass_length_missing, "pass-length-missing", Block::next,
     "the length of the first pass over the data: give --examples and --batch, or --epoch-steps. "
     "If it ends after {last_step}, a cache that fills until then explains the growth"},
    {Kind::steps_missing, "steps-missing", Block::next,
     "steps: only times are known, and growth follows work. Print the step (\"step 120\"), or "
     "judge a log that has it"},
    {Kind::longer_run_missing, "longer-run-missing", Block::next,
     "a longer run: growth that goes on is called a leak at about {deadline}, or once it has "
     "added {beyond_mb}, more than a cache of such a program is likely to hold"},
    {Kind::load_missing, "load-missing", Block::next,
     "the load, which a single climb may follow: log requests or connections with the memory, or "
     "record CPU time with 'plateau watch PID'"},
    {Kind::samples_missing, "samples-missing", Block::next,
     "more samples: {samples} so far, and fewer than {needed} are never enough to call a leak"},
    {Kind::memory_name_missing, "memory-name-missing", Block::next,
     "which figure is the memory: --memory '{name}' judges that one, and `plateau convert "
     "--explain` shows them all"},
    {Kind::try_evaluations_in_a_row, "try-evaluations-in-a-row", Block::next,
     "run five evaluations in a row: five equal steps up prove it"},
    {Kind::try_few_evaluations, "try-few-evaluations", Block::next,
     "run three evaluations in a row: growth at each is a leak, growth at the first only is not"},
    {Kind::try_saves_in_a_row, "try-saves-in-a-row", Block::next,
     "save five checkpoints in a row: five equal steps up prove it"},
    {Kind::try_same_batches_over, "try-same-batches-over", Block::next,
     "run the same 20 batches over and over: a leak keeps growing, a bounded cache does not"},
    {Kind::try_same_batches_twice, "try-same-batches-twice", Block::next,
     "run the same 20 batches twice (in a PyTorch job `plateau prove` does it by itself): a "
     "per-example cache does not grow on the second pass, a leak does"},
    {Kind::try_less_load, "try-less-load", Block::next,
     "take the load away for a few minutes: what belongs to work in flight is given back or used "
     "again when it returns, what leaks stays and goes on growing"},
    {Kind::try_same_requests_again, "try-same-requests-again", Block::next,
     "send the same requests again and again: a cache holds them already, a leak grows with each"},
    // About the data.
    {Kind::machine_memory_only, "machine-memory-only", Block::why,
     "The log has only the memory of the whole machine, which includes other programs."},
    {Kind::processes_ended, "processes-ended", Block::why,
     "{processes} process{processes:|es} ended at {ended_step}[, the first at "
     "{first_ended_step},] holding {ended_mb}, which is counted as if it were still held."},
    {Kind::survivors_judged, "survivors-judged", Block::why,
     "{processes} process{processes:|es} ended at {ended_step}[, the first at "
     "{first_ended_step},] holding {ended_mb}; the processes that go on are judged."},
    {Kind::judged_until_ended, "judged-until-ended", Block::why,
     "{processes} process{processes:|es} ended at {ended_step}[, the first at "
     "{first_ended_step},] holding {ended_mb} and growing until then; what goes on is level. The "
     "time before they ended is judged."},
    {Kind::lives_repeat, "lives-repeat", Block::why,
     "In {alike} of {lives} lives memory climbed alike, by {rate}, to about {end_mb} at the end. "
     "Load does not start over with every restart, so it is not the load[; lack of memory ended "
     "{killed} of them, so it is not a cache that fits]."},
    {Kind::one_life_judged, "one-life-judged", Block::why,
     "The job was started {lives} times[; it grew in {grown} of its lives, by {growth_mb} in the "
     "median]. The life from {from_step} to {to_step} is judged."},
    {Kind::falls_like_restarts, "falls-like-restarts", Block::why,
     "Memory fell back to where the log begins {falls} times, as it does when a program restarts, "
     "and the log names no process. If it did restart, it grows by {rate} in each of its lives, "
     "and no life shows an end; log the process id with the memory."},
    {Kind::one_series_judged, "one-series-judged", Block::why,
     "{name} is judged alone: it leaks, which the sum over {series} series does not show."},
    {Kind::rank_set_apart, "rank-set-apart", Block::why,
     "The other ranks are judged without {name}, which grows at its checkpoints."},
    {Kind::ranks_missing, "ranks-missing", Block::why,
     "{missing} of {world} ranks {missing:is|are} not among what was recorded: {names}."},
    {Kind::rank_ended_early, "rank-ended-early", Block::why,
     "{name} ended at {step}, the others went on until {last}; its end does not count as released "
     "memory."},
    {Kind::ranks_restarted, "ranks-restarted", Block::why,
     "{ranks} {ranks:rank was|ranks were} restarted, up to {restarts} {restarts:time|times}; each "
     "life is judged by itself."},
    {Kind::samples_are_the_clock, "samples-are-the-clock", Block::why,
     "the log has neither steps nor times, so samples are counted"},
    {Kind::steps_given_but_not_logged, "steps-given-but-not-logged", Block::why,
     "the log has no steps, so --examples, --batch and --epoch-steps cannot be used"},
    {Kind::batch_missing, "batch-missing", Block::why,
     "the number of examples is known but not the batch size: give --batch"},
    {Kind::last_samples_pending, "last-samples-pending", Block::why,
     "the last {samples} sample{samples:|s} may be a spike or a step and {samples:is|are} not "
     "counted yet"},
    // For and against an explanation: fragments.
    {Kind::fits_to, "fits-to", Block::why, "fits the floors to ± {sigma_mb}"},
    {Kind::fits_far_worse, "fits-far-worse", Block::why,
     "fits the floors to ± {sigma_mb}: more than a million to one against the best"},
    {Kind::fits_worse, "fits-worse", Block::why,
     "fits the floors to ± {sigma_mb}: {odds} to 1 against the best"},
    {Kind::needs_one_off_steps, "needs-one-off-steps", Block::why,
     "needs {one_off_steps} one-off step{one_off_steps:|s}, the largest at {step}"},
    {Kind::growth_is_negative, "growth-is-negative", Block::why, "its growth comes out negative"},
    {Kind::expected_more_growth, "expected-more-growth", Block::why,
     "since {since_step} it predicts {expected_mb}, but the floor moved by {seen_mb}"},
    {Kind::rose_as_expected, "rose-as-expected", Block::why,
     "since {since_step} the floor rose by {seen_mb}, as it predicts"},
    {Kind::still_rose, "still-rose", Block::why,
     "since {since_step} the floor still rose by {seen_mb}"},
    {Kind::hardly_moved, "hardly-moved", Block::why,
     "since {since_step} the floor moved by only {seen_mb}"},
    // Evidence for a cause.
    {Kind::steady_within_first_pass, "steady-within-first-pass", Block::why,
     "growth is steady within the first pass over the data ({source} = {epoch_steps})[, "
     "{mb_per_example} per newly seen example]"},
    {Kind::cache_not_full, "cache-not-full", Block::why,
     "growth so far fits a cache that is not full yet"},
    {Kind::slowed_by, "slowed-by", Block::why,
     "growth slowed or stopped by {settled_step}[, away from the end of an epoch ({epoch_steps})]"},
    {Kind::steps_come_rarer, "steps-come-rarer", Block::why,
     "{growth_mb} gained in ever rarer steps, as the largest piece of work so far sets the "
     "size of the pools"},
    {Kind::arrived_at_start, "arrived-at-start", Block::why,
     "{growth_mb} arrived before {step} and nothing since"},
    {Kind::one_step_up, "one-step-up", Block::why, "one step up at {step}, level before and after"},
    {Kind::first_events_only, "first-events-only", Block::why,
     "the floor rose at the first evaluations or checkpoints and not at later ones"},
    {Kind::rises_at_evaluations, "rises-at-evaluations", Block::why,
     "the floor rises at each of {evaluations} evaluations and is level between them"},
    {Kind::rises_at_checkpoints, "rises-at-checkpoints", Block::why,
     "the floor rises at each of {checkpoints} checkpoints and is level between them"},
    {Kind::follows_epochs, "follows-epochs", Block::why,
     "memory follows the epochs, not the steps"},
    {Kind::follows_load, "follows-load", Block::why,
     "memory is up while there is more work, and down with it"},
    {Kind::comes_in_waves, "comes-in-waves", Block::why,
     "memory rises and falls in waves[ of {period_steps}], and the troughs do not rise"},
    {Kind::pages_copied, "pages-copied", Block::why,
     "summed RSS grew by only {rss_growth_mb}, PSS by {pss_growth_mb}: pages shared since the fork "
     "are being copied, not allocated"},
    {Kind::shared_memory_grew, "shared-memory-grew", Block::why,
     "shared memory grew by {growth_mb}"},
    {Kind::processes_multiply, "processes-multiply", Block::why,
     "processes went from {first} to {last}"},
    {Kind::threads_multiply, "threads-multiply", Block::why, "threads went from {first} to {last}"},
    {Kind::grows_per_step, "grows-per-step", Block::why,
     "steady growth; the log has no object counts, so it cannot show what holds the "
     "memory"},
    {Kind::grows_beside_counts, "grows-beside-counts", Block::why,
     "steady growth, with {counted} at {last}"},
    {Kind::holder_grew, "holder-grew", Block::why, "{holder} went from {first} to {last} items"},
    {Kind::graph_deepened, "graph-deepened", Block::why,
     "the graph behind {holder} went from {first} to {last} operations"},
    {Kind::gpu_memory_grew, "gpu-memory-grew", Block::why, "GPU memory grew by {growth_mb}"},
    {Kind::java_heap_grew, "java-heap-grew", Block::why,
     "what {collections} collections left in the Java heap grew by {growth_mb}"},
    {Kind::grows_within_the_heap, "grows-within-the-heap", Block::why,
     "The process itself stays near {owned_mb}: its heap was reserved before, so RSS does not show "
     "what is kept in it."},
    {Kind::teeth_over_floor, "teeth-over-floor", Block::peaks,
     "teeth of {height_mb} every {period_steps} or so"},
    // About an allocation site, or another series of live bytes.
    {Kind::site_unmeasured, "site-unmeasured", Block::why, "nothing was measured"},
    {Kind::site_unbounded, "site-unbounded", Block::why,
     "[{unbounded}: ]{growth_mb} from {first_step} to {last_step}, and no bounded explanation "
     "fits"},
    {Kind::site_filling, "site-filling", Block::why,
     "[{bounded}: ]{growth_mb} so far[, ends at about {end_step}][; the first pass over the data "
     "ends at {epoch_steps}: {mb_per_example} per example]"},
    {Kind::site_grown, "site-grown", Block::why,
     "{growth_mb} until {settled_step}, level since[; the first pass over the data ends at "
     "{epoch_steps}: {mb_per_example} per example]"},
    {Kind::site_jumped, "site-jumped", Block::why,
     "came in {jumps} jump{jumps:|s}: {jump_1_mb} at {jump_1_step}[, {jump_2_mb} at "
     "{jump_2_step}][, {jump_3_mb} at {jump_3_step}]; no growth since"},
    {Kind::site_churns, "site-churns", Block::why,
     "{allocated_mb} allocated and {freed_mb} freed again; {live_mb} alive at a time"},
    {Kind::site_teeth, "site-teeth", Block::why,
     "rises by {height_mb} and falls back about every {period_steps}; the floor does not move"},
    {Kind::site_spiked, "site-spiked", Block::why,
     "rose to {peak_mb} at {peak_step} and fell back; {live_mb} now"},
    {Kind::site_within_error, "site-within-error", Block::why,
     "{growth_mb} is within the sampling error (± {error_mb})"},
    {Kind::site_level, "site-level", Block::why, "{live_mb} alive, with no growth that matters"},
    {Kind::site_too_short, "site-too-short", Block::why,
     "{growth_mb} in {rows} row{rows:|s}: too few to judge"},
    {Kind::site_open, "site-open", Block::why,
     "{growth_mb} from {first_step} to {last_step}: {likelier}[, or {other}][; known from "
     "{decides_at_step}]"},
    // About two runs that are compared.
    {Kind::compared_over_seconds, "compared-over-seconds", Block::why,
     "not every log has steps: compared over seconds since the start."},
    {Kind::compared_epochs_differ, "compared-epochs-differ", Block::why,
     "an epoch is {before_steps} steps in {before} and {after_steps} in {after}: at the same step "
     "they have seen different shares of the data."},
    {Kind::compared_measures_taken_as_same, "compared-measures-taken-as-same", Block::why,
     "{before} logs {before_measure}, {after} logs {after_measure}: taken as the same."},
    {Kind::compared_by_growth_only, "compared-by-growth-only", Block::why,
     "{before} logs {before_measure}, {after} logs {after_measure}: levels are not compared, only "
     "growth."},
    {Kind::compared_on_common_measure, "compared-on-common-measure", Block::why,
     "{before} logs {before_measure}, {after} logs {after_measure}: compared on {common_measure}, "
     "which both have."},
    {Kind::compared_process_counts_differ, "compared-process-counts-differ", Block::why,
     "{before} logs {before_processes} process{before_processes:|es}, {after} logs "
     "{after_processes}: the sums may not hold the same processes."},
    {Kind::compared_without_common_span, "compared-without-common-span", Block::why,
     "the runs have no span in common: only their verdicts are compared."},
    {Kind::compared_starts_differ, "compared-starts-differ", Block::why,
     "the runs do not start at the same point: only one of them has the first {only_one}."},
    {Kind::compared_by_samples, "compared-by-samples", Block::why,
     "the logs share neither steps nor times: compared sample by sample, which is fair only if "
     "both were sampled alike."},
    {Kind::compared_cadence_differs, "compared-cadence-differs", Block::why,
     "{denser} has {ratio} times as many samples as {sparser} over the same span: it sees more of "
     "the spikes."},
    {Kind::compared_component_missing, "compared-component-missing", Block::why,
     "{side} does not log {component} memory: levels are not compared."},
});

constexpr bool every_kind_has_its_row() {
  if (kRows.size() != kFindingKinds) return false;
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<size_t>(kRows[i].kind) != i) return false;
  }
  return true;
}
static_assert(every_kind_has_its_row(), "one row per FindingKind, in its order");

}  // namespace

const FindingRow& row_of(FindingKind kind) {
  return kRows[static_cast<size_t>(kind)];
}

Sentence tell(const Finding& finding, const Telling& telling) {
  return fill(row_of(finding.kind).pattern, finding, telling);
}

Sentence tell_sentence(const Finding& finding, const Verdict& verdict) {
  return tell(finding, Telling{.clock = verdict.clock, .explanations = verdict.explanations});
}

std::string tell(const Finding& finding, const Verdict& verdict) {
  return plain(tell_sentence(finding, verdict));
}

}  // namespace plateau
