// SPDX-License-Identifier: Apache-2.0
// Plateau's own recording: what a watcher appends while a job runs, and what is read back.
// docs/formats/recording.md explains the file byte by byte.
//
// Both sides meet in RecordingLog, the table in memory. A Writer is a log that also appends every
// change to a file; reading a file replays the appends into a log. So the Run that a live verdict
// is given and the Run that the file gives afterwards are the same by construction.
//
// Bounded: once there are kMaxRows rows, neighbouring old rows are merged. A merged row stands for
// all samples of its span and keeps two of them whole, the one at which the tree owned least and
// the one at which it owned most, with the mean of every column; to_run() yields both. Events are
// all kept. The file is then written anew beside the old one and renamed over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hidden.h"
#include "base/result.h"
#include "recording/facts.h"
#include "recording/row_codec.h"
#include "recording/run.h"

namespace plateau {

// What is said once, at the start.
struct RecordingHead {
  std::string command;  // Of the job, as a shell would take it.
  std::string host;
  std::string plateau_version;
  double started_unix_s = 0;  // Wall clock at time_s = 0.
  double interval_s = 0;      // Nominal distance of samples; 0: it varies.
  bool keep_secrets = false;  // Write texts as they are (base/redact.h); a note then says so.
};

// Without finish() the recording simply stops, as after a kill.
class RecordingWriter {
 public:
  static constexpr size_t kMaxRows = 4096;
  static constexpr size_t kMaxEvents = 100000;

  // Creates `path`, mode 0600; fails if it holds anything, unless it is to be `replaced`. An empty
  // path keeps everything in memory only.
  static Result<RecordingWriter> create(const std::string& path, const RecordingHead& head,
                                        size_t max_rows = kMaxRows, bool replaced = false);

  // Each returns an index; a process is the same if id and start are (the kernel reuses pids).
  size_t process(const Process& process, uint64_t start_ticks);
  // Role, reason, name or parent of a known process changed.
  void update_process(size_t index, const Process& process);
  size_t memory_column(size_t process, Metric metric);
  size_t gauge_column(size_t process, std::string_view name);

  // The time must not fall; step and epoch go on from the last known ones. Columns without a value
  // are NaN at this row of the Run.
  void row(const Sample& sample);
  // At the row that comes next; the last one if there is none.
  void event(EventKind kind, std::string_view text, double time_s);
  // `text` of those that are names, at most kMaxFactText of it; their value is 0.
  void fact(FactField which, double value, std::string_view source, std::string_view text = {});
  void note(std::string_view text);  // Shown to readers of the recording; said once.
  // The heap of a process as encode_heap_track() gives it; takes the place of the pid's track
  // before it. Of more than 64 processes those whose tracks came last are kept, and a note says so.
  // Tracks that were replaced are cleared out of the file once they are most of it.
  void heap(int64_t pid, std::string_view encoded_track);
  // Takes the place of what was said before.
  void holders(HolderGrowth growth);
  void finish(const Ending& ending);

  // What reading the file would give now (source and format differ). Steps: rows before the first
  // known step stand right before it (at 0 for a job that starts with step 1), so that a job with
  // steps is judged by them from its start.
  // Heaps take up to 40 ms each to unpack: verdicts while a job runs do without.
  [[nodiscard]] Run run(bool with_heaps = true) const;
  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] uint64_t bytes_written() const;  // Of the current file.

  // Why nothing is written any more ("disk full"), once; empty while all is well. The log in
  // memory goes on.
  std::string trouble();

 private:
  struct State;
  explicit RecordingWriter(Hidden<State> state) : state_(std::move(state)) {}
  Hidden<State> state_;
};

// Does `bytes` begin like a recording?
bool looks_like_recording(std::string_view bytes);

// Reads a recording. A torn or damaged tail is not an error: all records before it are used and a
// note says how many bytes were left out. Fails only if the head itself cannot be read, or is of a
// newer version; the message is "NAME is ...", without the name if that is empty.
Result<Run> read_recording(std::string_view name, std::string_view bytes);

// Every record of a recording as one line of text, or as one JSON object; damaged ones with their
// offset and reason. For `plateau dump`.
Result<std::vector<std::string>> describe_recording(std::string_view name, std::string_view bytes,
                                                    bool json);

}  // namespace plateau
