// SPDX-License-Identifier: Apache-2.0
// tests/stack/templates.py compares with Jinja itself; this is what needs no Python.
#include "trainer/text/jinja.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace plateau::train {
namespace {

using testing::HasSubstr;

std::string rendered(std::string_view source, std::string_view json = "{}") {
  const Result<JinjaTemplate> read = JinjaTemplate::parse(source);
  if (!read) return "unread: " + read.error().message;
  const Result<JinjaScope> values = jinja_values_of_json(json);
  if (!values) return "bad values";
  const Result<std::string> out = read.value().render(values.value());
  return out ? out.value() : "failed: " + out.error().message;
}

TEST(Jinja, TagsTrimTheirLinesAsTransformersSetsItUp) {
  EXPECT_EQ(rendered("a\n  {% if true %}\n  b\n  {% endif %}\nc\n"), "a\n  b\nc");
  EXPECT_EQ(rendered("a  {%- if true -%}  b  {%- endif %}  c"), "ab  c");
  EXPECT_EQ(rendered("a {{ 1 }}\n b"), "a 1\n b");
  EXPECT_EQ(rendered("a{# no {{ tag }} #}\nb"), "ab");
}

TEST(Jinja, LoopsKeepWhatTheySetButNamespacesLast) {
  constexpr auto kList = R"({"x": ["a", "b"]})";
  EXPECT_EQ(
      rendered("{% set y = 1 %}{% for i in x %}{% set y = i %}{{ y }}{% endfor %}{{ y }}", kList),
      "ab1");
  EXPECT_EQ(rendered("{% set n = namespace(v=0) %}{% for i in x %}{% set n.v = n.v + loop.index %}"
                     "{% endfor %}{{ n.v }}",
                     kList),
            "3");
}

TEST(Jinja, ExpressionsAreThoseOfTemplates) {
  constexpr auto kValues = R"({"m": [{"role": "user", "content": " q "}], "f": false})";
  EXPECT_EQ(rendered("{{ m[0]['role'] }}{{ m[0].content | trim }}{{ m[1] is defined }}", kValues),
            "userqFalse");
  EXPECT_EQ(rendered("{{ 'role' in m[0] and not f }}{{ m | length - 2 }}", kValues), "True-1");
  EXPECT_EQ(rendered("{{ 'x' if f else m[0].role ~ 1 }}{{ m[1:] | length }}", kValues), "user10");
  EXPECT_EQ(rendered("{{ 'it\\'s' + \"\\n\" }}|{{ m[0].content is string }}", kValues),
            "it's\n|True");
}

TEST(Jinja, WhatIsNotReadIsNamedWithItsLine) {
  EXPECT_EQ(rendered("\n{% macro x() %}"), "unread: line 2: not understood: {% macro %}");
  EXPECT_THAT(rendered("{{ a | tojson }}"), HasSubstr("|tojson"));
  EXPECT_THAT(rendered("{% if a %}"), HasSubstr("without its end"));
  EXPECT_THAT(rendered("{% endif %}"), HasSubstr("an end without its begin"));
  EXPECT_THAT(rendered("{{ 'a"), HasSubstr("not closed"));
  EXPECT_THAT(rendered("{{ a b }}"), HasSubstr("not understood: b"));
  EXPECT_THAT(rendered("{{ " + std::string(500, '(') + "1}}"), HasSubstr("too deep"));
  EXPECT_THAT(rendered("{{ raise_exception('no ' ~ 'tools') }}"), HasSubstr("failed: no tools"));
  EXPECT_THAT(rendered("{{ 1 + 'a' }}"), HasSubstr("failed: "));
  EXPECT_THAT(rendered("{% for x in 5 %}{% endfor %}"), HasSubstr("failed: "));
}

}  // namespace
}  // namespace plateau::train
