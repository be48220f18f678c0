// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/tokenizer_tables.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/json_writer.h"
#include "trainer/text/byte_alphabet.h"
#include "trainer/text/tokenizer_form.h"

namespace plateau::train {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// Ids index tables; the largest vocabularies have a few hundred thousand.
constexpr uint64_t kIdLimit = 1U << 24U;

// Reads into `tables_`; the first thing that is wrong ends it and is kept.
class TablesReader {
 public:
  bool read(const object& root) {
    object model;
    if (root["model"].get(model) != simdjson::SUCCESS) return fail("it has no model");
    return read_vocabulary(model) && read_added(root) && read_merges(model) && finish();
  }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }
  TokenizerTables take() { return std::move(tables_); }

 private:
  bool fail(std::string complaint) {
    complaint_ = std::move(complaint);
    return false;
  }

  bool read_vocabulary(const object& model) {
    object vocabulary;
    if (model["vocab"].get(vocabulary) != simdjson::SUCCESS) {
      return fail("the model's vocab is no object");
    }
    ids_.reserve(vocabulary.size());
    by_id_.reserve(vocabulary.size());
    for (const auto& field : vocabulary) {
      uint64_t id = 0;
      if (field.value.get(id) != simdjson::SUCCESS || id >= kIdLimit) {
        return fail(
            fmt::format("the id of token {} is not below {}", json_quoted(field.key), kIdLimit));
      }
      if (!ids_.emplace(field.key, static_cast<uint32_t>(id)).second) {
        return fail(fmt::format("token {} stands twice in the vocab", json_quoted(field.key)));
      }
      // What is spelled with other characters stands for itself, as it does to others.
      by_id_.emplace_back(static_cast<uint32_t>(id),
                          unspelled(field.key).value_or(std::string(field.key)));
    }
    for (size_t byte = 0; byte < 256; ++byte) {
      const char c = static_cast<char>(byte);
      const auto found = ids_.find(spelled({&c, 1}));
      if (found == ids_.end()) {
        return fail(fmt::format("byte 0x{:02x} is not in the vocab", byte));
      }
      tables_.byte_ids[byte] = found->second;
    }
    return true;
  }

  bool read_added(const object& root) {
    array list;
    if (root["added_tokens"].get(list) != simdjson::SUCCESS) {
      return fail("added_tokens is no list");
    }
    for (const element& entry : list) {
      if (!read_added_token(entry)) return false;
    }
    return true;
  }

  bool read_added_token(const element& entry) {
    std::string_view content;
    uint64_t id = 0;
    bool is_special = false;
    if (entry["content"].get(content) != simdjson::SUCCESS || content.empty() ||
        entry["id"].get(id) != simdjson::SUCCESS || id >= kIdLimit ||
        entry["special"].get(is_special) != simdjson::SUCCESS) {
      return fail("an added token lacks its content, id or special");
    }
    for (const std::string_view name : {"single_word", "lstrip", "rstrip", "normalized"}) {
      bool wish = true;
      if (entry[name].get(wish) != simdjson::SUCCESS || wish) {
        return fail(
            fmt::format("added token {} does not say \"{}\": false; nothing else is "
                        "understood",
                        json_quoted(content), name));
      }
    }
    const auto known = ids_.find(content);
    if (known != ids_.end() && known->second != id) {
      return fail(fmt::format("added token {} has id {} here and {} in the vocab",
                              json_quoted(content), id, known->second));
    }
    if (known == ids_.end()) by_id_.emplace_back(static_cast<uint32_t>(id), content);
    for (const AddedToken& other : tables_.added) {
      if (other.content == content) {
        return fail(fmt::format("added token {} stands there twice", json_quoted(content)));
      }
    }
    tables_.added.push_back({.content = std::string(content),
                             .id = static_cast<uint32_t>(id),
                             .is_special = is_special});
    return true;
  }

