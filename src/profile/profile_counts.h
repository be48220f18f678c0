// SPDX-License-Identifier: Apache-2.0
// The Python client's census in a profile: objects by type, tensors by shape, each judged as a
// series of counts over the steps.
//
// The client sends at most 14 types and 10 shapes a time, those that grew most; what it never sent
// is not known here.
#pragma once

#include "profile/profile.h"

namespace plateau {

// Fills types and tensors, growing first, from the gauges of process `pid`; of all processes if
// none of them belongs to it.
void add_counts(const Run& run, int64_t pid, const Policy& policy, HeapProfile& profile);

// Bytes of one element: 4 for "float32". 0 if the type is not known.
size_t element_bytes(std::string_view dtype);

}  // namespace plateau
