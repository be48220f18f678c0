// SPDX-License-Identifier: Apache-2.0
#include "push/delivery.h"

#include <gmock/gmock.h>

namespace plateau::push {
namespace {

using testing::HasSubstr;
using testing::Not;

Outcome told(int status, const std::string& body = "") {
  return outcome_of(HttpAnswer{.status = status, .content_type = "", .body = body},
                    "http://me:pass@h:9090/api/v1/write?token=x");
}

TEST(Delivery, OnlyTooManyAndFailuresOfTheServerAreTriedAgain) {
  for (const int status : {200, 204}) EXPECT_EQ(told(status).fate, Fate::taken) << status;
  for (const int status : {429, 500, 502, 503, 599}) {
    EXPECT_EQ(told(status).fate, Fate::later) << status;
  }
  for (const int status : {0, 100, 302, 400, 401, 403, 404, 408, 413, 422}) {
    EXPECT_EQ(told(status).fate, Fate::refused) << status;
  }
  EXPECT_EQ(outcome_of(Error{Error::Kind::not_found, "refused"}, "http://h").fate, Fate::later);
}

TEST(Delivery, WhatTheReceiverSaysIsOneHarmlessLineWithoutTheAddress) {
  const Outcome outcome = told(400, "out of order\x1b[31m sample\nsecond line");
  EXPECT_THAT(outcome.words, HasSubstr("http://h:9090/… answers with status 400 (out of order"));
  EXPECT_THAT(outcome.words, Not(HasSubstr("second")));
  EXPECT_THAT(outcome.words, Not(HasSubstr("\x1b")));
  EXPECT_THAT(outcome.words, Not(HasSubstr("pass")));
  EXPECT_THAT(outcome.words, Not(HasSubstr("token")));
}

TEST(Delivery, PausesDoubleUpToHalfAMinute) {
  EXPECT_EQ(pause_s(1, 0), 1);
  EXPECT_EQ(pause_s(2, 0), 2);
  EXPECT_EQ(pause_s(5, 0), 16);
  EXPECT_EQ(pause_s(6, 0), 30);
  EXPECT_EQ(pause_s(1000000, 0), 30);
}

TEST(Delivery, WhatTheServerAsksForIsHonouredWithinReason) {
  EXPECT_EQ(pause_s(1, 45), 45);
  EXPECT_EQ(pause_s(6, 5), 30);
  EXPECT_EQ(pause_s(1, 1e9), kLongestAskedS);
  EXPECT_EQ(pause_s(1, -5), 1);
}

}  // namespace
}  // namespace plateau::push
