// SPDX-License-Identifier: Apache-2.0
// In this order: bytes that are no UTF-8 become U+FFFD; added tokens are cut out; what lies between
// them is normalised (each stretch by itself, so that a mark never composes across a token), cut
// into pieces, and each piece merged.
//
// Worked case: "I'm<|im_end|>" with special tokens parsed is "I'm" and one added token; the stretch
// is the pieces "I" and "'m"; Qwen2.5 gives 40, 2776 and 151645.
#include "trainer/text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "trainer/text/added_tokens.h"
#include "trainer/text/bpe.h"
#include "trainer/text/byte_alphabet.h"
#include "trainer/text/pretokenizer.h"
#include "trainer/text/tokenizer_tables.h"
#include "trainer/text/unicode.h"

namespace plateau::train {

struct Tokenizer::State {
  explicit State(TokenizerTables read) : tables(std::move(read)), finder(tables.added) {}
  TokenizerTables tables;
  AddedTokenFinder finder;

  [[nodiscard]] const AddedToken* added(int64_t id) const {
    const auto at =
        std::lower_bound(tables.added.begin(), tables.added.end(), id,
                         [](const AddedToken& token, int64_t wanted) { return token.id < wanted; });
    return at != tables.added.end() && at->id == id ? &*at : nullptr;
  }

  void append_stretch(std::string_view stretch, BpeMerger& merger, Encoded& out) const {
    const size_t offset = out.text.size();
    out.text += to_nfc(stretch);
    const std::string_view text = std::string_view(out.text).substr(offset);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = piece_end(text, begin);
      merger.append(text.substr(begin, end - begin), offset + begin, out.tokens);
      begin = end;
    }
  }
};

Tokenizer::Tokenizer(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::read(const std::filesystem::path& tokenizer_json) {
  std::ifstream in(tokenizer_json, std::ios::binary);
  if (!in) {
    return Error{Error::Kind::not_found, fmt::format("{}: cannot be opened; a model's directory "
                                                     "holds its tokenizer.json",
                                                     tokenizer_json.string())};
  }
  const std::string json{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) {
    return Error{Error::Kind::not_found,
                 fmt::format("{}: cannot be read", tokenizer_json.string())};
  }
  return parse(json, tokenizer_json.string());
}

Result<Tokenizer> Tokenizer::parse(std::string_view json, const std::string& file) {
  Result<TokenizerTables> tables = read_tokenizer_tables(json, file);
  if (!tables) return tables.error();
  return Tokenizer(std::make_unique<const State>(std::move(tables.value())));
}

Tokenizer::Encoded Tokenizer::encode_with_ranges(std::string_view text,
                                                 SpecialTokens special) const {
  const std::string valid = to_valid_utf8(text);
  const std::string_view rest = valid;
  Encoded out;
  out.text.reserve(valid.size());
  BpeMerger merger(state_->tables.merges, state_->tables.byte_ids);
  for (size_t at = 0; at < rest.size();) {
    const AddedTokenFinder::Found none = {.begin = rest.size(), .end = rest.size()};
    const auto found = special == SpecialTokens::parse ? state_->finder.next(rest, at) : none;
    state_->append_stretch(rest.substr(at, found.begin - at), merger, out);
    at = found.end;
    if (found.begin == found.end) break;
    const size_t begin = out.text.size();
    out.text += rest.substr(found.begin, found.end - found.begin);
    out.tokens.push_back({.id = found.id, .begin = begin, .end = out.text.size()});
  }
  return out;
}

std::vector<int64_t> Tokenizer::encode(std::string_view text, SpecialTokens special) const {
  const Encoded encoded = encode_with_ranges(text, special);
  std::vector<int64_t> ids;
  ids.reserve(encoded.tokens.size());
  for (const Token& token : encoded.tokens) ids.push_back(token.id);
  return ids;
}

std::string Tokenizer::decode(std::span<const int64_t> ids, bool skip_special) const {
  std::string out;
  for (const int64_t id : ids) {
    if (skip_special && is_special(id)) continue;
    out += state_->tables.tokens.find(id).value_or("");
  }
  return out;
}

std::optional<int64_t> Tokenizer::id_of(std::string_view token) const {
  for (const AddedToken& added : state_->tables.added) {
    if (added.content == token) return added.id;
  }
  // Seldom asked: looking through the bytes saves a second table of all names.
  const std::string bytes = unspelled(token).value_or(std::string(token));
  for (int64_t id = 0; id < size(); ++id) {
    if (state_->tables.tokens.find(id) == bytes && state_->added(id) == nullptr) return id;
  }
  return std::nullopt;
}

bool Tokenizer::is_special(int64_t id) const {
  const AddedToken* token = state_->added(id);
  return token != nullptr && token->is_special;
}

int64_t Tokenizer::size() const {
  return static_cast<int64_t>(state_->tables.tokens.size());
}

}  // namespace plateau::train
