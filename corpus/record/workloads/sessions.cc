// SPDX-License-Identifier: Apache-2.0
// A server in small: sessions come with a burst of blocks of many sizes and go after some steps.
// Of each session a small record is kept for ever in a list (nobody expires it). The records lie
// scattered among freed blocks and pin their pages, so memory grows faster than the live bytes.
// With `expire` > 0 the records are dropped after that many steps: bounded, after a first rise.
#include "steps.h"

namespace {
struct Session {
  int ends;
  std::vector<std::unique_ptr<char[]>> blocks;
};
struct Record {
  int made;
  std::unique_ptr<char[]> body;
};
}  // namespace

int main(int argc, char** argv) {
  Job job(argc, argv);
  const int sessions_per_step = static_cast<int>(job.get("sessions", 20));
  const int blocks_per_session = static_cast<int>(job.get("blocks", 60));
  const int expire = static_cast<int>(job.get("expire", 0));
  const auto record_size = static_cast<size_t>(job.get("record", 400));
  std::deque<Session> live;
  std::deque<Record> records;
  for (int step = 1; step <= job.steps(); ++step) {
    job.train();
    for (int s = 0; s < sessions_per_step; ++s) {
      Session session{step + static_cast<int>(job.uniform(1, 12)), {}};
      for (int b = 0; b < blocks_per_session; ++b) {
        session.blocks.push_back(Job::filled(static_cast<size_t>(job.uniform(50, 3000))));
        if (b % 8 != 0) continue;
        records.push_back({step, Job::filled(record_size)});
        if (!expire) job.leak(record_size);
      }
      live.push_back(std::move(session));
    }
    std::erase_if(live, [&](const Session& s) { return s.ends <= step; });
    while (expire && records.front().made <= step - expire) {
      records.pop_front();
      job.growth_ends(step);
    }
    job.end_step(step);
  }
  job.done();
}
