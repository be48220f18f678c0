// SPDX-License-Identifier: Apache-2.0
// What a heap tracer costs an ordinary C++ program: records are built as JSON, written, parsed
// again and put into ordered and hashed maps, as services and preprocessing jobs do. Most blocks
// are small strings and tree nodes, with a few large buffers between them.
//
//   realistic [RECORDS]       default 60000: some two million allocations
//
// Prints a checksum, the same under every tracer.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "usage.h"

namespace {

nlohmann::json record_of(uint64_t number) {
  nlohmann::json record;
  record["id"] = number;
  record["name"] = "example-" + std::to_string(number * 2654435761U % 1000003);
  record["tags"] = {"train", number % 3 == 0 ? "short" : "a tag that does not fit in place"};
  for (uint64_t i = 0; i < 4; ++i) {
    record["values"].push_back({{"key", i}, {"weight", static_cast<double>(number % 97) / 7.0}});
  }
  return record;
}

struct Index {
  std::map<std::string, std::vector<uint64_t>> by_name;
  std::unordered_map<uint64_t, std::string> by_id;
};

void file(Index& index, const nlohmann::json& record) {
  const uint64_t id = record["id"].get<uint64_t>();
  index.by_name[record["name"].get<std::string>()].push_back(id);
  index.by_id[id] = record["tags"].dump();
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 60000;
  Index index;
  uint64_t checksum = 0;
  for (uint64_t number = 0; number < records; ++number) {
    const std::string text = record_of(number).dump();
    checksum = checksum * 31 + text.size();
    file(index, nlohmann::json::parse(text));
    if (number % 16 == 0) index.by_id.erase(number / 2);
  }
  for (const auto& [name, ids] : index.by_name) checksum = checksum * 31 + name.size() + ids.size();
  std::printf("%llu\n", static_cast<unsigned long long>(checksum));
  print_usage();
  return 0;
}
