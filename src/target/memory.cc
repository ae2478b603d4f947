#include "target/memory.h"

#include "base/text.h"
#include "target/unreadable.h"

#include <algorithm>
#include <queue>

namespace dnheap {

Memory::Memory(Format format, std::vector<Range> ranges) : format_(format) {
  // Cut ranges at the end of the address space, and drop empty ones.
  u64 last = format.pointer_size == 8 ? ~u64{0} : 0xffffffffu;
  std::erase_if(ranges, [&](const Range &r) { return r.bytes.empty() || r.address > last; });
  for (Range &r : ranges)
    if (r.bytes.size() - 1 > last - r.address)
      r.bytes = r.bytes.first(last - r.address);
  std::erase_if(ranges, [](const Range &r) { return r.bytes.empty(); });

  // Sweep by address. `open` holds the ranges that reach beyond `at`, best (lowest index) first; ended ones are dropped
  // when they surface, so the whole is O(n log n) however much the ranges overlap.
  std::vector<u32> order(ranges.size());
  for (u32 i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return ranges[a].address < ranges[b].address; });

  auto emit = [&](const Range &source, Address start, Address end) {
    Bytes bytes = source.bytes.subspan(start - source.address, end - start);
    if (!ranges_.empty()) {
      Range &back = ranges_.back();
      if (back.end() == start && back.bytes.data() + back.bytes.size() == bytes.data()) {
        back.bytes = {back.bytes.data(), back.bytes.size() + bytes.size()};
        return;
      }
    }
    ranges_.push_back({start, bytes});
  };

  std::priority_queue<u32, std::vector<u32>, std::greater<>> open;
  Address at = 0;
  u64 next = 0;
  while (next < order.size() || !open.empty()) {
    while (!open.empty() && ranges[open.top()].end() <= at)
      open.pop();
    if (open.empty()) {
      if (next == order.size())
        break;
      at = std::max(at, ranges[order[next]].address);
    }
    while (next < order.size() && ranges[order[next]].address <= at)
      open.push(order[next++]);
    while (!open.empty() && ranges[open.top()].end() <= at)
      open.pop();
    if (open.empty())
      continue;
    Address stop = ranges[open.top()].end();
    // A better range may start before this one ends.
    if (next < order.size())
      stop = std::min(stop, ranges[order[next]].address);
    if (stop > at)
      emit(ranges[open.top()], at, stop);
    at = stop;
  }
  ranges_.shrink_to_fit();
}

void Memory::lay_under(std::vector<Range> ranges) {
  std::vector<Range> all = std::move(ranges_);
  all.insert(all.end(), ranges.begin(), ranges.end());
  Memory flat(format_, std::move(all));
  ranges_ = std::move(flat.ranges_);
}

std::vector<LostRange> Memory::take_out(std::span<const LostBytes> lost) {
  std::vector<LostRange> out;
  std::vector<Range> left;
  for (const Range &range : ranges_) {
    const std::byte *begin = range.bytes.data(), *end = begin + range.bytes.size(), *at = begin;
    auto it = std::partition_point(lost.begin(), lost.end(),
                                   [&](const LostBytes &l) { return l.bytes.data() + l.bytes.size() <= begin; });
    auto keep_up_to = [&](const std::byte *to) {
      if (at < to)
        left.push_back({range.address + static_cast<u64>(at - begin), {at, to}});
    };
    for (; it != lost.end() && it->bytes.data() < end; ++it) {
      const std::byte *from = std::max(it->bytes.data(), begin),
                      *to = std::min(it->bytes.data() + it->bytes.size(), end);
      keep_up_to(from);
      out.push_back({range.address + static_cast<u64>(from - begin), range.address + static_cast<u64>(to - begin),
                     static_cast<u64>(it - lost.begin())});
      at = to;
    }
    keep_up_to(end);
  }
  ranges_ = std::move(left);
  return out;
}

u64 Memory::size() const {
  u64 sum = 0;
  for (const Range &r : ranges_)
    sum += r.bytes.size();
  return sum;
}

u64 Memory::known_bytes(Address start, Address end) const {
  u64 sum = 0;
  auto range = std::partition_point(ranges_.begin(), ranges_.end(), [&](const Range &r) { return r.end() <= start; });
  for (; range != ranges_.end() && range->address < end; ++range)
    sum += std::min(range->end(), end) - std::max(range->address, start);
  return sum;
}

