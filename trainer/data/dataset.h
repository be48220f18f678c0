// SPDX-License-Identifier: Apache-2.0
// A dataset on the disk: where each example lies, and the example when it is asked for.
//
// Only offsets are kept: 16 bytes an example, whatever its pictures weigh. Lines are read from the
// file each time, pictures decoded each time; nothing that was read stays. `keep_decoded` is the
// exception that is there to be watched: it keeps every decoded picture, as the pipeline did whose
// memory grew for an epoch.
//
// A file has one JSON object a line, one JSON array of objects (record_places.h), or is CSV
// (csv_records.h). Objects are of the forms in docs/formats/dataset.md, mixed freely. Pictures are
// paths (beside the dataset file first) or base64 data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainer/image/patches.h"
#include "trainer/text/conversation.h"

namespace plateau::train {

struct DatasetOptions {
  std::string text_field = "text";
  std::string image_field = "image";
  bool keep_decoded = false;
};

struct PictureSource {
  std::string name;              // For messages: a path, or "image 1".
  std::vector<std::byte> bytes;  // Compressed.
};

struct Example {
  size_t index = 0;  // In the dataset, counted from 0; messages count from 1.
  std::vector<Message> messages;
  std::vector<PictureSource> pictures;
};

// `number` counts the pictures of the example from 1. The view is valid during the call.
using PictureReader =
    std::function<Result<PictureSource>(std::string_view reference, size_t number)>;

// Any thread may read at the same time.
class Dataset {
 public:
  static Result<Dataset> open(const std::filesystem::path& jsonl, const DatasetOptions& options);
  Dataset(Dataset&&) noexcept;
  Dataset& operator=(Dataset&&) noexcept;
  ~Dataset();

  [[nodiscard]] size_t size() const;  // Examples.
  [[nodiscard]] Result<Example> read(size_t index) const;
  // The same, with pictures as another reader gives them.
  [[nodiscard]] Result<Example> read_with(size_t index, const PictureReader& read_picture) const;
  // Of picture `which` of example `index`, through the cache if decoded ones are kept.
  [[nodiscard]] Result<std::shared_ptr<const Picture>> picture(const Example& example,
                                                               size_t which) const;
  [[nodiscard]] const std::string& name() const;  // As it was opened.
  [[nodiscard]] const std::filesystem::path& folder() const;
  [[nodiscard]] const DatasetOptions& options() const;
  [[nodiscard]] std::string where(
      size_t index) const;  // "train.jsonl line 12"; of an array "..., example 3" too.
  // Of the file's bytes: a checkpoint must not be resumed on another dataset.
  [[nodiscard]] uint64_t fingerprint() const;
  [[nodiscard]] int64_t kept_bytes() const;  // By keep_decoded.

 private:
  struct State;
  explicit Dataset(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plateau::train
