// SPDX-License-Identifier: Apache-2.0
// Whatever stands in a recording: reading and describing it end, and the Run keeps its shape.
#include "import_fuzz.h"
#include "recording/checks_for_test.h"
#include "recording/record_codec.h"
#include "recording/recording.h"

namespace {

// The input cut into records with good checksums behind a good head, or no mutation would ever get
// past the checksum: a byte for the type, one for the length, then the payload.
std::string framed(std::string_view input) {
  std::string bytes(plateau::kRecordingMagic);
  bytes.push_back(static_cast<char>(plateau::kRecordingVersion));
  put_record(bytes, plateau::RecordType::head,
             plateau::encode_record(plateau::HeadRecord{.head = {}, .max_rows = 8, .stride = 1}));
  while (input.size() >= 2) {
    const auto type = static_cast<plateau::RecordType>(input[0]);
    const size_t size = std::min<size_t>(static_cast<uint8_t>(input[1]), input.size() - 2);
    put_record(bytes, type, input.substr(2, size));
    input.remove_prefix(2 + size);
  }
  return bytes;
}

void check(std::string_view bytes) {
  using plateau::require;
  const auto run = plateau::read_recording("fuzz", bytes);
  for (const bool json : {false, true}) {
    const auto lines = plateau::describe_recording("fuzz", bytes, json);
    require(lines.ok() == run.ok(), "what can be read can be described");
  }
  if (!run.ok()) {
    require(!run.error().message.empty(), "an error has a message");
    return;
  }
  require(plateau::check_shape(run.value()).empty(), "the run has its shape");
  for (const plateau::HeapTrack& heap : run.value().heaps) {
    require(plateau::check_heap_track(heap).empty(), "heaps point at what is there");
  }
  double last_s = -1;
  int64_t last_step = -1;
  for (const plateau::Instant& at : run.value().instants) {
    require(at.time_s >= last_s && at.step >= last_step, "time and step never fall");
    last_s = at.time_s;
    last_step = at.step;
  }
  plateau::fuzz_import(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), "recording");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(plateau::looks_like_recording(bytes) ? std::string(bytes) : framed(bytes));
  return 0;
}
