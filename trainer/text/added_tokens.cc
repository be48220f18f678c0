// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/added_tokens.h"

namespace plateau::train {

AddedTokenFinder::AddedTokenFinder(std::span<const AddedToken> tokens) : nodes_(1) {
  for (const AddedToken& token : tokens) {
    begins_[static_cast<unsigned char>(token.content.front())] = true;
    uint32_t node = 0;
    for (const char byte : token.content) {
      uint32_t child = child_of(node, byte);
      if (child == kNone) {
        child = static_cast<uint32_t>(nodes_.size());
        nodes_.push_back({.sibling = nodes_[node].child, .byte = byte});
        nodes_[node].child = child;
      }
      node = child;
    }
    nodes_[node].token = token.id;
  }
}

uint32_t AddedTokenFinder::child_of(uint32_t node, char byte) const {
  uint32_t child = nodes_[node].child;
  while (child != kNone && nodes_[child].byte != byte) child = nodes_[child].sibling;
  return child;
}

AddedTokenFinder::Found AddedTokenFinder::longest_at(std::string_view text, size_t at) const {
  Found longest = {.begin = at, .end = at};
  uint32_t node = 0;
  for (size_t end = at; end < text.size();) {
    node = child_of(node, text[end]);
    if (node == kNone) break;
    ++end;
    if (nodes_[node].token != kNone) {
      longest = {.begin = at, .end = end, .id = nodes_[node].token};
    }
  }
  return longest;
}

AddedTokenFinder::Found AddedTokenFinder::next(std::string_view text, size_t from) const {
  for (size_t at = from; at < text.size(); ++at) {
    if (!begins_[static_cast<unsigned char>(text[at])]) continue;
    const Found found = longest_at(text, at);
    if (found.begin != found.end) return found;
  }
  return {.begin = text.size(), .end = text.size()};
}

}  // namespace plateau::train
