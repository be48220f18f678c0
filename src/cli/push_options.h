// SPDX-License-Identifier: Apache-2.0
// --push, --textfile and what goes with them, for those who watch a job live.
#pragma once

#include <string>

#include "base/result.h"
#include "command/verb.h"
#include "push/courier.h"
#include "push/write_request.h"

namespace plateau {

struct PushRequest {
  push::CourierOptions courier;
  push::LabelList labels;  // Of every figure, as the user wants them.
  double every_s = 15;

  [[nodiscard]] bool any() const { return !courier.url.empty() || !courier.textfile.empty(); }
};

Options push_options();
Result<PushRequest> push_request(const Arguments& arguments);

}  // namespace plateau
