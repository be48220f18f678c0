// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/answers.h"

#include <algorithm>
#include <utility>

namespace plateau::train {

Question question_of(Example example) {
  Question out{.messages = std::move(example.messages), .pictures = std::move(example.pictures)};
  while (!out.messages.empty() && out.messages.back().role == Message::Role::assistant) {
    out.expected.clear();
    for (const Part& part : out.messages.back().parts) out.expected += part.text;
    out.messages.pop_back();
  }
  return out;
}

Result<std::string> Answerer::answer(const Question& question) const {
  Batch batch;
  std::vector<int64_t> image_tokens;
  for (const PictureSource& source : question.pictures) {
    const Result<Picture> picture = decode_picture(source.bytes, source.name);
    if (!picture) return picture.error();
    const Result<Patches> patches = make_patches(picture.value(), processor_, source.name);
    if (!patches) return patches.error();
    batch.patches.insert(batch.patches.end(), patches.value().values.begin(),
                         patches.value().values.end());
    batch.grids.push_back(patches.value().grid);
    image_tokens.push_back(patches.value().grid.tokens(processor_.merge_size));
  }
  const Result<EncodedExample> encoded =
      encode_conversation(tokenizer_, question.messages, image_tokens, LossLevel::all, true);
  if (!encoded) return encoded.error();
  batch.rows = 1;
  batch.columns = static_cast<int64_t>(encoded.value().ids.size());
  batch.ids = encoded.value().ids;
  batch.labels.assign(batch.ids.size(), kNoLabel);
  batch.mask.assign(batch.ids.size(), 1);
  batch.tokens = batch.columns;
  const std::vector<int64_t> stop = {model_.config().eos_token};
  const Result<std::vector<int64_t>> ids = model_.generate(batch, limit_, stop);
  if (!ids) return ids.error();
  return tokenizer_.decode(ids.value(), true);
}

Result<AnswerScore> answer_score(const Job& job, QwenVl& model, const AnswerShare& share) {
  const Answerer answerer(job.tokenizer, job.loader.processor, model, share.max_new_tokens);
  const size_t count = std::min(static_cast<size_t>(share.count), job.eval_dataset->size());
  AnswerScore score;
  for (auto i = static_cast<size_t>(share.rank); i < count; i += static_cast<size_t>(share.world)) {
    Result<Example> example = job.eval_dataset->read(i);
    if (!example && job.loader.skip_bad) continue;
    if (!example) return example.error();
    const Question question = question_of(std::move(example.value()));
    const Result<std::string> answer = answerer.answer(question);
    if (!answer && job.loader.skip_bad) continue;
    if (!answer) return answer.error();
    score += score_answer(answer.value(), question.expected);
  }
  return score;
}

}  // namespace plateau::train
