// Debug info and tables of images against their twins: what was written in each of the formats is read again; code
// stands for the IL that debuggers say; and what is no debug info does no harm.
#include "runtime/compiled/debug_info.h"
#include "runtime/compiled/native_array.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace dnheap::test {
namespace {

constexpr Address place = 0x7000123;

Memory memory_of(Bytes bytes) { return Memory(Format{}, {Range{place, bytes}}); }

// Bits, the lowest of each byte first.
class Stream {
public:
  void bits(u64 value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      if (used_ % 8 == 0)
        bytes_.push_back(std::byte{0});
      bytes_.back() |= static_cast<std::byte>((value >> i & 1) << used_ % 8);
      ++used_;
    }
  }
  // Groups of three bits in nibbles, the uppermost first.
  void number(u32 value) {
    unsigned groups = 1;
    while (groups < 11 && value >> (3 * groups))
      ++groups;
    for (; groups > 0; --groups)
      bits((value >> (3 * (groups - 1)) & 7) | (groups > 1 ? 8 : 0), 4);
  }
  void align() { used_ = 8 * bytes_.size(); }
  void append(const std::vector<std::byte> &other) {
    align();
    bytes_.insert(bytes_.end(), other.begin(), other.end());
    align();
  }
  const std::vector<std::byte> &bytes() const { return bytes_; }

private:
  std::vector<std::byte> bytes_;
  u64 used_ = 0;
};

struct Shape {
  DebugInfoFormat format;
  bool has_flags;
};
constexpr Shape shapes[] = {{DebugInfoFormat::nibbles, true},
                            {DebugInfoFormat::nibbles, false},
                            {DebugInfoFormat::packed, true},
                            {DebugInfoFormat::packed, false},
                            {DebugInfoFormat::packed_with_sizes, false}};

std::vector<std::byte> stretches(const std::vector<IlBoundary> &of, DebugInfoFormat format) {
  Stream out;
  out.number(static_cast<u32>(of.size()));
  const bool nibbles = format == DebugInfoFormat::nibbles;
  unsigned native_bits = 1, il_bits = 1;
  u32 last = 0;
  for (const IlBoundary &one : of) {
    native_bits = std::max(native_bits, static_cast<unsigned>(std::bit_width(one.native_offset - last)));
    il_bits = std::max(il_bits, static_cast<unsigned>(std::bit_width(one.il_offset + 3)));
    last = one.native_offset;
  }
  if (!nibbles) {
    out.number(native_bits - 1);
    out.number(il_bits - 1);
    out.align();
  }
  last = 0;
  for (const IlBoundary &one : of) {
    const u32 delta = one.native_offset - last;
    last = one.native_offset;
    if (nibbles) {
      out.number(delta);
      out.number(one.il_offset + 3);
      out.number(one.is_call ? 0x10 : 2);
    } else {
      out.bits(one.is_call ? 1 : 2, format == DebugInfoFormat::packed ? 2 : 3);
      out.bits(delta, native_bits);
      out.bits(one.il_offset + 3, il_bits);
    }
  }
  return out.bytes();
}

// With variables' places behind, and with whatever else may stand in front.
std::vector<std::byte> write(const std::vector<IlBoundary> &of, const Shape &shape, std::mt19937 &random) {
  const std::vector<std::byte> body = of.empty() ? std::vector<std::byte>() : stretches(of, shape.format);
  Stream out;
  if (shape.has_flags) {
    const unsigned flags = static_cast<unsigned>(random() % 4);
    out.bits(flags, 8);
    if (flags & 1) {
      const u32 variables = random() % 5;
      const unsigned words = shape.format == DebugInfoFormat::nibbles ? 2 : 4; // before their number
      for (unsigned i = 0; i < words; ++i)
        out.bits(random(), 32);
      out.bits(variables, 32);
      for (u32 i = 0; i < 5 + variables; ++i)
        out.bits(random(), 32);
    }
    if (flags & 2) {
      out.bits(3, 32);
      out.bits(random(), 24);
    }
  }
  const u32 size = static_cast<u32>(body.size()), variables = 7;
  if (shape.format == DebugInfoFormat::packed_with_sizes && (size == 0 || random() % 2)) {
    for (u32 number : {0u, size, variables, 0u, 4u, 0u, 2u})
      out.number(number);
  } else {
    if (shape.format == DebugInfoFormat::packed && random() % 2) {
      out.number(0xffffffff);
      out.number(size);
      out.number(9);
    } else {
      out.number(size);
    }
    out.number(variables);
  }
  out.append(body);
  return out.bytes();
}

