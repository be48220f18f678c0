// SPDX-License-Identifier: Apache-2.0
#include "share/ci_case.h"

#include <gmock/gmock.h>

namespace plateau {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CiCase told(CaseOutcome outcome) {
  CiCase one;
  one.name = "a & <b>.log";
  one.file = "src/my loop.py";
  one.line = 41;
  one.outcome = outcome;
  one.message = "leak: \"grows\"";
  one.report = "LEAK <x>\n";
  one.rule = "native-leak";
  return one;
}

TEST(Junit, LeakFailsUndecidedIsSkippedAndUnreadableIsAnError) {
  const std::string xml =
      junit_xml("plateau judge", {told(CaseOutcome::failed), told(CaseOutcome::open),
                                  told(CaseOutcome::broken), told(CaseOutcome::passed)});
  EXPECT_THAT(xml, HasSubstr("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\""));
  EXPECT_THAT(xml, HasSubstr("<failure message=\"leak: &quot;grows&quot;\" type=\"native-leak\">"
                             "LEAK &lt;x&gt;"));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"leak"));
  EXPECT_THAT(xml, HasSubstr("name=\"a &amp; &lt;b&gt;.log\""));
}

TEST(Sarif, ResultsNameTheCodeThatHoldsTheGrowth) {
  const std::string json = sarif_json({told(CaseOutcome::failed), told(CaseOutcome::passed)});
  EXPECT_THAT(json, HasSubstr(R"("version":"2.1.0")"));
  EXPECT_THAT(json, HasSubstr(R"("uri":"src/my%20loop.py"},"region":{"startLine":41})"));
  EXPECT_THAT(json, HasSubstr(R"("ruleId":"native-leak","level":"error")"));
  EXPECT_THAT(json, Not(HasSubstr(R"("level":"note")")));
}

TEST(Sarif, NothingFoundIsARunWithoutResults) {
  EXPECT_THAT(sarif_json({}), HasSubstr(R"("results":[])"));
}

TEST(CiCase, OutcomeFollowsTheExitCode) {
  EXPECT_EQ(outcome_of_exit(0), CaseOutcome::passed);
  EXPECT_EQ(outcome_of_exit(1), CaseOutcome::failed);
  EXPECT_EQ(outcome_of_exit(2), CaseOutcome::broken);
  EXPECT_EQ(outcome_of_exit(3), CaseOutcome::open);
}

}  // namespace
}  // namespace plateau
