// SPDX-License-Identifier: Apache-2.0
// A heap profile for other people's viewers.
//
//   export_folded      flamegraph.pl, inferno, speedscope: a line per stack
//   export_speedscope  https://www.speedscope.app: JSON
//   export_pprof       pprof, Pyroscope, Parca: profile.proto, gzipped
//
// Pure. Any text may stand in names. All three keep every frame that they are given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recording/heap_track.h"
#include "symbols/stack_names.h"

namespace plateau {

struct ExportStack {
  std::vector<FrameName> frames;  // Root first: the outermost call, then inwards.
  double bytes = 0;               // Alive.
  double blocks = 0;              // Alive.
  double growth_bytes = 0;        // Between the moments compared; may be below 0.
};

struct ExportProfile {
  std::string name;  // "train.py, process 4242"
  std::vector<ExportStack> stacks;
  std::vector<HeapModule> modules;  // Where addresses and build ids are taken from; may be empty.
  double interval_bytes = 0;        // Mean distance of samples; 0 when exact.
};

// "root;middle;leaf 123\n", in order of text, equal stacks summed. A semicolon in a name becomes a
// colon and a control character a space, because the format has no way to write them. Viewers want
// whole numbers above 0: lines that would be less are left out.
std::string export_folded(const ExportProfile& profile);

// Two sampled profiles in bytes, live memory and what grew; the second only if something did.
std::string export_speedscope(const ExportProfile& profile);

// Sample types inuse_objects/count, inuse_space/bytes (shown first) and growth/bytes. Native frames
// have addresses and mappings with build ids; inlined calls are lines of one location.
std::string export_pprof(const ExportProfile& profile);

}  // namespace plateau
