// SPDX-License-Identifier: Apache-2.0
// Every explanation that competed, with its weight and what speaks for and against it.
#pragma once

#include <string>

#include "report/text.h"
#include "verdict/verdict.h"

namespace plateau {

// Follows render_verdict() on the screen; "" if there are no explanations.
std::string render_explain(const Verdict& verdict, const View& view);

}  // namespace plateau
