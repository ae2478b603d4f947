#include "base/digits.h"

#include <gtest/gtest.h>

using namespace dnheap;

TEST(Digits, AllOfTheTextOrNone) {
  EXPECT_EQ(number_of_digits("0"), 0u);
  EXPECT_EQ(number_of_digits("18446744073709551615"), ~u64{0});
  EXPECT_EQ(number_of_digits("C800000", 16), 0xC800000u);
  for (const char *text : {"", "-1", "+1", " 1", "1 ", "1x", "0x10", "18446744073709551616"})
    EXPECT_FALSE(number_of_digits(text)) << text;
}
