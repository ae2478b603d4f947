// Conditions as they are written, and what they say of figures.
#include "base/error.h"
#include "lookout/condition.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

constexpr u64 mib = 1 << 20;

Figures with(Figure figure, u64 bytes, std::optional<u64> limit = {}) {
  Figures out;
  out.set(figure, bytes);
  out.limit = limit;
  return out;
}

Condition one(std::string_view text) {
  const std::vector<Condition> all = parse_conditions(text);
  EXPECT_EQ(all.size(), 1u) << text;
  return all.front();
}

std::string problem(std::string_view text) {
  try {
    parse_conditions(text);
    return "";
  } catch (const UsageError &error) {
    return error.what();
  }
}

TEST(Condition, IsAFigureAndASize) {
  for (u64 i = 0; i < figure_count; ++i) {
    const Figure figure = static_cast<Figure>(i);
    const Condition condition = one(std::string(name_of(figure)) + " > 1.5M ");
    EXPECT_EQ(condition.figure, figure);
    EXPECT_EQ(condition.bytes, 3 * mib / 2);
    EXPECT_EQ(level_of(condition, with(figure, 3 * mib / 2 + 1)), Level::above);
    EXPECT_EQ(level_of(condition, with(figure, 3 * mib / 2)), Level::between) << "nearly as much is not less again";
    EXPECT_EQ(level_of(condition, with(figure, mib)), Level::below);
    EXPECT_EQ(level_of(condition, {}), Level::unknown);
  }
}

TEST(Condition, OfAShareNeedsALimit) {
  const Condition condition = one("container>90%");
  EXPECT_EQ(level_of(condition, with(Figure::container, 91 * mib, 100 * mib)), Level::above);
  EXPECT_EQ(level_of(condition, with(Figure::container, 88 * mib, 100 * mib)), Level::between);
  EXPECT_EQ(level_of(condition, with(Figure::container, 80 * mib, 100 * mib)), Level::below);
  EXPECT_EQ(level_of(condition, with(Figure::container, 91 * mib)), Level::unknown);
  EXPECT_EQ(level_of(one("rss>50%"), with(Figure::rss, 51 * mib, 100 * mib)), Level::above);
}

TEST(Condition, OomIsWhatRanOutOrIsAboutTo) {
  const Condition condition = one("oom");
  EXPECT_EQ(level_of(condition, {}), Level::below);
  Figures figures;
  figures.ran_out = "the GC could not allocate";
  EXPECT_EQ(level_of(condition, figures), Level::above);
  EXPECT_EQ(level_of(condition, with(Figure::container, 96 * mib, 100 * mib)), Level::above);
  EXPECT_EQ(level_of(condition, with(Figure::container, 60 * mib, 100 * mib)), Level::below);
}

TEST(Condition, SeveralInOne) {
  const std::vector<Condition> all = parse_conditions("rss>1.5G|gen2>800M | oom");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].text, "gen2>800M");
  EXPECT_FALSE(all[2].figure);
}

TEST(Condition, WhatIsNoneIsSaid) {
  EXPECT_EQ(problem("rrs>1G"),
            "'rrs>1G' is not a condition: 'rrs' is none of rss, private, container, heap, gen0, gen1, "
            "gen2, loh, poh, oom, did you mean 'rss'?");
  for (const char *text : {"", "rss", "rss>", "rss>1X", "rss<1G", "rss>=1G", "rss=1G", "rss>0", "rss>0%", "rss>101%",
                           "rss>9.5%", "rss>-1", "oom>1", ">1G", "rss>1G|", "|oom", "rss>1G rss>2G"})
    EXPECT_NE(problem(text), "") << text;
}

} // namespace
} // namespace dnheap
