// SPDX-License-Identifier: Apache-2.0
#include "fleet/query_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plateau::fleet {
namespace {

using testing::HasSubstr;

TEST(QueryAnswer, OfARangeVectorIsItsSamples) {
  const Result<QueryAnswer> answer = read_answer(
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"pod":"a"},)"
      R"("values":[[10,"1"],[20.5,"2.5"],[30,"NaN"],[40,"+Inf"],[50,"3"]]}]}})");
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer.value().series.size(), 1U);
  const RawSeries& series = answer.value().series[0];
  EXPECT_EQ(series.labels.of("pod"), "a");
  ASSERT_EQ(series.samples.size(), 3U);  // A staleness marker is a gap.
  EXPECT_EQ(series.samples[1].at_s, 20.5);
  EXPECT_EQ(series.samples[1].value, 2.5);
  EXPECT_EQ(answer.value().bad_samples, 0U);
}

TEST(QueryAnswer, OfAnInstantVectorIsOneSampleEach) {
  const Result<QueryAnswer> answer = read_answer(
      R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"7"]}]}})");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().samples(), 1U);
}

TEST(QueryAnswer, OfTheSeriesPathIsLabelsAlone) {
  const Result<QueryAnswer> answer =
      read_answer(R"({"status":"success","data":[{"pod":"a"},{"pod":"b"}]})");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().series.size(), 2U);
}

TEST(QueryAnswer, KeepsTheDatabasesWarnings) {
  const Result<QueryAnswer> answer = read_answer(
      R"({"status":"success","warnings":["store a is down\u001b[31m"],"data":{"resultType":"vector","result":[]}})");
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer.value().warnings.size(), 1U);
  EXPECT_EQ(answer.value().warnings[0], "store a is down");
}

TEST(QueryAnswer, PutsSamplesInOrderAndCountsBadOnes) {
  const Result<QueryAnswer> answer = read_answer(
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{},)"
      R"("values":[[20,"2"],[10,"1"],[10,"1"],["x"],[5],[7,"seven"],[30,null],[40,4]]}]}})");
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer.value().series[0].samples.size(), 3U);
  EXPECT_EQ(answer.value().series[0].samples[0].at_s, 10);
  EXPECT_EQ(answer.value().bad_samples, 3U);
}

TEST(QueryAnswer, ThatIsAnErrorSaysWhich) {
  const Result<QueryAnswer> answer =
      read_answer(R"({"status":"error","errorType":"execution","error":"too many samples"})");
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("too many samples"));
}

TEST(QueryAnswer, ThatIsNoneIsRefused) {
  for (const char* body :
       {"", "<html>", "[]", "{}", "null", R"({"status":"success"})",
        R"({"status":"success","data":{"resultType":"scalar","result":[1,"2"]}})"}) {
    EXPECT_FALSE(read_answer(body).ok()) << body;
  }
}

TEST(Refusal, IsQuotedInOneHarmlessLine) {
  EXPECT_EQ(refusal_text(R"({"status":"error","error":"query\nprocessing \u001b[1mtoo slow"})"),
            "query processing too slow");
  EXPECT_LE(refusal_text(std::string(10'000, 'x')).size(), 200U);
}

}  // namespace
}  // namespace plateau::fleet
