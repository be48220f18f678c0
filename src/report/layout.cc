// SPDX-License-Identifier: Apache-2.0
#include "report/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace plateau {
namespace {

// Longer lines of prose are hard to read, however wide the terminal is.
constexpr size_t kWidestProse = 110;
constexpr std::string_view kGlue = "\u00a0";

bool is_unit(std::string_view word) {
  for (const std::string_view unit : {"B", "kB", "MB", "GB", "TB", "%", "±", "s", "min", "h"}) {
    if (word.starts_with(unit) &&
        (word.size() == unit.size() ||
         std::isalnum(static_cast<unsigned char>(word[unit.size()])) == 0)) {
      return true;
    }
  }
  return false;
}

// Binds a number to its unit or its "step", and both sides of a ±, so that wrapping does not part
// them.
std::string glued(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view after = text.substr(i + 1);
    const bool number_before = i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9';
    const bool number_after = !after.empty() && after[0] >= '0' && after[0] <= '9';
    const std::string_view before = text.substr(0, i);
    const bool binds = (number_before && is_unit(after)) || before.ends_with("±") ||
                       (number_after && (before.ends_with("step") || before.ends_with("steps")));
    if (text[i] == ' ' && (binds || after.starts_with("±"))) {
      out += kGlue;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

std::string unglued(std::string text) {
  for (size_t at = 0; (at = text.find(kGlue, at)) != std::string::npos;) {
    text.replace(at, kGlue.size(), " ");
  }
  return text;
}

}  // namespace

void Layout::line(std::string_view text) {
  text_ += text;
  text_.push_back('\n');
  last_label_.clear();
}

void Layout::start_line(std::string_view label) {
  const std::string shown = label == last_label_ ? "" : std::string(label);
  const size_t used = 2 + display_width(shown);
  text_ += "  " + paint(view_, Ink::bold, shown);
  text_ += std::string(used < kMargin ? kMargin - used : 1, ' ');
  last_label_ = label;
}

void Layout::say(std::string_view label, std::string_view text, std::string_view lead) {
  if (text.empty()) return;
  const size_t width = std::min(view_.width, kWidestProse);
  const std::string whole = lead.empty() ? std::string(text) : fmt::format("{} {}", lead, text);
  bool first = true;
  const size_t hang = lead.starts_with("•") ? 2 : 0;
  const size_t room = (width > kMargin + 20 ? width - kMargin : 20) - hang;
  for (const std::string& bound : wrap(glued(whole), room)) {
    const std::string line = unglued(bound);
    if (first) {
      start_line(label);
    } else {
      text_ += std::string(kMargin + hang, ' ');
    }
    if (first && !lead.empty() && line.starts_with(lead)) {
      text_ += paint(view_, Ink::bold, lead) + line.substr(lead.size());
    } else {
      text_ += line;
    }
    text_.push_back('\n');
    first = false;
  }
}

void Layout::row(std::string_view label, std::string_view text) {
  start_line(label);
  text_ += text;
  text_.resize(text_.find_last_not_of(' ') + 1);
  text_.push_back('\n');
}

std::string Layout::take() {
  return view_.utf8 ? std::move(text_) : to_ascii(text_);
}

}  // namespace plateau
