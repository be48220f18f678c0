// SPDX-License-Identifier: Apache-2.0
// From holders to the lines of the program that fill them: which file is read, and for which name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "census/memory_reader.h"
#include "census/roots.h"
#include "recording/holder.h"

namespace plateau {

// The text of a file of the program, by the name that Python knows it by; nullopt if it is not
// there or not what was run.
using ProgramText = std::function<std::optional<std::string>(const std::string& file)>;

// Fills `added_at`, as far as the program's text tells (census/adding_lines.h). The files looked
// into are those of the variable and of the class whose attribute it is.
void name_lines(MemoryReader& memory, const PythonLayout& layout, const Roots& roots,
                const ProgramText& text, std::vector<Holder>& holders);

}  // namespace plateau
