// SPDX-License-Identifier: Apache-2.0
// A dataset looked at from end to end, before anyone trains on it: what is broken, how long
// examples are, what is learned of them, and what their pictures take in memory. Reads only;
// decodes nothing.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/example.h"
#include "dataset/records.h"
#include "plan/model_shape.h"

namespace plateau {

enum class DataProblem : uint8_t {
  unreadable,       // Not JSON, none of the forms, a field of the wrong type.
  missing_picture,  // No such file.
  broken_picture,   // No picture, or cut off.
  wrong_count,      // As many "<image>" as pictures: not so.
  nothing_learned,  // No answer, or an empty one.
  label_cut_off,    // --max-length leaves nothing of the answer.
};
inline constexpr size_t kDataProblems = 6;
std::string_view problem_word(DataProblem problem);  // "missing picture"

struct FoundProblem {
  DataProblem problem;
  std::string where;  // "train.jsonl line 12".
  std::string what;
};

struct SurveyOptions {
  const ModelShape* shape = nullptr;  // Of the model, if one is known: what pictures become.
  PixelLimits limits;
  std::string pictures_directory;  // Where relative paths lead; empty: beside the dataset.
  bool reads_whole_pictures = false;
  int64_t max_length = 0;    // Tokens an example is cut to; 0: never.
  size_t most_examples = 0;  // Whose pictures are looked at, spread over the dataset; 0: all.
  OnProgress progress;
};

struct Spread {
  double mean = 0;
  double median = 0;
  double p95 = 0;
  double largest = 0;
};

struct Survey {
  size_t files = 0;
  size_t examples = 0;   // Readable ones.
  size_t looked_at = 0;  // Of them, with their pictures.
  std::map<std::string, size_t> forms;
  std::array<size_t, kDataProblems> counts{};
  std::vector<FoundProblem> problems;  // The first few of each kind.
  size_t duplicates = 0;
  size_t truncated = 0;  // Longer than --max-length.
  size_t remote = 0;     // Pictures behind a URL, which are not fetched.
  size_t other_media = 0;
  Spread characters;
  Spread tokens;          // Those of pictures included where the model is known.
  Spread learned_tokens;  // Of the answers.
  std::string token_source;
  double text_bytes = 0;
  // Of pictures.
  size_t pictures = 0;
  int64_t most_pictures = 0;  // Of an example.
  int64_t most_patches = 0;
  int64_t largest_pixels = 0;
  int64_t largest_resized = 0;
  double decoded_bytes = 0;    // All, three bytes a pixel; what was not looked at at their mean.
  double largest_decoded = 0;  // Of one example.
  double largest_resized_bytes = 0;  // The same as the model gets it, 32 bits a value.
  std::optional<TrainingExample> shown;
  std::string shown_where;
  [[nodiscard]] bool is_clean() const;
};

Result<Survey> survey_dataset(const std::string& path, const SurveyOptions& options);

// Tokens of a text where no tokenizer is at hand: four ASCII characters or one and a half others.
double assumed_tokens(std::string_view text);

// Steps of an epoch, as transformers' Trainer counts them.
int64_t epoch_steps(int64_t examples, int64_t batch, int64_t accumulation, int64_t ranks);

}  // namespace plateau
