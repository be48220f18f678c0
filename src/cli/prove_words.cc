// SPDX-License-Identifier: Apache-2.0
#include "cli/prove_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/json_writer.h"
#include "base/printable.h"
#include "base/units.h"
#include "report/holder_json.h"
#include "words/holder_words.h"

namespace plateau {
namespace {

std::string odds_text(double odds) {
  return odds >= 9999 ? "more than 9999 to 1"
         : odds >= 10 ? fmt::format("{:.0f} to 1", odds)
                      : fmt::format("{:.1f} to 1", odds);
}

std::string kind_text(char kind, const ProveRequest& request) {
  const bool server = !request.repeat.empty();
  switch (kind) {
    case 'N':
      return server ? "new requests" : "new batches";
    case 'R':
      return server ? "the same request" : "the same again";
    case 'A':
      return request.contrast.arms.empty() ? "without" : request.contrast.arms[0].name;
    default:
      return request.contrast.arms.empty() ? "with" : request.contrast.arms[1].name;
  }
}

std::string rate(double mb) {
  return fmt::format("{:.2f} MB", mb);
}

double per_example(const ProveResult& result) {
  const double batch = result.design ? static_cast<double>(result.design->batch) : 1;
  return result.odds.new_mb / batch;
}

// ---- the plain experiment ----------------------------------------------------------------------

std::string headline(const ProveResult& result, const ProveRequest& request) {
  const bool server = !request.repeat.empty();
  const std::string_view step = server ? "request" : "step";
  switch (result.proved) {
    case Proved::per_step:
      if (result.odds.new_mb > 0) {
        return fmt::format("PER-{}: memory grows by {} at every {}, and by another {} per new {}.",
                           server ? "REQUEST" : "STEP", rate(result.odds.step_mb), step,
                           rate(per_example(result)), server ? "key" : "example");
      }
      return fmt::format("PER-{}: memory grows by {} at every {}, whether its {} new or not.",
                         server ? "REQUEST" : "STEP", rate(result.odds.step_mb), step,
                         server ? "content is" : "examples are");
    case Proved::per_example:
      return fmt::format(
          "PER-{}: memory grows by {} per new {}, and not at all on those seen before.",
          server ? "KEY" : "EXAMPLE", rate(per_example(result)), server ? "request" : "example");
    case Proved::level:
      return fmt::format("LEVEL: memory does not grow, neither on new {0} nor on repeated ones.",
                         server ? "requests" : "batches");
    case Proved::undecided:
      break;
  }
  return "UNDECIDED: the blocks do not tell the explanations apart.";
}

std::string ends_at(const ProveResult& result) {
  if (!result.design || result.design->examples <= 0) return "once every example has been seen";
  return fmt::format("once all {} examples have been seen, after about {} in all",
                     result.design->examples,
                     format_mb(per_example(result) * static_cast<double>(result.design->examples)));
}

std::string meaning(const ProveResult& result, const ProveRequest& request) {
  const bool server = !request.repeat.empty();
  switch (result.proved) {
    case Proved::per_step:
      return server ? "Something is kept for every request, the same one included: a leak. "
                      "'plateau run --heap -- COMMAND' "
                      "says which call stacks hold it."
                    : "Something is kept at every step: a leak, which does not end by itself. Look "
                      "for losses or outputs that are stored with their graph (.item() or "
                      ".detach() them), lists that grow, hooks added in the loop. 'plateau run "
                      "--heap -- COMMAND' says which call stacks hold it; --contrast gc, "
                      "no-backward and no-optimizer say which part of the step.";
    case Proved::per_example:
      return server ? "Something is kept for every new request: a cache, bounded only if its keys "
                      "are. Give it a limit, or make sure that the keys repeat."
                    : fmt::format(
                          "Something is kept for every example when it is first loaded: a cache. "
                          "It ends by "
                          "itself {}. If that does not fit, keep paths instead of decoded data in "
                          "the dataset, "
                          "or bound the cache.",
                          ends_at(result));
    case Proved::level:
      return server
                 ? "Nothing was kept per request, down to 0.03 MB each."
                 : "Nothing was kept per step or per example, down to 0.03 MB a step. Growth that "
                   "'plateau run' shows elsewhere belongs to something else: evaluations, "
                   "checkpoints, the end of an epoch.";
    case Proved::undecided:
      break;
  }
  if (result.design && result.design->stream && result.odds.example >= kFinalShare) {
    return "Memory grows while the dataset runs, but not while kept batches are trained on: the "
           "growth is in the data pipeline. A stream (IterableDataset) cannot return the same "
           "examples again, so a cache and a leak in it cannot be told apart.";
  }
  if (result.blocks.size() < 4 && result.idle > 0) {
    return fmt::format(
        "In {} of {} blocks there was hardly a training step: something else used the training "
        "loader, such as an evaluation. Leave that out, or allow more steps: --steps {}.",
        result.idle, result.idle + result.blocks.size(), 2 * request.steps);
  }
  if (result.blocks.size() < 4) {
    return fmt::format(
        "The job ended after {} steps, before two pairs of blocks were over: give it more epochs "
        "or more data.",
        result.steps);
  }
  return fmt::format(
      "Level {:.0f} %, per example {:.0f} %, per step {:.0f} %. A longer experiment may decide: "
      "--steps {}.",
      100 * result.odds.level, 100 * result.odds.example, 100 * result.odds.growing(),
      2 * request.steps);
}

// ---- contrasts ----------------------------------------------------------------------------------

std::string contrast_headline(const ProveResult& result, const ProveRequest& request) {
  const GrowthOdds& odds = result.odds;
  const std::string& what = request.contrast.what;
  if (odds.level >= kFinalShare) return fmt::format("NOTHING GROWS, with and without: {}.", what);
  if (odds.step >= kFinalShare) {
    return fmt::format("IT DOES NOT MATTER: memory grows by {} a step with and without: {}.",
                       rate(odds.step_mb), what);
  }
  if (odds.mattering() >= kFinalShare) {
    return odds.both > odds.example
               ? fmt::format("IT MATTERS IN PART: {} takes the growth from {} to {} a step.", what,
                             rate(odds.step_mb + odds.new_mb), rate(odds.step_mb))
               : fmt::format("IT MATTERS: {} takes the growth from {} a step to none.", what,
                             rate(odds.new_mb));
  }
  return fmt::format("UNDECIDED whether it matters: {}.", what);
}

// ---- parts of the report ------------------------------------------------------------------------

std::string table_of(const ProveResult& result, const ProveRequest& request) {
  std::string text = fmt::format("  {:<6} {:<18} {:>13} {:>12} {:>14}\n", "block", "",
                                 request.repeat.empty() ? "steps" : "requests", "memory",
                                 request.repeat.empty() ? "MB a step" : "MB a request");
  for (const BatchBlock& block : result.blocks) {
    text += fmt::format("  {:<6} {:<18} {:>13} {:>12} {:>14.3f}\n", block.number,
                        kind_text(block.kind, request),
                        fmt::format("{}-{}", block.first_at, block.last_at),
                        format_mb(block.last_mb), block.mb_per_step);
  }
  return text;
}

std::string held_by(const ProveReport& report, size_t width) {
  constexpr size_t kMostShown = 3;
  const std::vector<Holder>& holders = report.holders.holders;
  std::string text;
  for (size_t i = 0; i < std::min(kMostShown, holders.size()); ++i) {
    text +=
        wrapped(fmt::format("Holds: {}", holder_words(holders[i], report.holders.steps())), width);
  }
  if (!report.holders_missing.empty()) {
    text += wrapped("Who holds it is not known: " + report.holders_missing + ".", width);
  }
  return text;
}

std::string closing(const ProveReport& report, const ProveRequest& request) {
  const ProveResult& result = report.result;
  const std::string_view unit = request.repeat.empty() ? "steps" : "requests";
  std::string text =
      fmt::format("{} {} in {}.", result.steps, unit, format_seconds(report.seconds));
  text += report.ended_by_us ? " The job was ended by plateau."
                             : fmt::format(" The job ended by itself ({}).", report.ending);
  if (result.saves > 0)
    text += fmt::format(" {} or more saves were skipped; do not keep anything from this run.",
                        result.saves);
  if (!result.wrote.empty()) {
    std::string names;
    for (const std::string& name : result.wrote) {
      names += (names.empty() ? "" : ", ") + printable(name);
    }
    text += fmt::format(
        " Not prevented: the job itself opened {} or more files for writing ({}{}).",
        result.files_written, names,
        result.files_written > static_cast<int64_t>(result.wrote.size()) ? ", ..." : "");
  }
  if (result.speakers > 1)
    text += fmt::format(" {} processes trained; this is the worst, pid {}.", result.speakers,
                        result.pid);
  return text;
}

void write_blocks(JsonWriter& json, const ProveResult& result) {
  json.key("blocks").begin_array();
  for (const BatchBlock& block : result.blocks) {
    json.value(json_object("block", block.number, "kind", std::string(1, block.kind), "first_step",
                           block.first_at, "last_step", block.last_at, "first_mb", block.first_mb,
                           "last_mb", block.last_mb, "mb_per_step", block.mb_per_step));
  }
  json.end_array();
}

}  // namespace

std::string intention_of(const ProveRequest& request) {
  if (!request.repeat.empty()) {
    return fmt::format(
        "starts the server, sends {} requests of one kind and of new ones in turn, and ends it",
        request.requests);
  }
  const std::string common = fmt::format(
      "for at most {} steps, then ends it; checkpoints are not written, and its results must not "
      "be kept",
      request.steps);
  if (request.contrast.name.empty()) return "runs the job on new and on repeated batches " + common;
  if (!request.contrast.arms.empty())
    return fmt::format("runs the job twice, {} and {}, each {}", request.contrast.arms[0].name,
                       request.contrast.arms[1].name, common);
  return fmt::format("runs the job without and with {} in turn {}", request.contrast.what, common);
}

std::string nothing_proved(const ProveReport& report, const ProveRequest& request) {
  const ProveResult& result = report.result;
  if (!result.refused.empty()) return "cannot run the experiment on this job: " + result.refused;
  if (result.design && !request.contrast.leaves_out.empty() && result.acted == 0) {
    return fmt::format(
        "in {} steps the job made no call that --contrast {} leaves out ({}): whether it matters "
        "is not known",
        result.steps, request.contrast.name, request.contrast.leaves_out);
  }
  const bool same_batch = result.design && result.design->batch >= report.other_batch;
  if (request.contrast.name == "batch" && same_batch && !result.design->stream) {
    return fmt::format(
        "its batches of {} could not be made smaller: the loader is given one example at a time, "
        "or a sampler of whole batches",
        result.design->batch);
  }
  if (result.design || !request.repeat.empty()) return "";
  if (result.steps > 0) {
    return fmt::format(
        "the job ended ({}) after {} steps, before the first block; give it more steps or epochs",
        report.ending, result.steps);
  }
  return fmt::format(
      "the job ended ({}) and no training step was seen: it needs a torch DataLoader and an "
      "optimizer, in a Python "
      "that reads PYTHONPATH (not -I, -E or -S); for a server or any other program see --repeat, "
      "for a log 'plateau judge'",
      report.ending);
}

std::string prove_text(const ProveReport& report, const ProveRequest& request) {
  const ProveResult& result = report.result;
  const size_t width = request.view.width;
  const bool contrast = !request.contrast.name.empty();
  const std::string head =
      contrast ? contrast_headline(result, request) : headline(result, request);
  std::string text = wrapped(head, width);
  const double matters = result.odds.mattering();
  const double odds =
      contrast ? std::max(matters, 1 - matters) / std::max(1e-4, std::min(matters, 1 - matters))
               : odds_of(result.odds);
  const bool too_few = result.proved == Proved::undecided && result.blocks.size() < 4;
  text += too_few ? "\n" : fmt::format("Odds {}.\n\n", odds_text(odds));
  text += table_of(result, request) + "\n";
  if (!contrast) text += wrapped(meaning(result, request), width);
  const bool grows = result.proved == Proved::per_example || result.proved == Proved::per_step;
  if (grows && !contrast) text += held_by(report, width);
  return text + wrapped(closing(report, request), width);
}

std::string prove_json(const ProveReport& report, const ProveRequest& request) {
  const ProveResult& result = report.result;
  JsonWriter json;
  json.begin_object().members("proved", proved_name(result.proved), "odds", odds_of(result.odds));
  json.members("mb_per_new_example", per_example(result), "mb_per_step", result.odds.step_mb);
  json.key("shares").value(json_object("level", result.odds.level, "per_example",
                                       result.odds.example, "per_step", result.odds.step, "both",
                                       result.odds.both));
  if (!request.contrast.name.empty()) {
    json.key("contrast")
        .value(json_object("factor", request.contrast.name, "matters", result.odds.mattering(),
                           "mb_per_step_without", result.odds.step_mb + result.odds.new_mb,
                           "mb_per_step_with", result.odds.step_mb));
  }
  write_blocks(json, result);
  json.members("holders", json_list(std::span(report.holders.holders), write_holder));
  json.members("holders_pid", value_if(report.holders.pid > 0, report.holders.pid), "holders_steps",
               report.holders.steps(), "holders_missing",
               value_if(!report.holders_missing.empty(), report.holders_missing));
  json.members("steps", result.steps, "seconds", report.seconds, "saves_skipped", result.saves);
  json.members("files_written", result.files_written);
  json.members("stream", result.design && result.design->stream, "batch",
               result.design ? result.design->batch : 1);
  json.members("examples", value_if(result.design && result.design->examples > 0,
                                    result.design ? result.design->examples : 0));
  json.members("processes", result.speakers, "pid", value_if(result.pid > 0, result.pid),
               "ended_by_plateau", report.ended_by_us);
  return json.end_object().take() + "\n";
}

}  // namespace plateau
