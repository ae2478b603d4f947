#include "cli/options/values.h"
#include "dnheap/text.h"

#include <gtest/gtest.h>

namespace dnheap::cli {
namespace {

TEST(Values, Durations) {
  for (auto [text, seconds] : {std::pair{"90", 90u}, {"90s", 90u}, {"30m", 1800u}, {"1.5h", 5400u}, {"2d", 172800u}})
    EXPECT_EQ(parse_duration(text), seconds) << text;
  for (const char *text : {"", "h", "-1", "0", "0.5s", "1.2.3h", "1e3", "5ms", "1 h", "99999999d", "nan", "0x10"})
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

TEST(Values, Sizes) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("12B"), 12u);
  EXPECT_EQ(parse_size("10k"), 10240u);
  EXPECT_EQ(parse_size("10KB"), 10240u);
  EXPECT_EQ(parse_size("1M"), 1u << 20);
  EXPECT_EQ(parse_size("1MiB"), 1u << 20);
  EXPECT_EQ(parse_size("1.5g"), 3u << 29);
  EXPECT_EQ(parse_size("2T"), u64{2} << 40);
  EXPECT_EQ(parse_size("18446744073709551615"), ~u64{0});
  for (const char *wrong : {"", "k", "-1", "1x", "1kk", "1.k", ".5k", "1.2.3M", "1 k", "0x10", "16777216T", "1e9"})
    EXPECT_FALSE(parse_size(wrong)) << wrong;
}

TEST(Values, Words) {
  EXPECT_EQ(words_of(""), std::vector<std::string_view>{});
  EXPECT_EQ(words_of(" a  bc "), (std::vector<std::string_view>{"a", "bc"}));
}

} // namespace
} // namespace dnheap::cli
