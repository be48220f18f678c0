// SPDX-License-Identifier: Apache-2.0
// What a look at the holders of a process found, and what a later look is compared with.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "recording/holder.h"

namespace plateau {

// What a later look is compared with. Addresses and hashes are those of one process.
struct HolderIndex {
  struct Size {
    uint64_t containers = 0;
    uint64_t length = 0;
    uint64_t objects = 0;
  };
  std::unordered_map<uint64_t, Size> places;          // By what leads there.
  std::unordered_map<uint64_t, Size> families;        // The same, whatever the key.
  std::unordered_map<uint64_t, uint64_t> lengths;     // By address of the container.
  std::unordered_map<uint64_t, uint64_t> depths;      // By place: of the graphs of tensors there.
  std::unordered_map<std::string, uint64_t> unseen;   // Objects by type.
  std::unordered_map<std::string, uint64_t> objects;  // The same, seen or not.
  size_t modules = 0;                                 // That were imported by then.
};

struct HolderFindings {
  std::vector<Holder> holders;  // Most growing first; in a first look the largest first.
  HolderIndex index;
  uint64_t objects_reached = 0;
  // Why there are none ("3.7 keeps its frames elsewhere"); "" if all went well.
  std::string trouble;
};

}  // namespace plateau
