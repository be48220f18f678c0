// SPDX-License-Identifier: Apache-2.0
// From examples to one batch, in two passes.
//
// The first reads lines, takes the sizes of pictures from their headers, and tokenises: whether an
// example is too long is known before a pixel is decoded, and so is how many patches there will be,
// so that they are allocated once. The second decodes, one picture at a time. At its peak a batch
// costs its own bytes, the compressed pictures of its rows, and one decoded picture before and
// after resizing.
#include "trainer/data/collate.h"

#include <algorithm>
#include <utility>

namespace plateau::train {
namespace {

struct Prepared {
  Example example;
  EncodedExample encoded;
  int64_t patches = 0;
  size_t row = 0;
  size_t place = 0;  // Among all examples of the batch.
};

int64_t labels_after_shift(const std::vector<int64_t>& labels) {
  if (labels.empty()) return 0;
  return std::count_if(labels.begin() + 1, labels.end(),
                       [](int64_t label) { return label != kNoLabel; });
}

Result<Prepared> prepare(const Dataset& dataset, const Tokenizer& tokenizer,
                         const LoaderOptions& options, size_t index) {
  Result<Example> example = dataset.read(index);
  if (!example) return example.error();
  Prepared row{.example = std::move(example.value())};
  const auto error = [&](const std::string& what) {
    return Error{Error::Kind::bad_input, dataset.where(index) + ": " + what};
  };
  std::vector<int64_t> image_tokens;
  int64_t picture_tokens = 0;
  for (const PictureSource& picture : row.example.pictures) {
    const Result<PictureSize> size = picture_size(picture.bytes, picture.name);
    if (!size) return error(size.error().message);
    const Result<PictureSize> resized = smart_resize(size.value(), options.processor, picture.name);
    if (!resized) return error(resized.error().message);
    const Grid grid = grid_of(resized.value(), options.processor);
    row.patches += grid.patches();
    image_tokens.push_back(grid.tokens(options.processor.merge_size));
    picture_tokens += image_tokens.back();
  }
  Result<EncodedExample> encoded =
      encode_conversation(tokenizer, row.example.messages, image_tokens, options.loss);
  if (!encoded) return error(encoded.error().message);
  row.encoded = std::move(encoded.value());
  const auto tokens = static_cast<int64_t>(row.encoded.ids.size());
  if (tokens > options.max_seq_length) {
    return error(std::to_string(tokens) + " tokens, " + std::to_string(picture_tokens) +
                 " of them of pictures; at most " + std::to_string(options.max_seq_length) +
                 " are allowed (--max-seq-length), and nothing is cut off");
  }
  if (labels_after_shift(row.encoded.labels) == 0) {
    return error("no token of the answer is left to learn");
  }
  return row;
}

// Appends the pictures of a row, or nothing and the error.
Result<std::vector<Grid>> append_pictures(const Dataset& dataset, const LoaderOptions& options,
                                          const Prepared& row, std::vector<float>& patches,
                                          const IsCancelled& is_cancelled) {
  const size_t before = patches.size();
  std::vector<Grid> grids;
  for (size_t i = 0; i < row.example.pictures.size(); ++i) {
    if (is_cancelled()) return grids;
    const Result<std::shared_ptr<const Picture>> picture = dataset.picture(row.example, i);
    if (!picture) {
      patches.resize(before);
      return picture.error();
    }
    const Result<Grid> grid =
        append_patches(*picture.value(), options.processor, row.example.pictures[i].name, patches);
    if (!grid) {
      patches.resize(before);
      return Error{grid.error().kind,
                   dataset.where(row.example.index) + ": " + grid.error().message};
    }
    grids.push_back(grid.value());
  }
  return grids;
}

// Ids, labels and mask of examples that are all of the batch, in the order of their rows.
void lay_out(const std::vector<Prepared>& examples, int64_t pad_token, Batch& batch) {
  const auto is_new_row = [&](size_t i) {
    return i == 0 || examples[i].row != examples[i - 1].row;
  };
  int64_t length = 0;
  for (size_t i = 0; i < examples.size(); ++i) {
    if (is_new_row(i)) {
      ++batch.rows;
      length = 0;
    }
    length += static_cast<int64_t>(examples[i].encoded.ids.size());
    batch.columns = std::max(batch.columns, length);
  }
  const auto values = static_cast<size_t>(batch.rows * batch.columns);
  batch.ids.assign(values, pad_token);
  batch.labels.assign(values, kNoLabel);
  batch.mask.assign(values, 0);
  int64_t row = -1;
  int64_t at = 0;
  for (size_t i = 0; i < examples.size(); ++i) {
    if (is_new_row(i)) {
      at = ++row * batch.columns;
    } else {
      batch.starts.push_back(at);
    }
    const EncodedExample& encoded = examples[i].encoded;
    std::copy(encoded.ids.begin(), encoded.ids.end(), batch.ids.begin() + at);
    std::copy(encoded.labels.begin(), encoded.labels.end(), batch.labels.begin() + at);
    std::fill_n(batch.mask.begin() + at, encoded.ids.size(), uint8_t{1});
    batch.examples.push_back(examples[i].example.index);
    batch.labelled += labels_after_shift(encoded.labels);
    batch.tokens += static_cast<int64_t>(encoded.ids.size());
    at += static_cast<int64_t>(encoded.ids.size());
  }
}

template <typename T>
int64_t bytes_of(const std::vector<T>& values) {
  return static_cast<int64_t>(values.size() * sizeof(T));
}

}  // namespace

int64_t Batch::bytes() const {
  return bytes_of(ids) + bytes_of(labels) + bytes_of(mask) + bytes_of(patches) + bytes_of(grids) +
         bytes_of(seconds_per_grid) + bytes_of(examples) + bytes_of(starts);
}

Result<Batch> collate_until(const Dataset& dataset, const Tokenizer& tokenizer,
                            const LoaderOptions& options,
                            const std::vector<std::vector<size_t>>& rows,
                            std::vector<BadExample>& bad, const IsCancelled& is_cancelled) {
  // Messages in the order of examples, whichever pass finds them.
  std::vector<std::pair<size_t, BadExample>> found;
  std::vector<Prepared> prepared;
  size_t patches = 0;
  size_t place = 0;
  for (size_t number = 0; number < rows.size(); ++number) {
    for (const size_t example : rows[number]) {
      if (is_cancelled()) break;
      Result<Prepared> row = prepare(dataset, tokenizer, options, example);
      if (!row && !options.skip_bad) return row.error();
      if (!row) {
        found.emplace_back(place++, BadExample{example, row.error().message});
        continue;
      }
      patches += static_cast<size_t>(row.value().patches);
      row.value().row = number;
      row.value().place = place++;
      prepared.push_back(std::move(row.value()));
    }
  }

  Batch batch;
  batch.patch_values = 3 * options.processor.patch_size * options.processor.patch_size;
  batch.patches.reserve(patches * static_cast<size_t>(batch.patch_values));
  std::vector<Prepared> good;
  for (Prepared& row : prepared) {
    const Result<std::vector<Grid>> grids =
        append_pictures(dataset, options, row, batch.patches, is_cancelled);
    if (!grids && !options.skip_bad) return grids.error();
    if (!grids) {
      found.emplace_back(row.place, BadExample{row.example.index, grids.error().message});
      continue;
    }
    batch.grids.insert(batch.grids.end(), grids.value().begin(), grids.value().end());
    row.example.pictures.clear();  // Their bytes are not needed any more.
    good.push_back(std::move(row));
  }
  lay_out(good, options.pad_token, batch);
  std::ranges::sort(found, {}, &std::pair<size_t, BadExample>::first);
  for (auto& [i, example] : found) bad.push_back(std::move(example));
  return batch;
}

Result<std::monostate> check_example(const Dataset& dataset, const Tokenizer& tokenizer,
                                     const LoaderOptions& options, size_t index, bool decodes) {
  const Result<Prepared> row = prepare(dataset, tokenizer, options, index);
  if (!row) return row.error();
  for (const PictureSource& source : row.value().example.pictures) {
    if (!decodes) break;
    if (const Result<Picture> picture = decode_picture(source.bytes, source.name); !picture) {
      return Error{picture.error().kind, dataset.where(index) + ": " + picture.error().message};
    }
  }
  return std::monostate{};
}

Result<Batch> collate(const Dataset& dataset, const Tokenizer& tokenizer,
                      const LoaderOptions& options, const std::vector<size_t>& rows,
                      std::vector<BadExample>& bad) {
  std::vector<std::vector<size_t>> alone;
  alone.reserve(rows.size());
  for (const size_t example : rows) alone.push_back({example});
  return collate_until(dataset, tokenizer, options, alone, bad, [] { return false; });
}

}  // namespace plateau::train