std::vector<IlBoundary> random_boundaries(std::mt19937 &random) {
  std::vector<IlBoundary> out;
  u32 native = 0;
  for (u32 i = 0, count = random() % 40; i < count; ++i) {
    IlBoundary one{native, static_cast<u32>(random() % 500), random() % 4 == 0};
    if (random() % 8 == 0)
      one.il_offset = IlBoundary::none - static_cast<u32>(random() % 3);
    out.push_back(one);
    native += random() % 3 ? static_cast<u32>(random() % 60) : 0;
  }
  return out;
}

TEST(DebugInfo, SaysWhatWasWritten) {
  for (const Shape &shape : shapes)
    for (u32 seed = 0; seed < 200; ++seed) {
      std::mt19937 random(seed);
      const std::vector<IlBoundary> expected = random_boundaries(random);
      const std::vector<std::byte> bytes = write(expected, shape, random);
      std::vector<IlBoundary> found;
      const ReadOutcome outcome = read_il_boundaries(memory_of(bytes), {place, shape.format, shape.has_flags}, found);
      ASSERT_TRUE(outcome) << outcome.text() << " seed " << seed;
      ASSERT_EQ(found, expected) << "seed " << seed;
    }
}

std::vector<AwaitPoint> random_awaits(std::mt19937 &random) {
  std::vector<AwaitPoint> out(random() % 6);
  u32 native = 0;
  for (AwaitPoint &point : out) {
    point.native_offset = native += static_cast<u32>(random() % 900);
    for (u32 i = 0, count = random() % 4; i < count; ++i)
      point.saved.push_back({static_cast<u32>(random() % 20), static_cast<u32>(32 + 8 * (random() % 40))});
  }
  return out;
}

// Behind the other parts. One of what is kept may be none of the source's variables.
std::vector<std::byte> write_awaits(const std::vector<AwaitPoint> &of, std::mt19937 &random) {
  u32 saved = 0;
  for (const AwaitPoint &point : of)
    saved += static_cast<u32>(point.saved.size());
  const bool has_other = !of.empty() && random() % 2;
  Stream awaits;
  awaits.number(static_cast<u32>(of.size()));
  awaits.number(saved + has_other);
  u32 last = 0;
  for (const AwaitPoint &point : of) {
    awaits.number(2 * (point.native_offset - last));
    awaits.number(static_cast<u32>(point.saved.size()) + (has_other && &point == &of.front()));
    last = point.native_offset;
  }
  if (has_other)
    for (u32 number : {3u, 32u})
      awaits.number(number);
  for (const AwaitPoint &point : of)
    for (const SavedLocal &local : point.saved) {
      awaits.number(local.number + 6);
      awaits.number(local.offset);
    }
  Stream out;
  const u32 before[] = {static_cast<u32>(random() % 4), static_cast<u32>(random() % 9), 0u,
                        static_cast<u32>(random() % 5), 3u};
  out.number(0);
  for (u32 size : before)
    out.number(size);
  out.number(static_cast<u32>(awaits.bytes().size()));
  out.align();
  for (u32 size : before)
    for (u32 i = 0; i < size; ++i)
      out.bits(random(), 8);
  out.append(awaits.bytes());
  return out.bytes();
}

TEST(DebugInfo, SaysWhatIsKeptAtEachAwait) {
  for (u32 seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const std::vector<AwaitPoint> expected = random_awaits(random);
    const std::vector<std::byte> bytes = write_awaits(expected, random);
    std::vector<AwaitPoint> found;
    const DebugInfoPlace at{place, DebugInfoFormat::packed_with_sizes, false};
    const ReadOutcome outcome = read_await_points(memory_of(bytes), at, found);
    ASSERT_TRUE(outcome) << outcome.text() << " seed " << seed;
    ASSERT_EQ(found, expected) << "seed " << seed;
    ASSERT_TRUE(read_await_points(memory_of(bytes), {place, DebugInfoFormat::packed, false}, found));
    ASSERT_TRUE(found.empty()); // which earlier runtimes do not have
    for (int i = 0; i < 20; ++i) {
      std::vector<std::byte> damaged = bytes;
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
      if (i % 4 == 0)
        damaged.resize(random() % damaged.size());
      if (!read_await_points(memory_of(damaged), at, found)) {
        EXPECT_TRUE(found.empty());
      }
    }
  }
}

