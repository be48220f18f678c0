// SPDX-License-Identifier: Apache-2.0
// What a model's own files say about pictures and conversations, held against what is computed
// here.
//
// preprocessor_config.json (or the image_processor of processor_config.json) gives the limits of
// pixels; everything else in it must be what the picture room does. A chat template (chat_template
// .jinja, chat_template.json, or in tokenizer_config.json) must give, for a handful of
// conversations, the text that the text room builds. A model without these files is taken as it is.
#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"
#include "trainer/image/patches.h"

namespace plateau::train {

// Limits that the user gave; they win over the model's.
struct PixelLimits {
  std::optional<int64_t> least;
  std::optional<int64_t> most;
};

// `known` has patch and merge size of config.json, and the limits where no file says any.
Result<ProcessorOptions> read_processor(const std::filesystem::path& model, ProcessorOptions known,
                                        const PixelLimits& given);

// An error names the file and shows where the texts part.
Result<std::monostate> check_chat_template(const std::filesystem::path& model);

}  // namespace plateau::train
