// SPDX-License-Identifier: Apache-2.0
// Secrets out of text that will be kept or shown: command lines, names, notes.
//
// Question. People pass tokens and passwords on command lines, and send recordings and reports to
// strangers. Which characters of a text are a secret?
//
// Method. Two signs. By name: what follows a name such as --hf_token, PGPASSWORD= or "api_key": is
// one, whatever it looks like. The secret word must come last in the name, so that --tokenizer,
// --token_dropout and --key-bindings are no names of secrets, and --pad_token is known to be none.
// By shape: hf_…, sk-…, ghp_…, AKIA…, JWTs, user:password@ in an address and the like are secrets
// wherever they stand. redact_names.cc, redact_shapes.cc and redact_options.cc hold the tables.
//
// Worked case. "train.py --hf_token hf_Ab…9 --max_tokens 512 s3://u:pw@h/b" becomes
// "train.py --hf_token [redacted] --max_tokens 512 s3://u:[redacted]@h/b".
//
// Blind spot. A password that is given by its place alone ("login.py hunter2") and one whose name
// says nothing (-p hunter2, but for programs that are known); PINs and other short numbers. Numbers
// after --token and --key are taken for counts unless the name says more (--auth_token). Where it
// errs it hides too much.
//
// Pure; what holds no secret comes back byte for byte, and a second pass changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plateau {

inline constexpr std::string_view kRedacted = "[redacted]";

std::string redacted(std::string_view text);

// What a name says of its value. (For redact.cc and its tests.)
enum class SecretName : uint8_t {
  none,
  likely_random,  // --key, --text_key: a secret only if the value looks like one.
  likely,         // --token: unless the value is a number, a path, or a mark such as <pad>.
  file_or_not,    // --credentials: unless the value is a path.
  certain,        // --password
};
SecretName secret_name(std::string_view name);
bool is_secret_value(SecretName name, std::string_view value);

// HF_TOKEN, as variables of the environment are written: no word of prose.
bool is_variable_name(std::string_view name);

// What an option says of its value, for programs that are known. (For redact.cc.)
enum class OptionValue : uint8_t {
  none,
  key,              // wandb login: a secret if it looks like one.
  secret,           // sshpass -p
  user_and_secret,  // curl -u: user:password
};
struct GluedOption {
  OptionValue value = OptionValue::none;
  size_t size = 0;  // Of the option; its value is the rest of the word.
};
bool has_secret_options(std::string_view program);
OptionValue option_value(std::string_view program, std::string_view word);
GluedOption glued_option(std::string_view program, std::string_view word);

// Replaces what is a secret by its shape, in one word; and private keys, which have blanks and
// lines.
std::string redact_shapes(std::string_view text);
std::string redact_private_keys(std::string_view text);

}  // namespace plateau
