// SPDX-License-Identifier: Apache-2.0
// What a dataset calls a picture: a path, a data: URL, or bare base64.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trainer/data/dataset.h"

namespace plateau::train {

// A relative path is looked for in `folder` first, then in the working directory. Text that is no
// file and begins like a JPEG, PNG or WebP in base64 is that. URLs are not fetched: an error.
// `number` names a picture that has no path.
Result<PictureSource> read_picture_reference(std::string_view reference, size_t number,
                                             const std::filesystem::path& folder);

}  // namespace plateau::train
