#include "algorithms/coloring.h"

#include <algorithm>
#include <set>

namespace dnheap {

void Coloring::add_place(Address start, Address end) {
  places_.push_back({start, end, static_cast<u32>(places_.size()), 0});
}

void Coloring::claim(Address start, Address end, u32 colour, u32 tag) {
  if (start < end)
    claims_.push_back({start, end, colour, tag});
}

std::vector<ColouredStretch> Coloring::stretches() const {
  // Start or end of a place or claim. Claims are numbered after the places.
  struct Border {
    Address at = 0;
    u64 number = 0;
    bool begins = false;
  };
  std::vector<Border> borders;
  borders.reserve(2 * (places_.size() + claims_.size()));
  auto add = [&](const Claim &claim, u64 number) {
    if (claim.start >= claim.end)
      return;
    borders.push_back({claim.start, number, true});
    borders.push_back({claim.end, number, false});
  };
  for (u64 i = 0; i < places_.size(); ++i)
    add(places_[i], i);
  for (u64 i = 0; i < claims_.size(); ++i)
    add(claims_[i], places_.size() + i);
  std::sort(borders.begin(), borders.end(), [](const Border &a, const Border &b) { return a.at < b.at; });

  std::set<u64> places;                 // claims that cover the current byte
  std::set<std::pair<u32, u64>> claims; // colour and number of the claims to the current byte
  std::vector<ColouredStretch> out;
  Address from = 0;
  for (u64 i = 0; i < borders.size();) {
    const Address at = borders[i].at;
    if (!places.empty() && from < at) {
      ColouredStretch stretch{from, at, static_cast<u32>(*places.begin()), none, 0};
      if (!claims.empty()) {
        stretch.colour = claims.begin()->first;
        stretch.tag = claims_[claims.begin()->second].tag;
      }
      ColouredStretch *last = out.empty() ? nullptr : &out.back();
      if (last && last->end == from && last->place == stretch.place && last->colour == stretch.colour &&
          last->tag == stretch.tag)
        last->end = at;
      else
        out.push_back(stretch);
    }
    from = at;
    for (; i < borders.size() && borders[i].at == at; ++i) {
      const auto [where_at, number, begins] = borders[i];
      if (number < places_.size()) {
        begins ? void(places.insert(number)) : void(places.erase(number));
        continue;
      }
      const std::pair<u32, u64> key{claims_[number - places_.size()].colour, number - places_.size()};
      begins ? void(claims.insert(key)) : void(claims.erase(key));
    }
  }
  return out;
}

} // namespace dnheap
