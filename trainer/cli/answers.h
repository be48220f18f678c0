// SPDX-License-Identifier: Apache-2.0
// Questions of a dataset put to a model: by `ask`, and by evaluations within a training.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainer/cli/job.h"
#include "trainer/data/answer_score.h"
#include "trainer/data/dataset.h"
#include "trainer/model/qwen.h"

namespace plateau::train {

struct Question {
  std::vector<Message> messages;  // Without the answer.
  std::vector<PictureSource> pictures;
  std::string expected;  // Empty: not known.
};
// The conversation up to its last answer, and that answer.
Question question_of(Example example);

// Answers by greedy decoding, of at most `limit` tokens. Everything given outlives it.
class Answerer {
 public:
  Answerer(const Tokenizer& tokenizer, const ProcessorOptions& processor, QwenVl& model,
           int64_t limit)
      : tokenizer_(tokenizer), processor_(processor), model_(model), limit_(limit) {}

  [[nodiscard]] Result<std::string> answer(const Question& question) const;

 private:
  const Tokenizer& tokenizer_;
  const ProcessorOptions& processor_;
  QwenVl& model_;
  int64_t limit_;
};

// Which of the first questions of the evaluation set a process answers: every `world`-th.
struct AnswerShare {
  int64_t count = 0;  // Of questions, over all processes.
  int64_t max_new_tokens = 128;
  int rank = 0;
  int world = 1;
};
// The model's answers to the evaluation set of `job`, which has one. A bad example is an error,
// or left out if the loader leaves such out.
Result<AnswerScore> answer_score(const Job& job, QwenVl& model, const AnswerShare& share);

}  // namespace plateau::train
