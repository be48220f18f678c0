// SPDX-License-Identifier: Apache-2.0
// corpus_score: how often the verdict is right on recorded traces, beside the rules used today.
//
//   corpus_score DIR...                  one table per directory, then the traces by kind
//   corpus_score --stability DIR         does any verdict hang on a constant, or on one kind?
//   corpus_score --promises DIR          did "decides at step N" and the forecasts hold?
//   corpus_score --merging DIR           does a bounded recording of a trace get the same verdict?
//   corpus_score --calibration DIR...    is what it says with p per cent true in p per cent? All
//                                        directories together
//   corpus_score --frontier DIR          false alarms and recall by the probability asked for
//   corpus_score --looks DIR...          what it saw at every tenth, as JSON lines, for ceiling.py
//   corpus_score --check DIR             exit 1 unless the project's bar is met
//
// Output is Markdown; docs/accuracy.md holds the current one.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>

#include "calibration.h"
#include "causes_score.h"
#include "frontier.h"
#include "looks.h"
#include "merging.h"
#include "promises.h"
#include "rivals.h"
#include "score.h"
#include "stability.h"

namespace plateau::bench {
namespace {

Word plateau_word(const Run& run) {
  return judge(run).word;
}

void print_row(const std::string& name, const Score& score) {
  fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} | {} of {} | {} of {} | {} of {} | {:.1f} |\n", name,
             score.precision(), score.recall(), score.f1(), score.alarmed, score.plateaus,
             score.settled, score.plateaus, score.lost, score.leaks, score.median_detection);
}

void print_kinds(const std::vector<TraceScore>& scores) {
  fmt::print("\n| kind | truth | traces | at 30 %, 40 %, … 100 % |\n|---|---|---|---|\n");
  std::map<std::string, std::vector<const TraceScore*>> kinds;
  for (const TraceScore& score : scores) kinds[score.trace->kind].push_back(&score);
  for (const auto& [kind, members] : kinds) {
    std::string words;
    for (const TraceScore* member : members) {
      words += fmt::format("{}`{}`", words.empty() ? "" : " ", letters(*member));
    }
    fmt::print("| {} | {} | {} | {} |\n", kind, members.front()->trace->leak ? "leak" : "plateau",
               members.size(), words);
  }
}

void print_tables(const std::string& directory, const std::vector<Trace>& traces) {
  size_t leaks = 0;
  for (const Trace& trace : traces) leaks += trace.leak;
  fmt::print("### {}: {} plateau, {} leak traces\n\n", directory, traces.size() - leaks, leaks);
  fmt::print(
      "| rule | precision | recall | F1 | false alarm at some tenth | bounded called bounded "
      "| leak called fine at the end | median detection |\n|---|---|---|---|---|---|---|---|\n");
  for (const Rival& rival : rivals()) {
    const Judge rule = [&rival](const Run& run) {
      return rival.says_leak(tree_curve(run)) ? Word::leak : Word::plateau;
    };
    print_row(rival.name, add_up(judge_all(traces, rule)));
  }
  const std::vector<TraceScore> ours = judge_all(traces, plateau_word);
  print_row("**plateau judge**", add_up(ours));
  print_kinds(ours);
  fmt::print("\n");
}

// The bar that the project sets itself on the development traces.
int check(const std::vector<Trace>& traces) {
  const Score score = add_up(judge_all(traces, plateau_word));
  fmt::print(
      "precision {:.3f} (at least 0.99), recall {:.3f} (0.95), false alarms {} (at most 1), "
      "median detection {:.1f} (at most 0.6)\n",
      score.precision(), score.recall(), score.alarmed, score.median_detection);
  const bool met = score.precision() >= 0.99 && score.recall() >= 0.95 && score.alarmed <= 1 &&
                   score.median_detection <= 0.6;
  return met ? 0 : 1;
}

int run(const std::vector<std::string>& arguments) {
  std::string mode;
  int status = 0;
  std::vector<Trace> together;
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--")) {
      mode = argument;
      continue;
    }
    Result<std::vector<Trace>> traces = load_traces(argument);
    if (!traces) {
      fmt::print(stderr, "corpus_score: {}\n", traces.error().message);
      return 2;
    }
    if (mode == "--check") {
      status |= check(traces.value());
    } else if (mode == "--stability") {
      status |= print_stability(traces.value());
    } else if (mode == "--merging") {
      status |= report_merging(traces.value()) ? 0 : 1;
    } else if (mode == "--calibration") {
      std::move(traces.value().begin(), traces.value().end(), std::back_inserter(together));
    } else if (mode == "--looks") {
      print_looks(argument, traces.value());
    } else if (mode == "--frontier") {
      print_frontier(traces.value());
    } else if (mode == "--promises") {
      print_promises(traces.value());
      print_causes(traces.value());
    } else {
      print_tables(argument, traces.value());
    }
  }
  if (mode == "--calibration") print_calibration(together);
  return status;
}

}  // namespace
}  // namespace plateau::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(
        stderr,
        "usage: corpus_score "
        "[--stability|--promises|--merging|--calibration|--frontier|--looks|--check] DIR...\n");
    return 2;
  }
  return plateau::bench::run(std::vector<std::string>(argv + 1, argv + argc));
}
