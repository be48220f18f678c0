// SPDX-License-Identifier: Apache-2.0
#include "dataset/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <unordered_set>

#include "base/text.h"
#include "base/units.h"
#include "dataset/picture_file.h"
#include "dataset/picture_fit.h"

namespace plateau {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownProblems = 10;           // Of a kind.
constexpr size_t kMostRemembered = 20'000'000;  // Hashes, for duplicates.
constexpr double kTurnTokens = 5;               // What a chat template puts around a turn.

size_t hash_of(const TrainingExample& example) {
  const std::hash<std::string_view> hash;
  size_t sum = 14695981039346656037ULL;
  const auto mix = [&](std::string_view text) { sum = (sum ^ hash(text)) * 1099511628211ULL; };
  for (const ExampleTurn& turn : example.turns) {
    mix(turn.role);
    mix(turn.text);
  }
  for (const ExamplePicture& picture : example.pictures) mix(picture.reference);
  return sum;
}

Spread spread_of(std::vector<float>& values) {
  Spread out;
  if (values.empty()) return out;
  std::ranges::sort(values);
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  out.mean = sum / static_cast<double>(values.size());
  out.median = static_cast<double>(values[values.size() / 2]);
  out.p95 = static_cast<double>(values[(values.size() * 95 + 99) / 100 - 1]);
  out.largest = static_cast<double>(values.back());
  return out;
}

// "user, Assistant".
std::string roles_of(const TrainingExample& example) {
  std::string out;
  std::set<std::string_view> seen;
  for (const ExampleTurn& turn : example.turns) {
    if (!seen.insert(turn.role).second) continue;
    out += (out.empty() ? "" : ", ") + turn.role;
  }
  return out;
}

size_t code_points(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

class Surveyor {
 public:
  explicit Surveyor(const SurveyOptions& options) : options_(options) {}

  Result<void> take_file(const std::string& file) {
    file_ = file;
    base_ = options_.pictures_directory.empty() ? fs::path(file).parent_path().string()
                                                : options_.pictures_directory;
    ++out_.files;
    return each_record(
        file,
        [this](const RecordAt& at, const Result<simdjson::dom::element>& record) {
          at_ = at;
          if (!record) {
            note(DataProblem::unreadable, record.error().message);
            return true;
          }
          Result<TrainingExample> example = read_example(record.value());
          if (example) {
            take(example.value());
          } else {
            note(DataProblem::unreadable, example.error().message);
          }
          return true;
        },
        options_.progress);
  }

  Survey finish() {
    out_.characters = spread_of(characters_);
    out_.tokens = spread_of(tokens_);
    out_.learned_tokens = spread_of(learned_);
    out_.token_source = "assumed: a token for 4 ASCII or 1.5 other characters, 5 a turn";
    if (out_.looked_at > 0) {
      out_.decoded_bytes *=
          static_cast<double>(out_.examples) / static_cast<double>(out_.looked_at);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string where() const {
    const std::string name = fs::path(file_).filename().string();
    const std::string at = text_of(at_);
    return at.empty() ? name : name + " " + at;
  }

  void note(DataProblem problem, std::string what) {
    size_t& count = out_.counts.at(static_cast<size_t>(problem));
    if (++count <= kShownProblems) out_.problems.push_back({problem, where(), std::move(what)});
  }

  // The pictures of how many examples are looked at thins out as the dataset goes on.
  [[nodiscard]] bool looks_at_pictures() const {
    if (options_.most_examples == 0) return true;
    return out_.examples % (1 + out_.examples / options_.most_examples) == 0;
  }

  void take(const TrainingExample& example) {
    ++out_.examples;
    ++out_.forms[std::string(example.form)];
    if (example.has_other_media) ++out_.other_media;
    if (seen_.size() < kMostRemembered && !seen_.insert(hash_of(example)).second) ++out_.duplicates;
    double characters = 0;
    double tokens = 0;
    double learned = 0;
    double before_learned = -1;  // Tokens before the first answer.
    for (const ExampleTurn& turn : example.turns) {
      const double count = assumed_tokens(turn.text);
      characters += static_cast<double>(code_points(turn.text));
      out_.text_bytes += static_cast<double>(turn.text.size());
      const bool says_something = !trim(turn.text).empty();
      if (turn.is_learned && says_something) {
        if (before_learned < 0) before_learned = tokens + kTurnTokens;
        learned += count;
      }
      tokens += count + (example.form == "text" ? 0 : kTurnTokens);
    }
    if (looks_at_pictures()) {
      ++out_.looked_at;
      const double of_pictures = look_at_pictures(example);
      tokens += of_pictures;
      if (before_learned >= 0) before_learned += of_pictures;
    }
    judge(example, tokens, learned, before_learned);
    characters_.push_back(static_cast<float>(characters));
    tokens_.push_back(static_cast<float>(tokens));
    learned_.push_back(static_cast<float>(learned));
    if (!out_.shown && learned > 0) {
      out_.shown = example;
      out_.shown_where = where();
    }
  }

  void judge(const TrainingExample& example, double tokens, double learned, double before_learned) {
    const auto beside = static_cast<int64_t>(example.pictures.size()) - example.in_parts;
    if (example.placeholders != beside && (example.placeholders > 0 || example.in_parts == 0) &&
        example.form != "text") {
      note(DataProblem::wrong_count,
           fmt::format("{} \"<image>\" in the text, {} beside it", example.placeholders,
                       counted(static_cast<uint64_t>(std::max<int64_t>(0, beside)), "picture")));
    }
    if (learned <= 0) {
      const bool has_answer = std::ranges::any_of(example.turns, &ExampleTurn::is_learned);
      note(DataProblem::nothing_learned,
           has_answer ? "the answer is empty"
                      : "no turn of the assistant; there are " + roles_of(example));
    }
    if (options_.max_length <= 0 || tokens <= static_cast<double>(options_.max_length)) return;
    ++out_.truncated;
    if (learned > 0 && before_learned >= static_cast<double>(options_.max_length)) {
      note(DataProblem::label_cut_off,
           fmt::format("the answer begins behind token {}, --max-length is {}",
                       static_cast<int64_t>(before_learned), options_.max_length));
    }
  }

  // Tokens that the pictures become.
  double look_at_pictures(const TrainingExample& example) {
    out_.most_pictures =
        std::max(out_.most_pictures, static_cast<int64_t>(example.pictures.size()));
    int64_t patches = 0;
    double tokens = 0;
    double decoded = 0;
    double resized = 0;
    for (const ExamplePicture& picture : example.pictures) {
      ++out_.pictures;
      const PictureLook look =
          look_at_picture(picture.reference, base_, options_.reads_whole_pictures);
      if (look.state == PictureLook::State::remote) ++out_.remote;
      if (look.state == PictureLook::State::missing) note(DataProblem::missing_picture, look.text);
      if (look.state == PictureLook::State::broken) note(DataProblem::broken_picture, look.text);
      if (look.state != PictureLook::State::fine) continue;
      const int64_t pixels = look.facts.width * look.facts.height;
      decoded += 3.0 * static_cast<double>(pixels);
      out_.largest_pixels = std::max(out_.largest_pixels, pixels);
      if (options_.shape == nullptr || !options_.shape->vision) continue;
      const PictureCost cost = picture_cost(*options_.shape->vision, options_.limits,
                                            look.facts.width, look.facts.height);
      patches += cost.patches;
      tokens += static_cast<double>(cost.tokens);
      resized += 12.0 * static_cast<double>(cost.pixels);
      out_.largest_resized = std::max(out_.largest_resized, cost.pixels);
    }
    out_.most_patches = std::max(out_.most_patches, patches);
    out_.decoded_bytes += decoded;
    out_.largest_decoded = std::max(out_.largest_decoded, decoded);
    out_.largest_resized_bytes = std::max(out_.largest_resized_bytes, resized);
    return tokens;
  }

  const SurveyOptions& options_;
  Survey out_;
  std::string file_;
  std::string base_;
  RecordAt at_;
  std::unordered_set<size_t> seen_;
  std::vector<float> characters_;
  std::vector<float> tokens_;
  std::vector<float> learned_;
};

}  // namespace

std::string_view problem_word(DataProblem problem) {
  switch (problem) {
    case DataProblem::unreadable:
      return "unreadable";
    case DataProblem::missing_picture:
      return "missing picture";
    case DataProblem::broken_picture:
      return "broken picture";
    case DataProblem::wrong_count:
      return "wrong count of <image>";
    case DataProblem::nothing_learned:
      return "nothing to learn";
    case DataProblem::label_cut_off:
      return "answer cut off";
  }
  return "";
}

bool Survey::is_clean() const {
  return std::ranges::all_of(counts, [](size_t count) { return count == 0; });
}

double assumed_tokens(std::string_view text) {
  size_t ascii = 0;
  size_t others = 0;
  for (const char byte : text) {
    if ((byte & 0x80) == 0) {
      ++ascii;
    } else if ((byte & 0xC0) != 0x80) {
      ++others;
    }
  }
  return std::ceil(static_cast<double>(ascii) / 4 + static_cast<double>(others) / 1.5);
}

int64_t epoch_steps(int64_t examples, int64_t batch, int64_t accumulation, int64_t ranks) {
  if (examples <= 0) return 0;
  const auto up = [](int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); };
  return up(up(up(examples, std::max<int64_t>(1, ranks)), std::max<int64_t>(1, batch)),
            std::max<int64_t>(1, accumulation));
}

Result<Survey> survey_dataset(const std::string& path, const SurveyOptions& options) {
  const Result<std::vector<std::string>> files = dataset_files(path);
  if (!files) return files.error();
  Surveyor surveyor(options);
  for (const std::string& file : files.value()) {
    const Result<void> done = surveyor.take_file(file);
    if (!done) return done.error();
  }
  Survey survey = surveyor.finish();
  if (survey.examples == 0) {
    std::string why = path + ": not one example could be read";
    if (!survey.problems.empty())
      why += fmt::format("; {}: {}", survey.problems[0].where, survey.problems[0].what);
    return Error{Error::Kind::no_samples, why};
  }
  return survey;
}

}  // namespace plateau
