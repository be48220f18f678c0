// SPDX-License-Identifier: Apache-2.0
// Which lines of a program add to what is known to grow, and where what they add was made.
//
// Question. A census names the container, `losses` in `train`; the line to change is the one that
// fills it. Watching the program run would tell, at the price of slowing or altering it.
//
// Method. The census knows the name, the function or class and the file: the text of the program is
// read instead, which costs the job nothing. A line adds to `losses` where it calls
// losses.append(), extend(), add(), ..., or says losses[key] = ..., losses += ..., or binds it to
// something made of itself (losses = losses + [loss]; h = cell(x, h)). What is added was made in
// the same line, or, where it is a plain name, in the line that bound the name last before.
//
//     40  loss = model(batch).loss      made
//     41  losses.append(loss)           added
//
// Blind spot. Names, not objects: a container that is filled under another name (an argument, an
// alias) has no line here, and of an attribute whose class has none the lines that add to any
// attribute of that name in the file count. Which of several lines ran is not known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plateau {

struct AddingLine {
  int line = 0;
  int made_line = 0;  // 0: not known.
};

// What grows, as a census names it.
struct GrowingName {
  enum class Scope : uint8_t { function, enclosing, module, attribute };
  Scope scope = Scope::module;
  std::string path;       // "losses", "trainer.history.records", "state['losses']", "table[*]".
  std::string function;   // Of scope function, enclosing: "Trainer.train"; the part after the last
                          // dot counts.
  std::string owner;      // Of an attribute: the class, "data.Images"; "" if not known.
  int line = 0;           // Within the function; 0: not known.
  bool assigned = false;  // Also lines that bind it to something new: it does not grow.
};

// In the order of the text.
std::vector<AddingLine> find_adding_lines(std::string_view source, const GrowingName& wanted);

}  // namespace plateau
