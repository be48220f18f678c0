// SPDX-License-Identifier: Apache-2.0
// Which names are those of secrets, and which values such a name makes one.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/redact.h"
#include "base/text.h"

namespace plateau {
namespace {

using Words = std::string_view;  // Separated by blanks.

// A name that ends in one of these is that of a secret, whatever comes before.
constexpr auto kCertainEnds = std::to_array<std::string_view>(
    {"password",   "passwd",        "passphrase", "secret",     "secrets",   "apikey",
     "authtoken",  "accesstoken",   "secretkey",  "privatekey", "accesskey", "requirepass",
     "masterauth", "authorization", "bearer",     "sshpass",    "passcode",  "authkey",
     "storepass",  "keypass",       "dbpass",     "userpass",   "rootpass",  "adminpass",
     "passwort",   "kennwort",      "contrasena", "senha",      "passe"});

// Before "token": of these it is one that opens a door,
constexpr Words kDoorTokens =
    " auth access api bearer refresh session secret hf hub huggingface github gitlab gh wandb "
    "slack bot security push login oauth oauth2 jwt personal service account admin app deploy "
    "registry npm pypi vault consul influx neptune comet kaggle replicate cloud csrf id private ";
// and of these a piece of text.
constexpr Words kTextTokens =
    " pad eos bos eot unk mask sep cls special image img video audio vision speech start end stop "
    "begin prompt per max min num new next first last each think blank extra fim object box point "
    "tool task lang language decoder encoder forced placeholder trigger class instance initializer "
    "modifier target source assistant system single added separator delimiter padding masked "
    "sample every byte word sub prev previous current total ";
// Before "key": of these it is one that opens a door.
constexpr Words kDoorKeys =
    " api access secret private auth encryption encrypt signing sign ssh license licence account "
    "storage subscription master service admin wandb openai anthropic hf huggingface aws azure gcp "
    "google s3 comet neptune kaggle cohere mistral groq session shared app client deploy root "
    "webhook stripe sendgrid vault connection functions tls rsa ";
// Before "pass": of these it is a password even if it is a number,
constexpr Words kDoorPasses =
    " db user smtp ftp http https admin root mysql pg postgres redis mail email login auth proxy "
    "ssh rsync vnc basic sasl keystore master ";
// and of these a pass over the data.
constexpr Words kDataPasses =
    " one two three n num single multi first second third last per forward backward fwd bwd full "
    "half low high band each every by extra final render optimizer optimization compiler graph fx "
    "inductor training train eval validation test data epoch batch through ";
// What may follow the word that counts.
constexpr Words kTails = " value text string str b64 base64 hex raw plain base ";

bool among(Words words, std::string_view word) {
  return words.find(" " + std::string(word) + " ") != Words::npos;
}

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

// "hfToken", "--hf-token" and "HF_TOKEN" are {"hf", "token"}.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool hump = is_upper(c) && i > 0 && is_lower(name[i - 1]);
    const bool gap = !is_letter(c) && !is_digit(c);
    if ((hump || gap) && !parts.back().empty()) parts.emplace_back();
    if (!gap) parts.back() += ascii_lower(c);
  }
  if (parts.back().empty()) parts.pop_back();
  while (parts.size() > 1 && among(kTails, parts.back())) parts.pop_back();
  return parts;
}

// "secrets.hf", "fs.azure.account.key.NAME.dfs.core.windows.net": a part before says what it is.
bool has_secret_before(std::string_view name) {
  for (const std::string_view part : {"secrets.", "secret.", "credentials.", "account.key."}) {
    const size_t at = name.find(part);
    if (at != std::string_view::npos && (at == 0 || !is_letter(name[at - 1]))) return true;
  }
  return false;
}

bool is_number(std::string_view value) {
  return parse_double(value).has_value();
}

bool is_path(std::string_view value) {
  return value.starts_with('/') || value.starts_with("./") || value.starts_with("../") ||
         value.starts_with("~/") || value.starts_with("file:") || value.starts_with('@') ||
         value.ends_with(".json") || value.ends_with(".pem") || value.ends_with(".key") ||
         value.ends_with(".txt");
}

// A wish, a variable, a placeholder: nothing that opens a door.
bool says_nothing(std::string_view value) {
  constexpr Words kWishes =
      " true false yes no on off none null nil auto default prompt stdin env ask ";
  if (value.empty() || value == "-" || value.find(kRedacted) != std::string_view::npos) return true;
  if (value.starts_with('$') || value.starts_with('%') ||
      value.find_first_not_of("*xX.") == std::string_view::npos) {
    return true;
  }
  if (is_variable_name(value)) return true;
  std::string small(value.substr(0, 16));
  for (char& c : small) c = ascii_lower(c);
  return value.size() < 16 && among(kWishes, small);
}

bool is_bracketed(std::string_view value) {
  return (value.starts_with('<') && value.ends_with('>')) ||
         (value.starts_with('[') && value.ends_with(']')) || value.starts_with("</");
}

// Long, of letters and digits together, and of nothing that words are parted by.
bool looks_random(std::string_view value) {
  const bool plain = std::all_of(value.begin(), value.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '/' || c == '=' || c == '_' || c == '-';
  });
  return plain && value.size() >= 16 && std::any_of(value.begin(), value.end(), is_digit) &&
         std::any_of(value.begin(), value.end(), is_letter);
}

}  // namespace

SecretName secret_name(std::string_view name) {
  const std::vector<std::string> parts = parts_of(name);
  if (parts.empty()) return SecretName::none;
  const std::string& last = parts.back();
  const std::string before = parts.size() > 1 ? parts[parts.size() - 2] : "";
  const auto ends = [&last](std::string_view end) { return last.ends_with(end); };
  if (std::any_of(kCertainEnds.begin(), kCertainEnds.end(), ends)) return SecretName::certain;
  if (last == "credential" || last == "credentials" || last == "creds") {
    return SecretName::file_or_not;
  }
  if (last == "pwd") return SecretName::file_or_not;
  if (last == "pw") return SecretName::likely;
  if (last == "token" || last == "jwt") {
    if (among(kTextTokens, before)) return SecretName::none;
    return among(kDoorTokens, before) ? SecretName::certain : SecretName::likely;
  }
  if (last == "key") {
    return among(kDoorKeys, before) ? SecretName::likely : SecretName::likely_random;
  }
  if (last == "pass") {
    if (before.empty()) return SecretName::likely;
    if (among(kDataPasses, before)) return SecretName::none;
    return among(kDoorPasses, before) ? SecretName::certain : SecretName::likely;
  }
  if (last == "pat") {
    return among(kDoorTokens, before) ? SecretName::certain : SecretName::likely_random;
  }
  if (last == "auth" || last == "cookie") return SecretName::likely_random;
  if (last == "id" && before == "secret") return SecretName::likely_random;
  return has_secret_before(name) ? SecretName::likely_random : SecretName::none;
}

bool is_variable_name(std::string_view name) {
  return name.find('_') != std::string_view::npos &&
         std::none_of(name.begin(), name.end(), is_lower) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
}

bool is_secret_value(SecretName name, std::string_view value) {
  if (says_nothing(value)) return false;
  switch (name) {
    case SecretName::none:
      return false;
    case SecretName::likely_random:
      return looks_random(value) && !is_path(value);
    case SecretName::likely:
      return !is_number(value) && !is_path(value) && !is_bracketed(value);
    case SecretName::file_or_not:
      return !is_path(value);
    case SecretName::certain:
      return true;
  }
  return false;
}

}  // namespace plateau