// As .NET 11.0.0 left it of a method that keeps a struct, its variable 0, at 56, at its only await.
TEST(DebugInfo, OfARealAwait) {
  Stream bytes;
  for (u32 number : {0u, 0u, 0u, 0u, 0u, 0u, 5u})
    bytes.number(number);
  bytes.align();
  for (u32 number : {1u, 1u, 2 * 0xc6u, 1u, 6u, 56u})
    bytes.number(number);
  std::vector<AwaitPoint> found;
  ASSERT_TRUE(read_await_points(memory_of(bytes.bytes()), {place, DebugInfoFormat::packed_with_sizes, false}, found));
  EXPECT_EQ(found, (std::vector<AwaitPoint>{{0xc6, {{0, 56}}}}));
}

// As .NET 10.0.14 left it beside a method with a loop, whose code may be replaced while it runs.
TEST(DebugInfo, OfARealMethod) {
  const u8 bytes[] = {0x01, 0x28, 0xf0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x70, 0x6a, 0x09, 0xc2, 0x55, 0x7f, 0x00,
                      0x00, 0x01, 0x00, 0x00, 0x00, 0x98, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xa0, 0xff, 0xff, 0xff, 0x59, 0x06, 0x66,
                      0x04, 0x02, 0x82, 0xce, 0x41, 0x07, 0x29, 0x8a, 0x1a, 0x84, 0x1c, 0x0b, 0xd1, 0xc1, 0x28, 0x34};
  std::vector<IlBoundary> found;
  ASSERT_TRUE(
      read_il_boundaries(memory_of(std::as_bytes(std::span(bytes))), {place, DebugInfoFormat::packed, true}, found));
  ASSERT_EQ(found.size(), 6u);
  EXPECT_EQ(found[0], (IlBoundary{0, IlBoundary::prolog, false}));
  EXPECT_EQ(found[1].il_offset, 0u);
  EXPECT_EQ(found[5].il_offset, 19u);
}

TEST(DebugInfo, CodeStandsForTheStretchThatItIsIn) {
  const std::vector<IlBoundary> all = {{0, IlBoundary::prolog}, {10, 0},   {20, 7, true},           {30, 12}, {30, 15},
                                       {40, IlBoundary::none},  {50, 300}, {60, IlBoundary::epilog}};
  const std::map<u64, std::optional<u32>> expected = {{0, 0},   {9, 0},   {10, 0}, {25, 0},   {29, 0},
                                                      {30, 15}, {39, 15}, {45, 0}, {50, 300}, {1000, 300}};
  for (const auto &[at, il] : expected)
    EXPECT_EQ(il_offset_at(all, at), il) << at;
  EXPECT_EQ(il_offset_at({}, 0), std::nullopt);
}

TEST(DebugInfo, NothingIsReadBehindIt) {
  for (const Shape &shape : shapes)
    for (u32 seed = 0; seed < 60; ++seed) {
      std::mt19937 random(seed);
      std::vector<IlBoundary> expected = random_boundaries(random);
      if (expected.empty())
        continue;
      std::vector<std::byte> bytes = write(expected, shape, random);
      std::vector<IlBoundary> found;
      bytes.pop_back();
      const ReadOutcome cut = read_il_boundaries(memory_of(bytes), {place, shape.format, shape.has_flags}, found);
      EXPECT_EQ(cut.kind, ReadOutcome::Kind::missing) << seed;
      EXPECT_EQ(cut.at, place + bytes.size());
      EXPECT_TRUE(found.empty());
    }
}

TEST(DebugInfo, AnyBytes) {
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> bytes(random() % 60);
    for (std::byte &one : bytes)
      one = static_cast<std::byte>(random() % 3 ? random() : random() % 4);
    const Shape &shape = shapes[i % std::size(shapes)];
    std::vector<IlBoundary> found;
    if (!read_il_boundaries(memory_of(bytes), {place, shape.format, shape.has_flags}, found)) {
      EXPECT_TRUE(found.empty());
    }
    EXPECT_LE(found.size(), bytes.size() * 8);
  }
}

