// SPDX-License-Identifier: Apache-2.0
// A job under watch as the facts that /metrics tells of a run, so that one dashboard serves both.
//
// Memory is that of the last look, which is newer than the verdict. Of processes there is one row a
// role and not one a pid: workers come and go every epoch, and each pid would leave a series in the
// database for good.
#pragma once

#include "probe/snapshot.h"
#include "serve/run_facts.h"
#include "verdict/verdict.h"

namespace plateau::push {

// `snapshot` may be none: the job is over. Name, path and labels are the caller's to fill in.
RunFacts live_facts(const Verdict& verdict, const Snapshot* snapshot, double unix_s);

}  // namespace plateau::push
