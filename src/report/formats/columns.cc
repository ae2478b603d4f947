#include "report/formats/columns.h"

#include <algorithm>

namespace dnheap::report {

namespace {

// Sets the widths of columns that share a line of width `room`. Their `least` widths fit, unless there is only one
// column.
void share_room(std::span<const WantedColumn> wanted, std::span<PlacedColumn> placed, u64 room) {
  const u64 gaps = column_gap * (wanted.size() - 1);
  room = room > gaps ? room - gaps : 0;
  u64 limit = 0, taken = 0;
  auto width_at = [&](u64 i) { return std::clamp(limit, wanted[i].least, wanted[i].width); };
  auto sum = [&] {
    u64 out = 0;
    for (u64 i = 0; i < wanted.size(); ++i)
      out += width_at(i);
    return out;
  };
  for (const WantedColumn &column : wanted)
    limit = std::max(limit, std::min(column.width, room));
  while (limit && sum() > room)
    --limit;
  for (u64 i = 0; i < wanted.size(); ++i)
    taken += placed[i].width = width_at(i);
  // Distributes the width that the common limit left over.
  for (u64 i = 0; i < wanted.size() && taken < room; ++i)
    if (placed[i].width < wanted[i].width && placed[i].width == limit) {
      ++placed[i].width;
      ++taken;
    }
  if (wanted.size() == 1)
    placed[0].width = std::min(placed[0].width, room);
}

} // namespace

std::vector<PlacedColumn> place_columns(std::span<const WantedColumn> wanted, u64 screen) {
  std::vector<PlacedColumn> placed(wanted.size());
  if (!screen) {
    for (u64 i = 0; i < wanted.size(); ++i)
      placed[i].width = wanted[i].width;
    return placed;
  }
  std::vector<WantedColumn> capped(wanted.begin(), wanted.end());
  for (WantedColumn &column : capped) {
    column.width = std::min(column.width, screen);
    column.least = std::min(column.least, column.width);
  }
  u64 together = column_gap * (std::max<u64>(capped.size(), 1) - 1);
  for (const WantedColumn &column : capped)
    together += column.least;
  // If rows take several lines anyway, names can be longer.
  if (together > screen)
    for (WantedColumn &column : capped)
      column.least = std::min(column.width, std::max(column.least, screen / 2));
  u64 line = 0;
  for (u64 first = 0, end = 0; first < capped.size(); first = end, ++line) {
    const u64 room = line ? std::max<u64>(screen, fold_indent + 1) - fold_indent : screen;
    u64 taken = capped[first].least;
    for (end = first + 1; end < capped.size() && taken + column_gap + capped[end].least <= room; ++end)
      taken += column_gap + capped[end].least;
    for (u64 i = first; i < end; ++i)
      placed[i].line = line;
    share_room(std::span(capped).subspan(first, end - first), std::span(placed).subspan(first, end - first), room);
  }
  return placed;
}

} // namespace dnheap::report
