// SPDX-License-Identifier: Apache-2.0
#include "trainer/plan/data_shapes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "trainer/image/patches.h"
#include "trainer/image/picture.h"
#include "trainer/text/conversation.h"

namespace plateau::train {
namespace {

constexpr int64_t kRgbBytes = 3;

struct Measured {
  ExampleShape shape;
  int64_t decoded_bytes = 0;
};

Result<Measured> measure(const Dataset& dataset, const Tokenizer& tokenizer,
                         const LoaderOptions& options, size_t index) {
  const Result<Example> example = dataset.read(index);
  if (!example) return example.error();
  Measured out;
  std::vector<int64_t> image_tokens;
  for (const PictureSource& source : example.value().pictures) {
    const Result<PictureSize> size = picture_size(source.bytes, source.name);
    if (!size) return size.error();
    const Result<PictureSize> resized = smart_resize(size.value(), options.processor, source.name);
    if (!resized) return resized.error();
    const Grid grid = grid_of(resized.value(), options.processor);
    image_tokens.push_back(grid.tokens(options.processor.merge_size));
    out.shape.patches += grid.patches();
    const int64_t decoded = size.value().height * size.value().width * kRgbBytes;
    const int64_t small = resized.value().height * resized.value().width * kRgbBytes;
    out.shape.picture_bytes = std::max(out.shape.picture_bytes, decoded + small);
    out.decoded_bytes += decoded;
  }
  const Result<EncodedExample> encoded =
      encode_conversation(tokenizer, example.value().messages, image_tokens, options.loss);
  if (!encoded) return encoded.error();
  out.shape.tokens = static_cast<int64_t>(encoded.value().ids.size());
  out.shape.labelled = encoded.value().labelled;
  return out;
}

Error too_long(int64_t tokens, int64_t allowed) {
  return {.message = "no example is short enough: the last one looked at has " +
                     std::to_string(tokens) + " tokens, " + std::to_string(allowed) +
                     " are allowed (--max-seq-length)"};
}

void widen(ExampleShape& largest, const ExampleShape& shape) {
  largest.tokens = std::max(largest.tokens, shape.tokens);
  largest.labelled = std::max(largest.labelled, shape.labelled);
  largest.patches = std::max(largest.patches, shape.patches);
  largest.picture_bytes = std::max(largest.picture_bytes, shape.picture_bytes);
}

void add(ExampleShape& sum, const ExampleShape& shape) {
  sum.tokens += shape.tokens;
  sum.labelled += shape.labelled;
  sum.patches += shape.patches;
  sum.picture_bytes += shape.picture_bytes;
}

void divide(ExampleShape& sum, int64_t by) {
  sum.tokens /= by;
  sum.labelled /= by;
  sum.patches /= by;
  sum.picture_bytes /= by;
}

}  // namespace

Result<DataShapes> measure_shapes(const Dataset& dataset, const Tokenizer& tokenizer,
                                  const LoaderOptions& options, size_t at_most) {
  DataShapes out;
  out.examples = dataset.size();
  const size_t wanted = std::min(std::max<size_t>(at_most, 1), out.examples);
  int64_t decoded = 0;
  int64_t good = 0;
  Error last{.message = "the dataset has no examples"};
  for (size_t i = 0; i < wanted; ++i) {
    const Result<Measured> one = measure(dataset, tokenizer, options, i * out.examples / wanted);
    ++out.looked_at;
    if (!one || one.value().shape.tokens > options.max_seq_length) {
      ++out.bad;
      last = one ? too_long(one.value().shape.tokens, options.max_seq_length) : one.error();
      continue;
    }
    ++good;
    widen(out.largest, one.value().shape);
    add(out.mean, one.value().shape);
    decoded += one.value().decoded_bytes;
  }
  if (good == 0) return last;
  divide(out.mean, good);
  out.decoded_bytes = decoded / good * static_cast<int64_t>(out.examples);
  return out;
}

}  // namespace plateau::train