const Range *Memory::locate(Address address) const {
  address &= address_bits_;
  // The next read is usually near the last one. The remembered range may belong to another Memory, so it is checked.
  thread_local u64 recent = 0;
  if (recent < ranges_.size() && address - ranges_[recent].address < ranges_[recent].bytes.size())
    return &ranges_[recent];
  if (ranges_.empty() || address >= ranges_.back().end()) // rejects most words that are not addresses
    return nullptr;
  auto it = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                             [](Address a, const Range &r) { return a < r.address; });
  if (it == ranges_.begin())
    return nullptr;
  --it;
  if (address - it->address >= it->bytes.size())
    return nullptr;
  recent = static_cast<u64>(it - ranges_.begin());
  return &*it;
}

Bytes Memory::place(Address address, u64 limit) const {
  const Range *range = locate(address);
  if (!range)
    return {};
  Bytes rest = range->bytes.subspan((address & address_bits_) - range->address);
  return rest.first(std::min<u64>(rest.size(), limit));
}

Bytes Memory::peek_up_to(Address address, u64 limit) const { return fetched(place(address, limit)); }

u64 Memory::copy(Bytes bytes, std::byte *out) const {
  if (on_demand_)
    return on_demand_->copy(bytes, out);
  std::memcpy(out, bytes.data(), bytes.size());
  return bytes.size();
}

bool Memory::peek(Address address, std::span<std::byte> out) const {
  constexpr u64 much = 256 << 10; // more is not worth keeping
  while (!out.empty()) {
    Bytes part = place(address, out.size());
    u64 size = part.size() > much ? copy(part, out.data()) : fetched(part).size();
    if (size == 0)
      return false;
    if (part.size() <= much)
      std::memcpy(out.data(), part.data(), size);
    out = out.subspan(size);
    address += size;
  }
  return true;
}

std::optional<std::string> Memory::try_text(Address address, u64 limit) const {
  constexpr u64 piece = 4096; // most texts are short
  std::string out;
  while (out.size() < limit) {
    Bytes part = peek_up_to(address + out.size(), std::min(limit - out.size(), piece));
    if (part.empty())
      return std::nullopt;
    std::string_view text = as_text(part);
    std::size_t end = text.find('\0');
    note_read(address + out.size(), end == text.npos ? text.size() : end + 1);
    out += text.substr(0, end);
    if (end != text.npos)
      return out;
  }
  return std::nullopt;
}

std::optional<std::string> Memory::try_text16(Address address, u64 limit) const {
  std::vector<std::byte> units;
  for (u64 i = 0; i < limit; ++i) {
    std::byte unit[2];
    if (!read(address + 2 * i, unit))
      return std::nullopt;
    if (unit[0] == std::byte{0} && unit[1] == std::byte{0})
      return utf16_to_utf8(units, format_.byte_order);
    units.insert(units.end(), unit, unit + 2);
  }
  return std::nullopt;
}

u64 Memory::pointer(Address address, const char *what) const {
  if (std::optional<u64> value = try_pointer(address))
    return *value;
  throw Unreadable(std::string("cannot read ") + what + " at " + hex(address) + ": address not in this dump");
}

u32 Memory::u32_at(Address address, const char *what) const {
  if (std::optional<u32> value = try_load<u32>(address))
    return *value;
  throw Unreadable(std::string("cannot read ") + what + " at " + hex(address) + ": address not in this dump");
}

std::string utf16_to_utf8(Bytes text, ByteOrder order) {
  std::string out;
  auto put = [&](u32 c) {
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += static_cast<char>(0xc0 | c >> 6);
      out += static_cast<char>(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
      out += static_cast<char>(0xe0 | c >> 12);
      out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
      out += static_cast<char>(0x80 | (c & 0x3f));
    } else {
      out += static_cast<char>(0xf0 | c >> 18);
      out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
      out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
      out += static_cast<char>(0x80 | (c & 0x3f));
    }
  };
  for (u64 i = 0; i + 2 <= text.size(); i += 2) {
    u32 unit = load<u16>(text.data() + i, order);
    if (unit < 0xd800 || unit > 0xdfff) {
      put(unit);
      continue;
    }
    std::optional<u16> low = load_at<u16>(text, i + 2, order);
    if (unit < 0xdc00 && low && *low >= 0xdc00 && *low <= 0xdfff) {
      put(0x10000 + ((unit - 0xd800) << 10) + (*low - 0xdc00u));
      i += 2;
    } else {
      put(0xfffd);
    }
  }
  return out;
}

} // namespace dnheap