  // "a b" or ["a", "b"].
  static bool split_merge(const element& merge, std::string_view& left, std::string_view& right) {
    std::string_view both;
    if (merge.get(both) == simdjson::SUCCESS) {
      const size_t space = both.find(' ');
      if (space == std::string_view::npos || both.rfind(' ') != space) return false;
      left = both.substr(0, space);
      right = both.substr(space + 1);
    } else {
      array pair;
      if (merge.get(pair) != simdjson::SUCCESS || pair.size() != 2 ||
          pair.at(0).get(left) != simdjson::SUCCESS || pair.at(1).get(right) != simdjson::SUCCESS) {
        return false;
      }
    }
    return !left.empty() && !right.empty();
  }

  bool read_merges(const object& model) {
    array list;
    if (model["merges"].get(list) != simdjson::SUCCESS) {
      return fail("the model's merges are no list");
    }
    // Counted by hand: size() of a list stops at 16,777,215.
    size_t count = 0;
    for (auto at = list.begin(); at != list.end(); ++at) ++count;
    tables_.merges = MergeTable(count);
    uint32_t rank = 0;
    std::string joined;
    for (const element& merge : list) {
      std::string_view left;
      std::string_view right;
      if (!split_merge(merge, left, right)) {
        return fail(fmt::format("merge {} is not a pair of tokens", rank));
      }
      joined.assign(left).append(right);
      const auto a = ids_.find(left);
      const auto b = ids_.find(right);
      const auto both = ids_.find(joined);
      if (a == ids_.end() || b == ids_.end() || both == ids_.end()) {
        return fail(fmt::format("merge {} is of {}, and one of the three is not in the vocab", rank,
                                json_quoted(fmt::format("{} {}", left, right))));
      }
      tables_.merges.set(a->second, b->second, {.rank = rank, .id = both->second});
      ++rank;
    }
    return true;
  }

  bool finish() {
    std::sort(by_id_.begin(), by_id_.end());
    const auto twice =
        std::adjacent_find(by_id_.begin(), by_id_.end(),
                           [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice != by_id_.end()) return fail(fmt::format("id {} stands there twice", twice->first));
    for (const auto& [id, bytes] : by_id_) tables_.tokens.add(id, bytes);
    std::sort(tables_.added.begin(), tables_.added.end(),
              [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
    return true;
  }

  TokenizerTables tables_;
  std::string complaint_;
  std::unordered_map<std::string_view, uint32_t> ids_;  // Into the parsed file.
  std::vector<std::pair<uint32_t, std::string>> by_id_;
};

Error bad_file(const std::string& file, std::string_view complaint) {
  return {Error::Kind::bad_input, fmt::format("{}: {}", file, complaint)};
}

}  // namespace

void TokenBytes::add(uint32_t id, std::string_view bytes) {
  const auto before = static_cast<uint32_t>(bytes_.size());
  ends_.resize(static_cast<size_t>(id) + 1, before);
  exists_.resize(ends_.size(), false);
  bytes_ += bytes;
  ends_[id] = static_cast<uint32_t>(bytes_.size());
  exists_[id] = true;
}

std::optional<std::string_view> TokenBytes::find(int64_t id) const {
  if (id < 0 || static_cast<uint64_t>(id) >= ends_.size()) return std::nullopt;
  const auto at = static_cast<size_t>(id);
  if (!exists_[at]) return std::nullopt;
  const uint32_t begin = at == 0 ? 0 : ends_[at - 1];
  return std::string_view(bytes_).substr(begin, ends_[at] - begin);
}

Result<TokenizerTables> read_tokenizer_tables(std::string_view json, const std::string& file) {
  // The bytes of all tokens together are then below 4 GiB, and so are ranks.
  constexpr size_t kLongest = size_t{1} << 30U;
  if (json.size() > kLongest) return bad_file(file, "longer than 1 GiB");
  simdjson::dom::parser parser;
  simdjson::dom::object root;
  const simdjson::error_code code = parser.parse(simdjson::padded_string(json)).get(root);
  if (code != simdjson::SUCCESS) {
    return bad_file(file, fmt::format("not a JSON object: {}", simdjson::error_message(code)));
  }
  if (const auto unknown = unknown_in_tokenizer(root)) return bad_file(file, *unknown);
  TablesReader reader;
  if (!reader.read(root)) return bad_file(file, reader.complaint());
  return reader.take();
}

}  // namespace plateau::train
