#include "snapshot/files/literals.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr std::string_view root_signature = "BSJB"; // II.24.2.1
constexpr u64 largest_metadata = 512 << 20;
constexpr u64 largest_head = 1024; // metadata root and list of streams
constexpr u32 most_streams = 16;

using Stretch = std::pair<Address, Address>;

bool overlap(const Stretch &a, const Stretch &b) { return a.first < b.second && b.first < a.second; }

// Returns the literals of the metadata root at that address; empty if it is no root or its list of streams is
// impossible.
Stretch literals_of(const Memory &memory, Address root) {
  const Bytes head = memory.peek_up_to(root, largest_head);
  const std::optional<u32> version = load_at<u32>(head, 12, ByteOrder::little);
  if (!version || *version > 255)
    return {};
  u64 at = 16 + *version;
  const u16 count = load_at<u16>(head, at + 2, ByteOrder::little).value_or(0);
  if (count > most_streams)
    return {};
  at += 4;
  Stretch literals;
  std::vector<Stretch> others;
  bool has_tables = false;
  for (u16 i = 0; i < count; ++i) {
    const std::optional<u32> offset = load_at<u32>(head, at, ByteOrder::little),
                             size = load_at<u32>(head, at + 4, ByteOrder::little);
    if (!offset || !size || u64{*offset} + *size > largest_metadata)
      return {};
    const std::string_view name = text_at(head, at + 8, 32);
    at += 8 + align_up(name.size() + 1, 4);
    const Stretch stream{root + *offset, root + *offset + *size};
    has_tables |= name == "#~" || name == "#-";
    if (name == "#US" && literals.first == 0)
      literals = stream;
    else
      others.push_back(stream);
  }
  const bool is_apart =
      std::none_of(others.begin(), others.end(), [&](const Stretch &s) { return overlap(s, literals); });
  return has_tables && is_apart ? literals : Stretch{};
}

// Searches a stretch of pages or of an image, piece by piece.
void search_memory(const Memory &memory, Address start, Address end, std::vector<Stretch> &out) {
  while (start < end) {
    const Bytes piece = memory.peek_up_to(start, end - start);
    if (piece.empty()) {
      const std::span<const Range> ranges = memory.ranges();
      auto next = std::upper_bound(ranges.begin(), ranges.end(), start,
                                   [](Address a, const Range &range) { return a < range.address; });
      if (next == ranges.end())
        return;
      start = next->address;
      continue;
    }
    const std::string_view text = as_text(piece);
    for (std::size_t at = 0; (at = text.find(root_signature, at)) != text.npos; ++at)
      if (Stretch found = literals_of(memory, start + at); found.first < found.second)
        out.push_back(found);
    start += piece.size();
  }
}

bool is_assembly(const Memory &memory, Address base) {
  const Bytes magic = memory.peek_up_to(base, 2);
  return as_text(magic) == "MZ";
}

} // namespace

std::vector<Stretch> find_literals(const Target &target, const std::vector<ReadRecord::Page> &pages) {
  const Memory &memory = target.memory;
  std::vector<Stretch> searched;
  for (const ReadRecord::Page &page : pages)
    searched.emplace_back(page.address, page.address + ReadRecord::page_size);
  for (const Module &module : target.modules)
    if (is_assembly(memory, module.base))
      for (const Extent &extent : module.extents)
        searched.emplace_back(extent.start, extent.end);
  std::sort(searched.begin(), searched.end());
  std::vector<Stretch> out;
  for (u64 i = 0; i < searched.size();) {
    Stretch whole = searched[i++];
    for (; i < searched.size() && searched[i].first <= whole.second; ++i)
      whole.second = std::max(whole.second, searched[i].second);
    search_memory(memory, whole.first, whole.second, out);
  }
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace dnheap
