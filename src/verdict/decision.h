// SPDX-License-Identifier: Apache-2.0
// One series in, one word out: the sequential rule on top of the posterior.
//
// Every fit that carries weight says something about the future: it grows on at some rate, it is
// level, or it will rise by so much and stop. Adding the weights gives three probabilities:
//
//   leak     unbounded growth at a rate that matters
//   level    nothing left to come that matters
//   warming  bounded, with a rise still to come
//
// A rate matters if keeping it up for as long again as was observed would add 1 % of the level, but
// at least 2 MB and at most 10 MB and a thousandth of the level: below that lie allocator
// granularity and nobody's interest. What a bounded rise has left to come matters from 2 % of the
// level, 3 % of the range or 4 MB on: nobody would call less of a creep "still growing". Growth
// without end is tolerated in a plateau up to the same while it is no likelier than not, and ever
// less as it is likelier: at nine to one only up to 8 MB, half a per cent or what matters, so that
// a plateau is never said of a run that almost all of the weight sees growing. The word is then
//
//   leak       P(leak) >= 1 - false_leak with even camps, as far as it is believed (below), from
//              kEarliestLeak of the deadline on, at new highs, with at least kMinSamplesOfLeak
//              samples
//   plateau    P(level) >= 1 - false_plateau at the base rate
//   warming    P(leak) <= false_plateau at the base rate, but not level yet
//   undecided  otherwise, and always with fewer than six samples
//
// A model that fits says nothing of what it has not seen. The all-clear is therefore believed no
// further than kUnseen / samples short of certain: ten samples are the fewest that give one.
// Where the clock is time, half a minute is the least: start-up takes as long; and five minutes for
// `warming`, because growth that slows may be a job that is slowed. A snapshot of an
// allocator's history, which is a stretch of a run and often a few steps long, gives none.
//
// The accusation needs the same caution, and more of it: few samples leave few ways to be refuted,
// so a fit to them is the surer the less it has seen. How sure it is says nothing: of 1,225 looks
// at recorded runs (dev, own, lives, fit, calibrate; past kEarliestLeak, at new highs) that gave a
// leak 90 % and more, 75 % were at one below 30 samples, 77 % up to 60, 87 % up to 130, 94 %
// beyond; of those with 90 to 99 % 85 % were right, of those with more 75 %. The fit's word counts
// for
//
//     1 - kUnseenOfLeak / sqrt(samples)
//
// and even odds for the rest: growth without end that a fit is certain of is believed to 84 % with
// 30 samples, 89 % with 60, 94 % with 200. The word is chosen by what is believed, and
// what is shown is the same: confidence, weights of explanations, risk and forecasts agree.
// The all-clear errs a third as often, and is shown up to 1 - kUnseenOfFine / sqrt(samples), except
// as far as growth ended where the epoch did: that place was predicted, and of 145 such all-clears
// on recorded runs two were wrong.
//
// A close call, believed less than kSureAlone, has to be confirmed: at kLookBefore of the run a
// leak must have been likely too. The last bump of a cache looks like a leak once.
//
// Probabilities are meant: the likelihood behind them is tempered (posterior.h) until what is said
// with p per cent is true in p per cent of recorded runs. They are therefore smaller than a fit
// alone would have them, and so are the thresholds: 80 % for a leak, 93 % for the all-clear.
//
// Growth that comes in bursts says less in its pauses than the samples of a pause suggest, and what
// has just fallen is not level yet: bursts.h.
//
// By the clock on the wall, and with nothing that tells the load, growth without end is believed to
// kMostWhileLoad at most for half a day. Traffic rises in any shape: in a line, after a warm-up, or
// in the morning of a level night, and none of the shapes that end has the curve of the last two.
// Waves that have come back several times are the load, and what rises beneath them is not.
//
// The test is sequential: under its model a Bayes factor that has passed its threshold once has
// done so for good, as far as the false-alarm rate is concerned. So a leak that was established at
// two of 70, 80 and 90 % of the run holds while it is still four times likelier than not, instead
// of flickering with every pause; below that it is taken back.
//
// The accusation is a Bayes factor and takes no account of how common leaks are. The all-clear is a
// probability and has to: of the growing runs that people ask about, a third being leaks is a
// cautious guess (maintainers say most reports turn out to be something else).
//
// Worked case: the production log of the manual at step 70 of 83: a line and a cache that fills
// until step 83 fit alike and share the weight: undecided, as it must be. At step 240 the hinge at
// step 83 has nearly all of it and P(level) is 0.97: plateau.
//
// Blind spot: the two camps start even. Whoever knows that leaks are rare in their code may read
// `undecided` as `probably fine`, but the tool does not do it for them.
#pragma once

#include "verdict/posterior.h"
#include "verdict/verdict.h"

