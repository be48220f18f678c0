// SPDX-License-Identifier: Apache-2.0
#include "page/page_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/gunzipped.h"
#include "page/pack.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string decoded_base64(std::string_view text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int have = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(digits.find(c));
    have += 6;
    if (have < 8) continue;
    have -= 8;
    out += static_cast<char>(bits >> have & 255);
  }
  return out;
}

// Between the tags of the data's element, of which there must be one.
std::string data_of(const std::string& page) {
  const std::string open = "<script type=\"application/octet-stream\" id=\"plateau-data\">";
  const size_t from = page.find(open);
  if (from == std::string::npos) return "";
  const size_t start = from + open.size();
  return page.substr(start, page.find('<', start) - start);
}

TEST(Pack, Base64IsThatOfTheStandard) {
  EXPECT_EQ(base64_of(""), "");
  EXPECT_EQ(base64_of("f"), "Zg==");
  EXPECT_EQ(base64_of("fo"), "Zm8=");
  EXPECT_EQ(base64_of("foo"), "Zm9v");
  EXPECT_EQ(base64_of("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_of(std::string("\xff\xfe\x00", 3)), "//4A");
}

TEST(Pack, EscapedTextIsNeverMarkup) {
  EXPECT_EQ(html_escaped("<script>&\"'</script>"), "&lt;script&gt;&amp;&quot;&#39;&lt;/script&gt;");
  EXPECT_EQ(html_escaped("a\x1b[31mb\x80\nc"), "a[31mb\xEF\xBF\xBD\nc");
}

TEST(PageFile, TemplateHasBothPlacesOnceBeforeItsScript) {
  const std::string_view page = page_template();
  EXPECT_THAT(std::string(page), StartsWith("<!doctype html>"));
  const size_t head = page.find("<!--plateau:head-->");
  const size_t body = page.find("<!--plateau:body-->");
  ASSERT_NE(head, std::string_view::npos);
  ASSERT_NE(body, std::string_view::npos);
  EXPECT_LT(head, page.find("<style>"));
  EXPECT_LT(head, body);
  EXPECT_LT(body, page.rfind("<script>"));
}

TEST(PageFile, HostileTextStaysText) {
  const std::string hostile = "</script><script>alert(1)</script><!--";
  const std::string page =
      report_page(hostile, "{\"name\":\"" + hostile + "\"}", hostile + "</pre></noscript>");
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, HasSubstr("<title>&lt;/script&gt;&lt;script&gt;alert(1)"));
  EXPECT_THAT(page, HasSubstr("&lt;/pre&gt;&lt;/noscript&gt;</pre></noscript>"));
  EXPECT_EQ(*gunzipped(decoded_base64(data_of(page))), "{\"name\":\"" + hostile + "\"}");
}

TEST(PageFile, PlacesAreFilledAndNothingElseChanges) {
  const std::string page = report_page("t", "{}", "p");
  EXPECT_THAT(page, Not(HasSubstr("<!--plateau:head-->")));
  const std::string_view built = page_template();
  EXPECT_TRUE(page.starts_with(built.substr(0, built.find("<!--plateau:head-->"))));
  EXPECT_TRUE(page.ends_with(built.substr(built.find("<!--plateau:body-->") + 19)));
}

TEST(PageFile, LivePageHasNoDataAndSaysSo) {
  const std::string page = live_page();
  EXPECT_THAT(page, HasSubstr("<meta name=\"plateau-live\" content=\"1\">"));
  EXPECT_THAT(page, Not(HasSubstr("id=\"plateau-data\">")));
}

TEST(PageFile, IsTheSameForTheSameData) {
  EXPECT_EQ(report_page("a", "{\"x\":[1,2,3]}", "b"), report_page("a", "{\"x\":[1,2,3]}", "b"));
}

}  // namespace
}  // namespace plateau