// A table of sixteen entries a block, as a compiler writes it: what is below a node to the left follows it, what is to
// the right lies where the node says.
class ArrayWriter {
public:
  static void number(std::vector<u8> &to, u32 value) {
    const unsigned extra = value < 1u << 7 ? 0 : value < 1u << 14 ? 1 : value < 1u << 21 ? 2 : value < 1u << 28 ? 3 : 4;
    const u64 whole = extra == 4 ? u64{value} << 8 | 0xf : u64{value} << (extra + 1) | ((1u << extra) - 1);
    for (unsigned i = 0; i <= extra; ++i)
      to.push_back(static_cast<u8>(whole >> (8 * i)));
  }

  // Entry i, where it is, is the number given.
  static std::vector<u8> write(const std::map<u32, u32> &entries, u32 count, unsigned size_code) {
    std::vector<u8> blocks, starts;
    const u32 size = 1u << size_code, block_count = (count + 15) / 16;
    for (u32 block = 0; block < block_count; ++block) {
      const u32 start = static_cast<u32>(size * block_count + blocks.size());
      for (u32 i = 0; i < size; ++i)
        starts.push_back(static_cast<u8>(start >> (8 * i)));
      const std::vector<u8> tree = node(entries, 16 * block, 8);
      blocks.insert(blocks.end(), tree.begin(), tree.end());
    }
    std::vector<u8> out;
    number(out, count << 2 | size_code);
    out.insert(out.end(), starts.begin(), starts.end());
    out.insert(out.end(), blocks.begin(), blocks.end());
    return out;
  }

private:
  static std::vector<u8> node(const std::map<u32, u32> &entries, u32 first, u32 bit) {
    std::vector<u8> out;
    const auto from = entries.lower_bound(first), to = entries.lower_bound(first + 2 * bit);
    if (bit == 0) {
      number(out, from->second);
      return out;
    }
    if (std::distance(from, to) <= 1) { // none: one that no index has
      number(out, from == to ? 16 << 2 : from->first % 16 << 2);
      number(out, from == to ? 0 : from->second);
      return out;
    }
    const bool left = from->first < first + bit, right = std::prev(to)->first >= first + bit;
    const std::vector<u8> below = left ? node(entries, first, bit / 2) : std::vector<u8>();
    std::vector<u8> above = right ? node(entries, first + bit, bit / 2) : std::vector<u8>();
    for (u32 guess = 1;; ++guess) { // how long the node itself is depends on what it says
      out.clear();
      number(out, (right ? (guess + static_cast<u32>(below.size())) << 2 | 2 : 0) | (left ? 1 : 0));
      if (!right || out.size() == guess)
        break;
    }
    out.insert(out.end(), below.begin(), below.end());
    out.insert(out.end(), above.begin(), above.end());
    return out;
  }
};

TEST(NativeArray, EveryEntryIsFoundAndNoOther) {
  std::mt19937 random(1);
  for (u32 seed = 0; seed < 200; ++seed) {
    const u32 count = random() % 100;
    std::map<u32, u32> entries;
    for (u32 i = 0; i < count; ++i)
      if (random() % (1 + seed % 4) == 0)
        entries[i] = static_cast<u32>(random() >> random() % 32);
    const unsigned size_code = 1 + seed % 2;
    std::vector<u8> bytes = ArrayWriter::write(entries, count, size_code);
    bytes.insert(bytes.begin(), 5, 0xee); // it lies somewhere in the image
    const Memory memory = memory_of(std::as_bytes(std::span(bytes)));
    const NativeArray array(memory, place, 5);
    for (u32 i = 0; i < count + 40; ++i) {
      const std::optional<u32> at = array.find(i);
      ASSERT_EQ(at.has_value(), entries.contains(i)) << "seed " << seed << " entry " << i;
      if (!at)
        continue;
      const std::optional<NativeArray::Number> number = NativeArray::number(memory, place, *at);
      ASSERT_TRUE(number);
      EXPECT_EQ(number->value, entries[i]);
    }
  }
}

TEST(NativeArray, AnyBytes) {
  std::mt19937 random(5);
  for (int i = 0; i < 5000; ++i) {
    std::vector<u8> bytes(random() % 80);
    for (u8 &one : bytes)
      one = static_cast<u8>(random());
    const Memory memory = memory_of(std::as_bytes(std::span(bytes)));
    for (u32 index = 0; index < 40; ++index)
      if (const std::optional<u32> at = NativeArray(memory, place, 0).find(index))
        (void)NativeArray::number(memory, place, *at);
  }
  EXPECT_FALSE(NativeArray(memory_of({}), place, 0).find(0));
}

} // namespace
} // namespace dnheap::test
