// SPDX-License-Identifier: Apache-2.0
// The process that copies a job's output to where it was going, and a second copy to the watcher.
//
// It exists so that the watcher can be slow, stopped or killed without the job noticing: the relay
// holds the channel, does nothing but read and write, and ends when the job's last writer has. The
// copy for the watcher goes into a pipe that never blocks: when it is full, bytes are dropped (with
// a line break in their place, so that two halves do not make one line). If the destination goes
// away (`| head`), the relay closes the channel, so that the job gets the same error as without us.
#pragma once

#include <sys/types.h>

#include "base/fd.h"
#include "base/result.h"
#include "session/channel.h"

namespace plateau {

struct Relay {
  pid_t pid = -1;
  Fd copy;  // Non-blocking read end of the watcher's copy.
  // The channel with a descriptor of our own for what it reads from, if start_job() made one: then
  // a relay that is killed can be replaced, and the job is not told that nobody reads any more. To
  // be closed once the relay has ended by itself.
  Channel spare;
};

// Forks the relay of `channel`; takes its `our_end`. `job_group` is told when the terminal's size
// changes. The relay holds no other descriptor of ours open. It is a child of this process and
// ends with the last writer of the channel.
Result<Relay> start_relay(Channel& channel, pid_t job_group);

// The same channel with a descriptor of its own; not open if there is none left.
Channel spare_of(const Channel& channel);

}  // namespace plateau
