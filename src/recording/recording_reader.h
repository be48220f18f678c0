// SPDX-License-Identifier: Apache-2.0
// From the bytes of a recording to its log; read_recording() in recording.h goes on to the Run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recording/record_codec.h"
#include "recording/recording_log.h"

namespace plateau {

// A record that was met, and why reading ended there if it did.
struct ReadRecord {
  size_t offset = 0;
  RecordFrame frame;  // Points into the bytes read.
  std::string trouble;
};

// Replays every record into a log, and lists them in `records` if that is given. Fails as
// read_recording() does; damage further on ends the reading and is noted in the log.
Result<RecordingLog> load_recording(std::string_view name, std::string_view bytes,
                                    std::vector<ReadRecord>* records = nullptr);

}  // namespace plateau
