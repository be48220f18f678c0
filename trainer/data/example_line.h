// SPDX-License-Identifier: Apache-2.0
// One line of a dataset becomes an example. docs/formats/dataset.md is the format.
//
// Knows nothing of files: whoever calls turns a picture's reference, which may be megabytes of
// base64 that are not copied for it, into bytes.
#pragma once

#include <string>

#include "base/result.h"
#include "trainer/data/dataset.h"

namespace plateau::train {

// Errors say what was expected, not where: the caller knows the line. `index` is left at 0.
Result<Example> parse_example_line(std::string line, const DatasetOptions& options,
                                   const PictureReader& read_picture);

}  // namespace plateau::train
