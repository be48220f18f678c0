// SPDX-License-Identifier: Apache-2.0
#include "trainer/plan/data_shapes.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
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

PackedShapes pack_dataset(const Dataset& dataset, const Tokenizer& tokenizer,
                          const LoaderOptions& options, int64_t threads) {
  std::vector<ExampleShape> shapes(dataset.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < shapes.size(); i = next++) {
      const Result<Measured> one = measure(dataset, tokenizer, options, i);
      if (one && one.value().shape.tokens <= options.max_seq_length) shapes[i] = one.value().shape;
    }
  };
  std::vector<std::thread> helpers;
  while (static_cast<int64_t>(helpers.size()) + 1 < threads) {
    try {
      helpers.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // Fewer do the same, more slowly.
    }
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  std::vector<int64_t> tokens;
  tokens.reserve(shapes.size());
  for (const ExampleShape& shape : shapes) tokens.push_back(shape.tokens);
  Packs packs = make_packs(tokens, options.max_seq_length, options.seed);
  PackedShapes out;
  for (size_t row = 0; row < packs.rows(); ++row) {
    ExampleShape sum;
    int64_t picture_bytes = 0;
    for (const size_t example : packs.row(row)) {
      add(sum, shapes[example]);
      picture_bytes = std::max(picture_bytes, shapes[example].picture_bytes);
    }
    sum.picture_bytes = picture_bytes;  // They are decoded one by one.
    widen(out.largest_row, sum);
  }
  out.packs = std::make_shared<const Packs>(std::move(packs));
  return out;
}

ExampleShape filled_row(const ExampleShape& example, int64_t most) {
  const int64_t count = std::max<int64_t>(1, most / std::max<int64_t>(1, example.tokens));
  return {.tokens = count * example.tokens,
          .labelled = count * example.labelled,
          .patches = count * example.patches,
          .picture_bytes = example.picture_bytes};
}

}  // namespace plateau::train
