// SPDX-License-Identifier: Apache-2.0
// Secrets out of a Run that was read: a recording of an earlier version, or a foreign log, may hold
// some. What a RecordingWriter writes holds none, unless that was wished (RecordingHead).
#pragma once

#include "recording/run.h"

namespace plateau {

// Said in a recording whose writer was to keep secrets; such a one is read as it is.
inline constexpr const char* kSecretsKeptNote =
    "secrets in its command line and names were kept (--no-redact)";

// Command, names, reasons, events, notes, sources: all text but the file's own name.
void redact(Run& run);

}  // namespace plateau
