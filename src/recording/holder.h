// SPDX-License-Identifier: Apache-2.0
// Who holds the Python objects of a process: containers, the name a reader knows them by, and what
// they hold.
//
//   list `losses` in `train` (train.py:41): 400 → 12,400 torch.Tensor, added at train.py:43
//
// These are facts, found by src/census and kept in the recording; src/words tells them. All texts
// come from the job and are hostile until printed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace plateau {

// Where the chain that leads to a container begins.
enum class HolderKind : uint8_t {
  global,           // A variable of a module.
  class_attribute,  // A variable of a class.
  local,            // A variable of a function that runs, or of a generator that waits.
  closure,          // A variable that a function has closed over.
  lru_cache,        // What functools.lru_cache remembers for a function.
  thread,           // A value local to a thread.
  temporary,        // In use by a function, without a name.
  unseen,           // No container that could be read holds it.
};
// "global", "class attribute", ...: stable, as in JSON.
const char* holder_kind_name(HolderKind kind);

struct HeldType {
  std::string type;
  uint64_t count = 0;
  bool tensor = false;  // torch.Tensor or a subclass.
};

// A line of the program that adds to a container.
struct SourceLine {
  std::string file;
  int line = 0;
  int made_line = 0;  // Where what it adds was made, in the same file; 0: not known.
};

struct Holder {
  HolderKind kind = HolderKind::unseen;
  std::string path;      // "losses", "trainer.history.records", "table[*]"; "" if unseen.
  std::string type;      // Of the container: "list". If unseen: of the objects.
  std::string owner;     // Class of the object whose attribute it is; "" if it is none.
  std::string module;    // Of a global or class attribute.
  std::string function;  // Of a local, closure or cache.
  std::string file;      // Of the module or function; "" if not known.
  int line = 0;          // Where a function was when it was looked at, or begins; 0: not known.
  bool chain = false;    // Objects that hold each other one by one, and no container.

  uint64_t containers = 1;     // Of this path: more than one for "table[*]".
  uint64_t length_before = 0;  // Of all of them; in a first look the same as length_after.
  uint64_t length_after = 0;
  bool is_new = false;  // It was not there before; only for a second look.
  // Most first. Sampled where it was too much: then the counts are scaled up, and `looked_at` of
  // them were read.
  std::vector<HeldType> holds;
  uint64_t looked_at = 0;
  uint64_t tensors_looked_at = 0;   // Of these so many tensors had a graph that could be read ...
  uint64_t tensors_with_graph = 0;  // ... and a grad_fn.
  // Operations on the longest way through the deepest graph of these; -1: not known.
  int64_t graph_depth = -1;
  int64_t graph_depth_before = -1;  // Only of a tensor that is no item of a container.
  std::vector<SourceLine> added_at;

  [[nodiscard]] int64_t grew() const {
    return static_cast<int64_t>(length_after) - static_cast<int64_t>(length_before);
  }
  // By how many operations the graph behind one tensor became deeper.
  [[nodiscard]] int64_t deepened() const {
    return graph_depth_before >= 0 ? graph_depth - graph_depth_before : 0;
  }
};

// Every text of it, to be cut, cleaned or redacted.
void each_text(Holder& holder, const std::function<void(std::string&)>& change);

// What grew between two looks into one process.
struct HolderGrowth {
  int64_t pid = 0;
  double from_s = 0;  // When it was looked at, on the clock of the recording.
  double to_s = 0;
  int64_t from_step = -1;  // -1: not known.
  int64_t to_step = -1;
  double stopped_s = 0;  // For how long it stood still, both looks together.
  std::vector<Holder> holders;

  // Between the two; 0 if not known.
  [[nodiscard]] double steps() const {
    return from_step >= 0 && to_step > from_step ? static_cast<double>(to_step - from_step) : 0;
  }
};

}  // namespace plateau
