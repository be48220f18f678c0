// SPDX-License-Identifier: Apache-2.0
#include "heap/stack_store.h"

namespace plateau {
namespace {

constexpr size_t kNodeBytes = 64;  // Of the hash table, for one entry, about.

}  // namespace

size_t StackStore::size_of(const Stored& stored) {
  return sizeof(Stored) + kNodeBytes + stored.native.capacity() * sizeof(uint64_t) +
         stored.python.capacity() * sizeof(trace::PythonFrameWords);
}

void StackStore::add(StackNews&& news) {
  // Full: the owner forgets stacks at the end of the round; until then a little more is taken.
  if (news.id == 0 || stack_bytes_ > kMaxStackBytes + kMaxStackBytes / 4) return;
  const auto [it, fresh] = stacks_.try_emplace(news.id);
  it->second.round = round_;
  if (!fresh) return;
  it->second.native = std::move(news.native);
  it->second.python = std::move(news.python);
  it->second.truncated = news.truncated;
  stack_bytes_ += size_of(it->second);
}

void StackStore::add(CodeNews&& news) {
  if (code_bytes_ > kMaxCodeBytes) return;
  const size_t bytes = sizeof(PythonCode) + kNodeBytes + news.code.file.size() +
                       news.code.function.size() + news.code.line_table.size();
  if (codes_.try_emplace(news.id, std::move(news.code)).second) code_bytes_ += bytes;
}

void StackStore::add(HeapModule&& module) {
  for (HeapModule& known : modules_) {
    if (known.begin != module.begin || known.build_id != module.build_id ||
        known.path != module.path) {
      continue;
    }
    known = std::move(module);
    return;
  }
  if (modules_.size() >= kMaxModules) return;
  module_bytes_ += sizeof(HeapModule) + module.path.size() + module.build_id.size();
  modules_.push_back(std::move(module));
}

void StackStore::keep_only(const std::unordered_set<uint64_t>& needed) {
  for (auto it = stacks_.begin(); it != stacks_.end();) {
    const bool stays = needed.contains(it->first) || it->second.round + 1 >= round_;
    if (stays) {
      ++it;
      continue;
    }
    stack_bytes_ -= size_of(it->second);
    it = stacks_.erase(it);
  }
}

void StackStore::fill(HeapTrack& track, const std::vector<uint64_t>& ids) const {
  track.modules = modules_;
  std::unordered_map<uint64_t, uint32_t> places;
  const auto place_of = [&](uint64_t code) {
    const auto [it, fresh] = places.try_emplace(code, static_cast<uint32_t>(track.codes.size()));
    if (!fresh) return it->second;
    const auto known = codes_.find(code);
    track.codes.push_back(known != codes_.end() ? known->second : PythonCode{.function = "?"});
    return it->second;
  };
  for (const uint64_t id : ids) {
    HeapStack& stack = track.stacks.emplace_back();
    const auto it = stacks_.find(id);
    if (it == stacks_.end()) continue;
    stack.native = it->second.native;
    stack.truncated = it->second.truncated;
    for (const trace::PythonFrameWords& frame : it->second.python) {
      stack.python.push_back({place_of(frame.code), frame.instruction, frame.entry != 0});
    }
  }
}

}  // namespace plateau
