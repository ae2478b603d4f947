// Every byte's colour, against a table of bytes.
#include "algorithms/coloring.h"
#include "support/property.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

constexpr Address first_address = 1000, space = 48;

struct ClaimCase {
  Address start = 0, end = 0;
  u32 colour = 0, tag = 0;
};
struct ColoringCase {
  std::vector<std::pair<Address, Address>> places;
  std::vector<ClaimCase> claims;
};

void showValue(const ColoringCase &value, std::ostream &to) {
  for (auto [start, end] : value.places)
    to << "place " << start << " to " << end << "\n";
  for (const ClaimCase &claim : value.claims)
    to << "claim " << claim.start << " to " << claim.end << " colour " << claim.colour << " tag " << claim.tag << "\n";
}

ColoringCase random_case(u64 seed) {
  std::mt19937_64 random(seed);
  auto up_to = [&](u64 most) { return random() % (most + 1); };
  ColoringCase out;
  for (u64 i = up_to(5); i; --i) {
    const Address start = first_address + up_to(space);
    out.places.emplace_back(start, start + up_to(space / 2));
  }
  for (u64 i = up_to(10); i; --i) {
    const Address start = first_address + up_to(space);
    const Address end = up_to(9) ? start + up_to(space / 2) : start - 1; // some are no stretches at all
    out.claims.push_back({start, end, static_cast<u32>(up_to(3)), static_cast<u32>(up_to(1))});
  }
  return out;
}

std::vector<ColoringCase> smaller_cases(const ColoringCase &value) {
  std::vector<ColoringCase> out;
  for (u64 i = 0; i < value.places.size(); ++i)
    out.push_back(value), out.back().places.erase(out.back().places.begin() + static_cast<i64>(i));
  for (u64 i = 0; i < value.claims.size(); ++i)
    out.push_back(value), out.back().claims.erase(out.back().claims.begin() + static_cast<i64>(i));
  return out;
}

// The colour of one byte; nullopt: it is outside of the space.
std::optional<ColouredStretch> colour_of_byte(const ColoringCase &value, Address at) {
  ColouredStretch out{at, at + 1, Coloring::none, Coloring::none, 0};
  for (u32 i = 0; i < value.places.size() && out.place == Coloring::none; ++i)
    if (at >= value.places[i].first && at < value.places[i].second)
      out.place = i;
  if (out.place == Coloring::none)
    return std::nullopt;
  for (const ClaimCase &claim : value.claims)
    if (at >= claim.start && at < claim.end && claim.colour < out.colour) {
      out.colour = claim.colour;
      out.tag = claim.tag;
    }
  return out;
}

TEST(Coloring, GivesEachByteTheColourThatATableOfBytesGives) {
  for_all(4000, values_of(random_case, smaller_cases), [](const ColoringCase &value) {
    Coloring coloring;
    for (auto [start, end] : value.places)
      coloring.add_place(start, end);
    for (const ClaimCase &claim : value.claims)
      coloring.claim(claim.start, claim.end, claim.colour, claim.tag);
    const std::vector<ColouredStretch> found = coloring.stretches();
    std::vector<ColouredStretch> bytes;
    for (const ColouredStretch &stretch : found) {
      ASSERT_LT(stretch.start, stretch.end);
      for (Address at = stretch.start; at < stretch.end; ++at)
        bytes.push_back({at, at + 1, stretch.place, stretch.colour, stretch.tag});
    }
    std::vector<ColouredStretch> expected;
    for (Address at = first_address - 2; at < first_address + 2 * space; ++at)
      if (std::optional<ColouredStretch> one = colour_of_byte(value, at))
        expected.push_back(*one);
    ASSERT_EQ(bytes.size(), expected.size());
    for (u64 i = 0; i < bytes.size(); ++i)
      ASSERT_EQ(bytes[i], expected[i]) << bytes[i].start;
    for (u64 i = 1; i < found.size(); ++i) {
      ColouredStretch before = found[i - 1];
      if (before.end != found[i].start)
        continue;
      before.start = found[i].start;
      before.end = found[i].end;
      ASSERT_NE(before, found[i]) << "two stretches are one";
    }
  });
}

TEST(Coloring, OfTheWholeAddressSpace) {
  Coloring coloring;
  coloring.add_place(0, ~u64{0});
  coloring.claim(0x1000, ~u64{0}, 2);
  coloring.claim(0, 0x2000, 1, 7);
  const std::vector<ColouredStretch> expected = {{0, 0x2000, 0, 1, 7}, {0x2000, ~u64{0}, 0, 2, 0}};
  EXPECT_EQ(coloring.stretches(), expected);
}

} // namespace
} // namespace dnheap::test
