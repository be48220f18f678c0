// SPDX-License-Identifier: Apache-2.0
// Who holds memory, as a reader says it.
#pragma once

#include <string>

#include "recording/holder.h"

namespace plateau {

// "list `losses` in `train` (train.py:41)". Printable.
std::string holder_name(const Holder& holder);

// "12,400 torch.Tensor, with grad_fn", "8,000 PIL.Image.Image and 20 NoneType"; "" if not known.
std::string held_words(const Holder& holder);

// "list `losses` in `train` (train.py:41): 400 → 12,400 torch.Tensor". `steps`: between the two
// looks, for "3 per step"; 0: not known.
std::string holder_words(const Holder& holder, double steps = 0);

// A container was seen to hold the growth, and no tensor in it: advice about tensors does not fit.
bool holds_no_tensors(const Holder& holder);

}  // namespace plateau
