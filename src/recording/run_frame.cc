// SPDX-License-Identifier: Apache-2.0
#include "recording/run_frame.h"

namespace plateau {

Run frame_of(const Run& run) {
  Run frame;
  frame.source = run.source;
  frame.format = run.format;
  frame.title = run.title;
  frame.context = run.context;
  frame.instants = run.instants;
  frame.events = run.events;
  frame.command = run.command;
  frame.host = run.host;
  frame.ending = run.ending;
  frame.epoch_time = run.epoch_time;
  return frame;
}

}  // namespace plateau
