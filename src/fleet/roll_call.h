// SPDX-License-Identifier: Apache-2.0
// Who is there: all label sets that had samples in the window, also of a database that will not
// name so many at once.
//
// Databases bound /api/v1/series (VictoriaMetrics to 30,000, Mimir as it is set up), and a fleet
// may be larger. Where the whole is too much, the values of a label are asked for, by a count, and
// the question is halved by them until each part is answered, first by namespace, then by others;
// and one part more asks for those whose value had no sample at the end of the window.
//
// Blind spot: more than the bound with all of those labels alike, which is refused as before.
#pragma once

#include <string>

#include "fleet/database.h"
#include "fleet/shard_pull.h"

namespace plateau::fleet {

// Fails as the first part does that cannot be had.
Reply roll_call(Database& database, const Question& question);

}  // namespace plateau::fleet
