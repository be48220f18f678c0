// SPDX-License-Identifier: Apache-2.0
#include "page/page_file.h"

#include "base/compression.h"
#include "page/pack.h"

namespace plateau {
namespace {

// A report is written once and sent often; 9 takes several times as long for a per cent or two.
constexpr int kReportLevel = 6;

constexpr std::string_view kHead = "<!--plateau:head-->";
constexpr std::string_view kBody = "<!--plateau:body-->";

// The template with its two places filled. Only the first of each is a place: style and script,
// which might quote them, come after it.
std::string filled(std::string_view head, std::string_view body) {
  const std::string_view page = page_template();
  const size_t head_at = page.find(kHead);
  const size_t body_at = page.find(kBody, head_at + kHead.size());
  std::string out;
  out.reserve(page.size() + head.size() + body.size());
  out += page.substr(0, head_at);
  out += head;
  out += page.substr(head_at + kHead.size(), body_at - head_at - kHead.size());
  out += body;
  out += page.substr(body_at + kBody.size());
  return out;
}

}  // namespace

std::string report_page(std::string_view title, std::string_view data_json,
                        std::string_view plain_text) {
  std::string head = "<title>" + html_escaped(title) + "</title>";
  // Base64 has no '<': whatever the data say, the element ends where it is closed here.
  std::string body = "<script type=\"application/octet-stream\" id=\"plateau-data\">";
  body += base64_of(gzipped(data_json, kReportLevel));
  body += "</script>\n<noscript><pre>" + html_escaped(plain_text) + "</pre></noscript>";
  return filled(head, body);
}

std::string live_page() {
  return filled("<title>Plateau</title>\n<meta name=\"plateau-live\" content=\"1\">", "");
}

}  // namespace plateau
