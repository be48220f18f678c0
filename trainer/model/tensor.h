// SPDX-License-Identifier: Apache-2.0
// Completes Tensor for those who compute: costs a torch header, so only .cc files include it.
#pragma once

#include <ATen/ATen.h>

#include <utility>

#include "trainer/model/learner.h"

namespace plateau::train {

inline Tensor share(at::Tensor tensor) {
  return std::make_shared<at::Tensor>(std::move(tensor));
}

}  // namespace plateau::train
