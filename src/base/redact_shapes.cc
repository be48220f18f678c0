// SPDX-License-Identifier: Apache-2.0
// Secrets that are known by their shape, wherever they stand.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "base/redact.h"
#include "base/text.h"

namespace plateau {
namespace {

// "PREFIX" and at least `least` more characters of letters, digits and `also`.
struct Shape {
  std::string_view prefix;
  size_t least;
  std::string_view also = "";
};
constexpr auto kShapes = std::to_array<Shape>({
    {"hf_", 20},
    {"hf_oauth_", 20, "._-"},
    {"api_org_", 20},
    {"sk-", 20, "-_"},
    {"sk_live_", 16},
    {"sk_test_", 16},
    {"rk_live_", 16},
    {"pk_live_", 16},
    {"whsec_", 16},
    {"ghp_", 20},
    {"gho_", 20},
    {"ghu_", 20},
    {"ghs_", 20},
    {"ghr_", 20},
    {"github_pat_", 20, "_"},
    {"glpat-", 16, "-_"},
    {"gldt-", 16, "-_"},
    {"xoxb-", 10, "-"},
    {"xoxp-", 10, "-"},
    {"xoxa-", 10, "-"},
    {"xoxr-", 10, "-"},
    {"xoxs-", 10, "-"},
    {"xapp-", 10, "-"},
    {"AIza", 30, "-_"},
    {"ya29.", 20, "-_"},
    {"npm_", 30},
    {"pypi-", 24, "-_"},
    {"dop_v1_", 32},
    {"dckr_pat_", 20, "-_"},
    {"r8_", 20},
    {"gsk_", 20},
    {"nvapi-", 20, "-_"},
    {"xai-", 20},
    {"pplx-", 20},
    {"tvly-", 20, "-"},
    {"AGE-SECRET-KEY-", 20},
    {"SG.", 20, "-_."},
    {"lin_api_", 20},
    {"shpat_", 20},
    {"hvs.", 20, "-_"},
    {"glsa_", 20, "_"},
    {"glrt-", 16, "-_"},
    {"tskey-", 16, "-"},
    {"sq0atp-", 20, "-_"},
    {"lsv2_", 20, "_"},
    {"dapi", 32, "-"},
    {"ATATT", 40, "-_="},
    {"1//0", 30, "-_"},
});
constexpr size_t kAwsRest = 16;
constexpr size_t kLeastAwsSecret = 30;
constexpr size_t kLeastAzureRest = 30;
constexpr size_t kLeastJwtPart = 10;
constexpr size_t kLongRun = 24;
constexpr size_t kLeastUserToken = 20;

bool is_alnum(char c) {
  return is_letter(c) || is_digit(c);
}

size_t run_of(std::string_view text, std::string_view also) {
  size_t n = 0;
  while (n < text.size() && (is_alnum(text[n]) || also.find(text[n]) != std::string_view::npos)) {
    ++n;
  }
  return n;
}

// Letters with digits or in both cases, and not merely words with dashes between: "sk-learn-…-v2".
bool is_mixed(std::string_view text) {
  bool digit = false, upper = false, lower = false;
  size_t run = 0, longest = 0;
  for (const char c : text) {
    digit |= is_digit(c);
    upper |= c >= 'A' && c <= 'Z';
    lower |= c >= 'a' && c <= 'z';
    run = is_alnum(c) ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const bool mixed = (digit && (upper || lower)) || (upper && lower);
  return mixed && ((upper && lower) || longest >= kLongRun);
}

size_t prefixed(std::string_view text) {
  for (const Shape& shape : kShapes) {
    if (!text.starts_with(shape.prefix)) continue;
    const size_t rest = run_of(text.substr(shape.prefix.size()), shape.also);
    if (rest >= shape.least && is_mixed(text.substr(shape.prefix.size(), rest))) {
      return shape.prefix.size() + rest;
    }
    // A prefix of four characters and more is nothing else's.
    if (rest >= shape.least && shape.prefix.size() >= 4) {
      return shape.prefix.size() + rest;
    }
  }
  return 0;
}

// AKIA and ASIA with sixteen capitals and digits: the id of a key of Amazon's.
size_t amazon_id(std::string_view text) {
  if (!text.starts_with("AKIA") && !text.starts_with("ASIA")) return 0;
  const std::string_view rest = text.substr(4, run_of(text.substr(4), "_"));
  const bool plain = std::all_of(rest.begin(), rest.end(),
                                 [](char c) { return is_digit(c) || (c >= 'A' && c <= 'Z'); });
  if (rest.size() != kAwsRest || !plain) return 0;
  // "ID:SECRET", as files of passwords have it.
  const size_t id = 4 + kAwsRest;
  const size_t secret = text.substr(id).starts_with(':') ? run_of(text.substr(id + 1), "+/") : 0;
  return secret >= kLeastAwsSecret ? id + 1 + secret : id;
}

// "abc8Q~" and some thirty more: the secret of an application in Azure.
size_t azure_secret(std::string_view text) {
  constexpr std::string_view kAlso = "-_.~";
  if (text.size() < 6 || run_of(text.substr(0, 3), kAlso) != 3 || !is_digit(text[3]) ||
      !text.substr(4).starts_with("Q~")) {
    return 0;
  }
  const size_t rest = run_of(text.substr(6), kAlso);
  return rest >= kLeastAzureRest ? 6 + rest : 0;
}

// header.payload.signature, each in base64 for addresses; the header begins with {" .
size_t json_web_token(std::string_view text) {
  if (!text.starts_with("eyJ")) return 0;
  const size_t header = run_of(text, "-_");
  if (header < kLeastJwtPart || header >= text.size() || text[header] != '.') return 0;
  const size_t payload = run_of(text.substr(header + 1), "-_");
  if (payload < kLeastJwtPart) return 0;
  size_t length = header + 1 + payload;
  if (length < text.size() && text[length] == '.') {
    length += 1 + run_of(text.substr(length + 1), "-_");
  }
  return length;
}

// "123456789:AAE…": what lets one speak as a bot.
size_t bot_token(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  if (digits < 8 || digits > 10 || digits >= text.size() || text[digits] != ':') return 0;
  const size_t rest = run_of(text.substr(digits + 1), "-_");
  return rest == 35 ? digits + 1 + rest : 0;
}

size_t secret_at(std::string_view text) {
  for (const auto shape : {prefixed, amazon_id, azure_secret, json_web_token, bot_token}) {
    if (const size_t length = shape(text)) return length;
  }
  return 0;
}

struct Place {
  size_t begin = 0;
  size_t size = 0;
};

// In "//user:password@host/…" (text after the scheme's colon) what is secret of the user's part.
Place user_secret(std::string_view text) {
  const std::string_view authority = text.substr(2, text.find_first_of("/?#'\" \t\n", 2) - 2);
  const size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return {};
  const std::string_view user = authority.substr(0, at);
  const size_t colon = user.find(':');
  // "TOKEN:x-oauth-basic@": the secret stands where the name does.
  const std::string_view name = user.substr(0, colon);
  if (name.size() >= kLeastUserToken && is_mixed(name)) return {2, user.size()};
  return colon == std::string_view::npos ? Place{} : Place{2 + colon + 1, user.size() - colon - 1};
}

// The password in "user:password@tcp(host:3306)/base", as Go's drivers have it.
Place driver_secret(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of("'\"= \t\n"));
  const size_t at = std::min(word.find("@tcp("), word.find("@unix("));
  const size_t colon = word.find(':');
  return at == std::string_view::npos || colon >= at ? Place{} : Place{colon + 1, at - colon - 1};
}

// Addresses whose path is the secret.
Place hook_secret(std::string_view text) {
  for (const std::string_view hook :
       {"//hooks.slack.com/services/", "//discord.com/api/webhooks/",
        "//discordapp.com/api/webhooks/", "//hooks.zapier.com/hooks/catch/",
        "//hooks.slack.com/workflows/", "//hooks.slack.com/triggers/",
        "//hooks.slack-gov.com/services/", "//maker.ifttt.com/trigger/",
        "//events.pagerduty.com/integration/", "//api.telegram.org/bot",
        "//outlook.office.com/webhook/", ".webhook.office.com/webhookb2/"}) {
    const size_t at = text.find(hook);
    const bool in_host = at != std::string_view::npos && text.find('/', 2) >= at;
    if (!in_host) continue;
    const size_t begin = at + hook.size();
    const size_t size = run_of(text.substr(begin), "-_/@:");
    if (size > 0) return {begin, size};
  }
  return {};
}

}  // namespace

std::string redact_private_keys(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kMark = "PRIVATE KEY-----";
  constexpr std::string_view kEnd = "-----END ";
  constexpr size_t kLongestKind = 64;  // "ENCRYPTED", "OPENSSH"
  std::string out;
  size_t done = 0;
  for (size_t at = 0; (at = text.find(kBegin, at)) != std::string_view::npos;) {
    const size_t mark = text.substr(at, kLongestKind).find(kMark);
    if (mark == std::string_view::npos) {
      at += kBegin.size();
      continue;
    }
    const size_t end = text.find(kEnd, at + mark);
    const size_t close = end == std::string_view::npos ? end : text.find(kMark, end);
    out += text.substr(done, at - done);
    out += kRedacted;
    at = done = close == std::string_view::npos ? text.size() : close + kMark.size();
  }
  return out + std::string(text.substr(done));
}

std::string redact_shapes(std::string_view text) {
  std::string out;
  size_t at = 0;
  const auto hide = [&](Place place) {
    out += text.substr(at, place.begin);
    out += kRedacted;
    at += place.begin + place.size;
  };
  while (at < text.size()) {
    const bool fresh = at == 0 || !(is_alnum(text[at - 1]) || text[at - 1] == '_');
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("//") && at > 0 && text[at - 1] == ':') {
      Place place = user_secret(rest);
      if (place.size == 0) place = hook_secret(rest);
      if (place.size > 0) {
        hide(place);
        continue;
      }
    }
    if (const Place place = fresh ? driver_secret(rest) : Place{}; place.size > 0) {
      hide(place);
      continue;
    }
    if (const size_t length = fresh ? secret_at(rest) : 0) {
      hide({0, length});
      continue;
    }
    out += text[at++];
  }
  return out;
}

}  // namespace plateau