namespace plateau {

// Fewer samples than this decide nothing: any curve fits them.
inline constexpr size_t kMinSamples = 6;
inline constexpr double kMaterialShare = 0.01;
inline constexpr double kMaterialMb = 2.0;
inline constexpr double kSurelyMaterialMb = 10.0;
inline constexpr double kSurelyMaterialShare = 0.001;
inline constexpr double kToleratedShare = 0.02;
inline constexpr double kToleratedMb = 4.0;
inline constexpr double kToleratedOfRange = 0.03;
inline constexpr double kMostCreepMb = 8.0;
inline constexpr double kMostCreepShare = 0.005;
inline constexpr double kUnseen = 0.7;
inline constexpr size_t kMinSamplesOfAllClear = 10;  // kUnseen / Policy::false_plateau.
// Chosen on corpus/dev, own, lives, fit and calibrate, with Policy::false_leak: docs/accuracy.md
// has the frontier.
inline constexpr double kUnseenOfLeak = 1.7;
inline constexpr double kUnseenOfFine = 0.5;
// Fewer are never believed enough for a leak: (kUnseenOfLeak / (2 x Policy::false_leak))^2.
inline constexpr size_t kMinSamplesOfLeak = 19;
// A burst of growth (bursts.h) is a tenth of all there was, or what matters.
inline constexpr double kBurstOfRange = 0.1;
// No leak is called before this share of the deadline, however it grows.
inline constexpr double kEarliestLeak = 0.7;
inline constexpr double kShortestSeconds = 30;
// A job that gets less of a busy machine grows ever more slowly by the clock on the wall, whatever
// it keeps: minutes of that are no warm-up.
inline constexpr double kShortestWarmingSeconds = 300;
inline constexpr double kMostIfBrief = 0.9;  // Below what an all-clear takes.
// An established leak holds while growth without end has four fifths of the weight.
inline constexpr double kHoldsAt = 0.8;
// A close call is one that is believed less than kSureAlone. It is confirmed if, at this share of
// the run, a leak was believed so far.
inline constexpr double kSureAlone = 0.9;
inline constexpr double kLookBefore = 0.8;
inline constexpr double kLikelyBefore = 0.7;
// Below what a leak takes: one climb in five may be the load's.
inline constexpr double kMostWhileLoad = 0.8;
// Nine to one: a plateau that creeps is called that.
inline constexpr double kByFarLikelier = 0.9;
inline constexpr double kLeakBaseRate = 1.0 / 3;

struct Decision {
  Word word = Word::undecided;
  double confidence = 0;  // Probability of the word; for `undecided`, of the likelier camp, and 0
                          // with too few samples.
  double leak = 0;        // With even camps.
  double base_leak = 0;   // At the base rate, as are the next two.
  double level = 0;
  double warming = 0;
  double material_rate = 0;    // MB per step.
  double material_mb = 0;      // The same over the span observed.
  double creep_rate = 0;       // Growth without end that a plateau may hide, MB per step.
  double tolerated_rate = 0;   // What a plateau may still creep by, MB per step.
  double tolerated_mb = 0;     // The same over the span observed.
  bool enough = false;         // At least kMinSamples.
  bool short_of_leak = false;  // Would be a leak, but for kMinSamplesOfLeak.
  double leak_takes = 0;       // What a leak has to be believed at least.
  double endless = 0;          // Weight of growth without end, as the fits have it ...
  Verdict::LeakOdds odds;      // ... and what they say of a leak; both before kUnseenOfLeak.
  Floors floors;
  Posterior posterior;  // Empty if there are fewer than three floors.
};

// How many samples it was made of.
size_t samples_of(const Decision& decision);

// How far growth without end is believed: a fit's weight of it as far as so many samples are worth
// it, and even odds for the rest.
double believed_of(double weight, double samples);

// `reference_mb` is the level against which growth matters: that of the whole tree, so that a small
// component is not judged by its own small size.
Decision decide(const std::vector<TimedValue>& points, const Timeline& timeline,
                const Policy& policy, double reference_mb);

// A plateau that anyone sees climb: growth without end is by far likeliest, or likelier than not
// and the middle of each quarter of the floors lies above that of the one before. The word stays,
// because it is too little to matter; but "no leak" beside a chart that rises from end to end would
// not be believed.
bool creeps(const Decision& decision);

// The same where it came to more than the grain of what is measured: below kLeastToTell over the
// whole run the fits see growth, and a reader of the figures sees none.
inline constexpr double kLeastToTell = 0.5;
bool creeps_visibly(const Decision& decision);

// Rates of the posterior's unbounded fits, pooled: mean and 90 % interval, MB per step. The errors
// of the fits are widened by what is believed of them (kBelieved), and no rate keeps within this
// share of itself from one part of a run to the next.
inline constexpr double kUnsteady = 0.15;
struct PooledRate {
  double mean = 0;
  Interval range;
};
PooledRate pooled_rate(const Posterior& posterior, bool unbounded_only);

}  // namespace plateau
