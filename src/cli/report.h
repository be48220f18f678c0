// SPDX-License-Identifier: Apache-2.0
// `plateau report`: everything about a run in one HTML file.
#pragma once

#include "command/verb.h"

namespace plateau {

Verb report_verb();

}  // namespace plateau
