// SPDX-License-Identifier: Apache-2.0
#include "cli/check_data_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_writer.h"
#include "base/printable.h"
#include "base/units.h"

namespace plateau {
namespace {

constexpr size_t kNameColumns = 16;

std::string count(double number) {
  return format_count(static_cast<int64_t>(std::clamp(std::round(number), 0.0, 9e18)));
}

std::string amount(double bytes) {
  return format_mb(bytes / kBytesPerMb);
}

std::string row(std::string_view name, const std::string& text, const View& view) {
  std::string out;
  bool first = true;
  const size_t indent = kNameColumns + 2;
  for (const std::string& line : wrap(text, std::max<size_t>(view.width, indent + 30) - indent)) {
    out += (first ? "  " + pad_right(name, kNameColumns) : std::string(indent, ' ')) + line + "\n";
    first = false;
  }
  return out;
}

std::string spread_text(const Spread& spread) {
  return fmt::format("{} typical, {} for 95 % of examples, {} at most", count(spread.median),
                     count(spread.p95), count(spread.largest));
}

std::string remote_row(const Survey& survey, const View& view) {
  if (survey.remote == 0) return "";
  return row(
      "remote",
      fmt::format("{} behind a URL: not fetched, not checked", counted(survey.remote, "picture")),
      view);
}

std::string pictures_rows(const Survey& survey, const ModelShape* shape, const View& view) {
  if (survey.pictures == 0) return "";
  std::string out =
      row("pictures",
          fmt::format("{} in all, {} at most in an example, {}",
                      count(static_cast<double>(survey.pictures)), survey.most_pictures,
                      survey.largest_pixels > 0
                          ? fmt::format("the largest of {} pixels",
                                        count(static_cast<double>(survey.largest_pixels)))
                          : "of unknown size"),
          view);
  if (survey.largest_pixels == 0) return out + remote_row(survey, view);
  std::string memory = fmt::format(
      "{} decoded for the largest example, {} for all of them (3 bytes a pixel; Pillow keeps 4)",
      amount(survey.largest_decoded), amount(survey.decoded_bytes));
  if (shape != nullptr && shape->vision) {
    memory += fmt::format("; {} patches and {} of pixel values at most",
                          count(static_cast<double>(survey.most_patches)),
                          amount(survey.largest_resized_bytes));
  }
  out += row("memory", memory, view);
  return out + remote_row(survey, view);
}

std::string length_rows(const Survey& survey, const EpochOptions& epoch, const View& view) {
  std::string out = row("characters", spread_text(survey.characters), view);
  out += row("tokens", spread_text(survey.tokens) + " (" + survey.token_source + ")", view);
  out += row("learned", spread_text(survey.learned_tokens) + " tokens of answers", view);
  if (epoch.max_length > 0) {
    out += row("--max-length",
               fmt::format("cuts {} of {} examples", count(static_cast<double>(survey.truncated)),
                           count(static_cast<double>(survey.examples))),
               view);
  }
  if (survey.duplicates > 0)
    out += row("duplicates", counted(survey.duplicates, "example") + " seen before", view);
  if (survey.other_media > 0) {
    out += row("other media",
               counted(survey.other_media, "example") + " with video or audio, not checked", view);
  }
  const int64_t steps = epoch_steps(static_cast<int64_t>(survey.examples), epoch.batch,
                                    epoch.accumulation, epoch.ranks);
  out += row("an epoch",
             fmt::format("{} of {} (batch {} x accumulation {} x ranks {})",
                         counted(static_cast<uint64_t>(steps), "step"),
                         counted(static_cast<uint64_t>(static_cast<double>(epoch.batch) *
                                                       static_cast<double>(epoch.accumulation) *
                                                       static_cast<double>(epoch.ranks)),
                                 "example"),
                         epoch.batch, epoch.accumulation, epoch.ranks),
             view);
  return out;
}

void write_spread(JsonWriter& json, std::string_view key, const Spread& spread) {
  json.key(key)
      .begin_object()
      .members("mean", spread.mean, "median", spread.median, "p95", spread.p95, "largest",
               spread.largest)
      .end_object();
}

}  // namespace

std::string mask_text(const TrainingExample& example, const View& view) {
  std::string out;
  for (const ExampleTurn& turn : example.turns) {
    const std::string name = printable(turn.role);
    const std::string mark =
        turn.is_learned ? paint(view, Ink::green, "learned") : paint(view, Ink::dim, "masked ");
    const size_t room = std::max<size_t>(view.width, 60) - 24;
    out += "    " + mark + "  " + pad_right(shorten(name, 10), 10) + " " +
           shorten(printable(std::string_view(turn.text).substr(0, 2'000)), room) + "\n";
  }
  return out;
}

std::string survey_text(const Survey& survey, const EpochOptions& epoch, const ModelShape* shape,
                        const View& view) {
  size_t problems = 0;
  for (const size_t each : survey.counts) problems += each;
  std::string out =
      survey.is_clean() ? paint(view, Ink::green, "SOUND") : paint(view, Ink::red, "PROBLEMS");
  std::string forms;
  for (const auto& [form, number] : survey.forms) {
    forms +=
        fmt::format("{}{} {}", forms.empty() ? "" : ", ", count(static_cast<double>(number)), form);
  }
  out += fmt::format("  {}: {} ({}){}\n", counted(survey.files, "file"),
                     counted(survey.examples, "example"), forms,
                     problems == 0 ? "" : ", " + counted(problems, "problem"));
  out += length_rows(survey, epoch, view) + pictures_rows(survey, shape, view);
  for (size_t kind = 0; kind < kDataProblems; ++kind) {
    if (survey.counts[kind] == 0) continue;
    out += fmt::format("\n{} {}\n", count(static_cast<double>(survey.counts[kind])),
                       problem_word(static_cast<DataProblem>(kind)));
    size_t shown = 0;
    for (const FoundProblem& problem : survey.problems) {
      if (static_cast<size_t>(problem.problem) != kind) continue;
      out += "  " + printable(problem.where) + ": " + printable(problem.what) + "\n";
      ++shown;
    }
    if (shown < survey.counts[kind])
      out +=
          fmt::format("  and {} more\n", count(static_cast<double>(survey.counts[kind] - shown)));
  }
  if (survey.shown) {
    out += fmt::format("\nwhat is learned of {}:\n", printable(survey.shown_where)) +
           mask_text(*survey.shown, view);
  }
  return out;
}

std::string survey_json(const Survey& survey, const EpochOptions& epoch) {
  JsonWriter json;
  json.begin_object().members("schema", 1, "clean", survey.is_clean(), "files", survey.files,
                              "examples", survey.examples);
  json.key("forms").begin_object();
  for (const auto& [form, number] : survey.forms) json.key(form).value(number);
  json.end_object();
  json.key("counts").begin_object();
  for (size_t kind = 0; kind < kDataProblems; ++kind) {
    json.key(problem_word(static_cast<DataProblem>(kind))).value(survey.counts[kind]);
  }
  json.end_object();
  json.key("problems").begin_array();
  for (const FoundProblem& problem : survey.problems) {
    json.begin_object()
        .members("kind", problem_word(problem.problem), "where", problem.where, "what",
                 problem.what)
        .end_object();
  }
  json.end_array();
  write_spread(json, "characters", survey.characters);
  write_spread(json, "tokens", survey.tokens);
  write_spread(json, "learned_tokens", survey.learned_tokens);
  json.members("token_source", survey.token_source, "duplicates", survey.duplicates, "truncated",
               survey.truncated, "pictures", survey.pictures, "remote_pictures", survey.remote,
               "most_pictures", survey.most_pictures, "most_patches", survey.most_patches,
               "largest_pixels", survey.largest_pixels);
  json.members("decoded_bytes", survey.decoded_bytes, "largest_decoded_bytes",
               survey.largest_decoded, "largest_resized_bytes", survey.largest_resized_bytes,
               "epoch_steps",
               epoch_steps(static_cast<int64_t>(survey.examples), epoch.batch, epoch.accumulation,
                           epoch.ranks));
  return json.end_object().take() + "\n";
}

}  // namespace plateau
