// Code address → method, on synthetic code: of both kinds of nibble maps with a brute-force twin, of ReadyToRun images
// with funclets, filters, a composite one, and pages that are missing.
#include "image/ready_to_run_header.h"
#include "runtime/coreclr/code/code_lookup.h"
#include "runtime/coreclr/code/il_offsets.h"
#include "runtime/layout/coreclr/code.h"
#include "support/block.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace dnheap::test {
namespace {

constexpr Format x64{8, ByteOrder::little};
constexpr Address code_base = 0x7f1234560000, data_base = 0x7f8000000000;

struct JitMethod {
  Address start = 0, end = 0, header = 0;
};

// The runtime's data, and what of it a dump holds.
class CodeBuilder {
public:
  explicit CodeBuilder(Format format = x64)
      : format(format), p(format.pointer_size), data(format, p == 8 ? data_base : 0x10000000) {
    top = data.reserve(256 * p);
  }

  // A way through the tables of the map to a fragment, for each piece of the address space.
  Address add_section(Address begin, Address end, u32 flags, Address module, Address heap_list) {
    const Address section = data.words({begin, end, 0, 0, module, heap_list});
    data.word(section + 2 * p, flags);
    const unsigned levels = p == 8 ? 5 : 2, lowest = p == 8 ? 17 : 16;
    const u64 piece = u64{1} << lowest;
    for (Address at = begin & ~(piece - 1); at < end; at += piece) {
      Address table = top;
      for (unsigned level = 0; level < levels; ++level) {
        const Address entry = table + (at >> (lowest + 8 * (levels - 1 - level)) & 255) * p;
        Address &below = tables[entry];
        if (level + 1 == levels) // bits that say "collectible" do not count
          below = data.words({below, begin, end, section | 1}) | 1;
        else if (!below)
          below = data.reserve(256 * p) | 1;
        data.pointer(entry, below);
        table = below & ~Address{1};
      }
    }
    return section;
  }

  ContractDescriptor descriptor(u32 gc_info = 4) const {
    ContractDescriptor d;
    d.set_number("ExecutionManagerCodeRangeMapAddress", top, true, Origin::discovered);
    d.set_number("GCInfoVersion", gc_info, false, Origin::discovered);
    d.set_field("Module", "ReadyToRunInfo", 64, Origin::discovered);
    d.set_field("ReadyToRunInfo", "EntryPointToMethodDescMap", 40 * i64(p), Origin::discovered);
    d.contracts["ExecutionManager"] = "c1"; // of .NET 9, and of 11, whose maps are like those of 10's "c2"
    return d;
  }

  Target target(const std::vector<Range> &more = {}) const {
    Target out;
    out.architecture = Architecture::x64;
    std::vector<Range> ranges = more;
    ranges.push_back(data.range());
    out.memory = Memory(format, std::move(ranges));
    return out;
  }

  Format format;
  u64 p;
  Block data;
  Address top = 0;
  std::map<Address, Address> tables;
};

// A heap of compiled code: methods with headers in front of them, and the map that says where they begin.
class JitHeap {
public:
  JitHeap(CodeBuilder &builder, u64 size, bool constant_time)
      : b(builder), base(b.p == 8 ? code_base : 0x20000000), code(b.format, base), groups(size / 256 + 1),
        constant(constant_time) {
    code.reserve(size);
  }

  // `functions`: lengths, the main body's first.
  Address add(Address start, std::vector<u32> functions, Address method_desc, Address eh_info = 0) {
    const Address header = b.data.words({0, eh_info, 0x5000 + method_desc, method_desc});
    b.data.word(b.data.reserve(4, 4), functions.size());
    u32 at = static_cast<u32>(start - base);
    for (u32 length : functions) {
      for (u32 word : {at, at + length, 0x1000 + at})
        b.data.word(b.data.reserve(4, 4), word);
      at += length;
    }
    code.pointer(start - b.p, header);
    mark(start, base + at);
    methods.push_back({start, base + at, header});
    return header;
  }
  void add_stub(Address start, u64 kind) {
    code.pointer(start - b.p, kind);
    mark(start, start + 16);
  }
  void finish(Address end) {
    const Address map = b.data.reserve(4 * groups.size(), 4);
    for (u64 i = 0; i < groups.size(); ++i)
      b.data.word(map + 4 * i, groups[i]);
    const Address node = b.data.words({0, 0, base, end, base, map});
    b.add_section(base, end, RangeSection::code_heap_flag, 0, node);
  }

  CodeBuilder &b;
  Address base;
  Block code;
  std::vector<u32> groups;
  bool constant;
  std::vector<JitMethod> methods;

private:
  void mark(Address start, Address end) {
    const u64 relative = start - base, bucket = relative / 32;
    groups[bucket / 8] |= static_cast<u32>((relative % 32 / 4 + 1) << (28 - 4 * (bucket % 8)));
    for (u64 group = bucket / 8 + 1; constant && (group + 1) * 256 <= end - base; ++group)
      groups[group] = pointer_to(relative);
  }
  // Relative offsets are multiples of 4: the lowest four bits say which of four words, from 9 on.
  static u32 pointer_to(u64 relative) { return static_cast<u32>((relative & ~u64{15}) | ((relative & 15) / 4 + 9)); }
};

Address method_desc_of(u64 i) { return 0x7000 + 8 * i; }

void expect_all_addresses(CodeBuilder &builder, const JitHeap &heap, u32 gc_info, Address end) {
  const Target target = builder.target({heap.code.range()});
  const ContractDescriptor descriptor = builder.descriptor(gc_info);
  const CodeLookup lookup(target, descriptor);
  EXPECT_EQ(lookup.why_not(), "");
  for (Address ip = heap.base; ip < end; ip += 4) {
    const JitMethod *expected = nullptr;
    u64 number = 0;
    for (u64 i = 0; i < heap.methods.size(); ++i)
      if (heap.methods[i].start <= ip && ip < heap.methods[i].end)
        expected = &heap.methods[i], number = i;
    const std::optional<CodeBlock> found = lookup.find(ip);
    ASSERT_EQ(found.has_value(), expected != nullptr) << std::hex << ip;
    if (found) {
      ASSERT_EQ(found->start, expected->start) << std::hex << ip;
      EXPECT_EQ(found->method_desc, method_desc_of(number));
      EXPECT_EQ(found->image_base, heap.base);
      EXPECT_EQ(found->unwind_info, 0x1000 + found->function_start);
      EXPECT_FALSE(found->ready_to_run);
    }
  }
  EXPECT_FALSE(lookup.find(heap.base - 4));
  EXPECT_FALSE(lookup.find(end + 0x100000));
  std::vector<Address> all;
  for (u64 i = 0; i < heap.methods.size(); ++i)
    all.push_back(method_desc_of(i));
  EXPECT_EQ(lookup.compiled_methods(), all);
}

TEST(CodeLookup, EveryAddressOfAHeapOfCompiledCode) {
  for (Format format : {x64, Format{8, ByteOrder::big}, Format{4, ByteOrder::little}})
    for (u32 gc_info : {3u, 4u, 5u})
      for (u32 seed = 1; seed <= 6; ++seed) {
        SCOPED_TRACE(std::to_string(gc_info) + " " + std::to_string(seed));
        std::mt19937 random(seed);
        CodeBuilder builder(format);
        JitHeap heap(builder, 0x10000, gc_info >= 4);
        // In a bucket of 32 bytes only one method begins; many are longer than what one group stands for.
        Address at = heap.base + 64;
        for (u64 i = 0; at + 0x900 < heap.base + 0xf000; ++i) {
          const u32 size = 4 * (1 + static_cast<u32>(random() % (i % 3 ? 40 : 500)));
          heap.add(at, {size}, method_desc_of(i));
          at = align_up(at + size + 32 + 4 * (random() % 40), 4);
        }
        const Address end = heap.base + 0x10000;
        heap.finish(end);
        expect_all_addresses(builder, heap, gc_info, end);
      }
}

TEST(CodeLookup, StubsAreNoMethods) {
  CodeBuilder builder;
  JitHeap heap(builder, 0x1000, false);
  heap.add_stub(heap.base + 64, 5);
  heap.add(heap.base + 128, {32}, 0x7000);
  heap.finish(heap.base + 0x1000);
  builder.add_section(code_base + 0x40000, code_base + 0x50000, RangeSection::range_list_flag, 0, 0x1234);
  const Target target = builder.target({heap.code.range()});
  const ContractDescriptor descriptor = builder.descriptor();
  const CodeLookup lookup(target, descriptor);
  EXPECT_EQ(lookup.compiled_methods(), std::vector<Address>{0x7000});
  EXPECT_FALSE(lookup.find(heap.base + 68));
  EXPECT_TRUE(lookup.find(heap.base + 132));
  EXPECT_FALSE(lookup.find(code_base + 0x41000));
}

// A filter is the funclet whose offset a clause names; without the clauses every funclet may be one.
TEST(CodeLookup, FuncletsAndFilters) {
  for (auto [has_clauses, is_published] : {std::pair{true, false}, {true, true}, {false, false}}) {
    const u64 size = is_published ? 48 : 32, flags_at = is_published ? 8 : 0, filter_at = is_published ? 40 : 24;
    CodeBuilder builder;
    JitHeap heap(builder, 0x1000, false);
    Address clauses = 0;
    if (has_clauses) {
      clauses = builder.data.words({2}) + 8; // their number stands in front
      builder.data.reserve(8);
      for (auto [flags, filter] : {std::pair{0u, 96u}, {1u, 64u}}) { // a catch, whose word is a type; a filter
        const Address at = builder.data.reserve(size);
        builder.data.word(at + flags_at, flags);
        builder.data.word(at + filter_at, filter);
      }
    }
    heap.add(heap.base + 128, {64, 32, 32}, 0x7000, has_clauses ? clauses : 0x666000);
    heap.finish(heap.base + 0x1000);
    const Target target = builder.target({heap.code.range()});
    ContractDescriptor descriptor = builder.descriptor();
    if (is_published) {
      descriptor.set_field("EEExceptionClause", "Flags", static_cast<i64>(flags_at), Origin::published);
      descriptor.set_field("EEExceptionClause", "TypeHandle", static_cast<i64>(filter_at), Origin::published);
      descriptor.types["EEExceptionClause"].size = static_cast<u32>(size);
    }
    const CodeLookup lookup(target, descriptor);
    const CodeBlock body = *lookup.find(heap.base + 130), first = *lookup.find(heap.base + 128 + 66),
                    second = *lookup.find(heap.base + 128 + 100);
    EXPECT_FALSE(body.is_funclet);
    EXPECT_TRUE(first.is_funclet && second.is_funclet);
    EXPECT_TRUE(first.is_filter);
    EXPECT_EQ(second.is_filter, !has_clauses);
    EXPECT_EQ(second.start, heap.base + 128);
    EXPECT_EQ(second.function_start, heap.base + 128 + 96);
    EXPECT_EQ(second.offset_of(heap.base + 128 + 100), 100u);
  }
}

TEST(CodeLookup, WhatIsMissingIsSaid) {
  CodeBuilder builder;
  JitHeap heap(builder, 0x1000, false);
  heap.add(heap.base + 128, {64}, 0x7000);
  heap.finish(heap.base + 0x1000);
  const Target target = builder.target(); // without the code, so without what stands in front of methods
  ContractDescriptor descriptor = builder.descriptor();
  EXPECT_THROW(CodeLookup(target, descriptor).find(heap.base + 130), Error);
  EXPECT_FALSE(CodeLookup(target, descriptor).compiled_methods());
  descriptor.globals.erase("ExecutionManagerCodeRangeMapAddress");
  descriptor.missing["ExecutionManagerCodeRangeMapAddress"] = "0 variables";
  const CodeLookup none(target, descriptor);
  EXPECT_NE(none.why_not().find("0 variables"), std::string::npos);
  EXPECT_FALSE(none.find(heap.base + 130));
}

// An image: `count` functions of 32 bytes each; those whose number is in `funclets` are part of the one before.
class ImageBuilder {
public:
  ImageBuilder(CodeBuilder &builder, u32 count, std::vector<u32> funclets, bool composite, u16 major,
               Address base = code_base)
      : b(builder), image(b.format, base), functions(count), base(base) {
    header = image.reserve(0x400, 4);
    image.word(header, ready_to_run_signature);
    image.half(header + 4, major);
    const Address table = image.reserve(12 * count, 4), unwind = image.reserve(16 * count, 4);
    for (u32 i = 0; i < count; ++i) {
      image.word(table + 12 * i, begin(i));
      image.word(table + 12 * i + 4, begin(i) + 32);
      image.word(table + 12 * i + 8, static_cast<u32>(unwind + 16 * i - base));
      image.word(unwind + 16 * i, 2u << 16);   // two codes: eight bytes and four
      image.word(unwind + 16 * i + 8, 0x1000); // the personality routine
    }
    unwind_base = unwind;
    const u64 p = b.p;
    module = b.data.reserve(64 + p);
    info = b.data.reserve(64 * p);
    const Address whole = composite ? b.data.reserve(64 * p) : info;
    b.data.pointer(module + 64, info);
    b.data.pointer(info, module);
    for (Address one : {info, whole}) {
      b.data.pointer(one + 2 * p, header);
      b.data.pointer(one + 5 * p, whole);
      b.data.pointer(one + 10 * p, table);
      b.data.word(one + 11 * p, count);
    }
    add_map(whole + 40 * p, funclets);
    b.add_section(base, base + 0x100000, 0, module, 0);
  }
  void make_filter(u32 i) { image.word(unwind_base + 16 * i + 8, 0x2000); }  // it has another one
  u32 begin(u32 i) const { return 0x40000 + 32 * i + (i > 20 ? 0x100 : 0); } // a gap

  CodeBuilder &b;
  Block image;
  u32 functions;
  Address base;
  static constexpr Address methods = 0x90000;
  Address header = 0, module = 0, info = 0, unwind_base = 0;

private:
  void add_map(Address map, const std::vector<u32> &funclets) {
    const u32 size = 97;
    const Address buckets = b.data.reserve(64 * (size + 1));
    b.data.word(buckets, size);
    b.data.pointer(map + 2 * b.p, buckets);
    for (u32 i = 0; i < functions; ++i) {
      if (std::find(funclets.begin(), funclets.end(), i) != funclets.end())
        continue;
      const u64 key = base + begin(i);
      u32 seed = static_cast<u32>(key >> 2);
      const u32 step = 1 + (static_cast<u32>(key >> 5) + 1) % (size - 1);
      for (bool placed = false; !placed; seed += step) {
        const u32 bucket = seed % size;
        for (u32 k = 0; k < 4 && !placed; ++k)
          if (u64 &at = keys[bucket * 4 + k]; !at) {
            at = key;
            b.data.pointer(buckets + 64 * (bucket + 1) + 8 * k, key);
            values[bucket * 4 + k] |= (methods + 16 * i) >> 1;
            placed = true;
          }
        if (!placed)
          values[bucket * 4] |= u64{1} << 63; // they go on elsewhere
      }
    }
    for (const auto &[place, value] : values)
      b.data.pointer(buckets + 64 * (place / 4 + 1) + 32 + 8 * (place % 4), value);
  }
  std::map<u32, u64> keys, values;
};

TEST(CodeLookup, ReadyToRunImages) {
  for (bool composite : {false, true})
    for (u32 count : {1u, 2u, 11u, 12u, 200u}) {
      SCOPED_TRACE(std::to_string(count) + (composite ? " composite" : ""));
      CodeBuilder builder;
      const std::vector<u32> funclets = {7, 8, 100};
      ImageBuilder image(builder, count, funclets, composite, 16);
      if (count > 8)
        image.make_filter(8);
      const Target target = builder.target({image.image.range()});
      const ContractDescriptor descriptor = builder.descriptor();
      const CodeLookup lookup(target, descriptor);
      for (u32 i = 0; i < count; ++i)
        for (u32 offset : {0u, 5u, 31u}) {
          const Address ip = code_base + image.begin(i) + offset;
          const std::optional<CodeBlock> found = lookup.find(ip);
          u32 method = i;
          while (std::find(funclets.begin(), funclets.end(), method) != funclets.end())
            --method;
          ASSERT_TRUE(found) << i;
          EXPECT_EQ(found->method_desc, ImageBuilder::methods + 16 * method);
          EXPECT_EQ(found->start, code_base + image.begin(method));
          EXPECT_EQ(found->function_start, code_base + image.begin(i));
          EXPECT_EQ(found->function_end, code_base + image.begin(i) + 32);
          EXPECT_EQ(found->is_funclet, method != i);
          EXPECT_EQ(found->is_filter, i == 8);
          EXPECT_EQ(found->unwind_info, image.unwind_base + 16 * i);
          EXPECT_EQ(found->gc_info, image.unwind_base + 16 * method + 12);
          EXPECT_EQ(found->gc_info_version, 4u);
          EXPECT_TRUE(found->ready_to_run);
        }
      EXPECT_FALSE(lookup.find(code_base + 0x100));
    }
}

// Heap dumps of Windows lack images, and pieces of what the runtime keeps of them.
TEST(CodeLookup, DerivedWithoutImages) {
  for (bool has_images : {true, false})
    for (auto [lacks_one, composite] : {std::pair{true, false}, {false, false}, {false, true}}) {
      SCOPED_TRACE(std::to_string(has_images) + std::to_string(lacks_one) + std::to_string(composite));
      CodeBuilder builder;
      ImageBuilder first(builder, 30, {4}, composite, 16), second(builder, 30, {4}, false, 16, code_base + 0x200000);
      if (composite) // a part's own header is somewhere else, in its assembly
        builder.data.pointer(first.info + 2 * builder.p, 0x7e0000000000);
      const std::vector<std::byte> methods(0x1000);
      std::vector<Range> ranges{{ImageBuilder::methods, methods}};
      if (has_images)
        ranges.insert(ranges.end(), {first.image.range(), second.image.range()});
      const Range data = builder.data.range();
      if (lacks_one) {
        const u64 from = second.info - data.address, to = from + 64 * builder.p;
        ranges.push_back({data.address, data.bytes.first(from)});
        ranges.push_back({data.address + to, data.bytes.subspan(to)});
      } else {
        ranges.push_back(data);
      }
      Target target;
      target.architecture = Architecture::x64;
      target.memory = Memory(builder.format, std::move(ranges));
      ContractDescriptor descriptor;
      descriptor.set_number("ExecutionManagerCodeRangeMapAddress", builder.top, true, Origin::published);
      Derivation derivation(target, Module{}, descriptor, {});
      derive_code(derivation);
      EXPECT_EQ(descriptor.try_offset("Module", "ReadyToRunInfo"), 64);
      EXPECT_EQ(descriptor.try_offset("ReadyToRunInfo", "EntryPointToMethodDescMap"), 40 * i64(builder.p));
      EXPECT_EQ(descriptor.try_number("GCInfoVersion"), has_images ? 4u : 3u);
      if (has_images) {
        const CodeLookup lookup(target, descriptor);
        EXPECT_TRUE(lookup.find(code_base + first.begin(3)));
      }
    }
}

// Behind one Module stands another word that leads there, and behind the other one a number that is no address.
TEST(CodeLookup, DerivedFromWhatMostImagesSay) {
  CodeBuilder builder;
  ImageBuilder first(builder, 30, {4}, false, 16), second(builder, 30, {4}, false, 16, code_base + 0x200000);
  const u64 chance = first.info + 8 * builder.p - first.module;
  builder.data.pointer(first.module + chance, first.info);
  builder.data.pointer(second.module + chance, 0x123456789000);
  const std::vector<std::byte> methods(0x1000);
  const Target target = builder.target({{ImageBuilder::methods, methods}, first.image.range(), second.image.range()});
  ContractDescriptor descriptor;
  descriptor.set_number("ExecutionManagerCodeRangeMapAddress", builder.top, true, Origin::published);
  Derivation derivation(target, Module{}, descriptor, {});
  derive_code(derivation);
  EXPECT_EQ(descriptor.try_offset("Module", "ReadyToRunInfo"), 64);
}

// What leads to another kind of file is none, and neither is what leads out of the image where that is not there.
TEST(CodeLookup, DerivedFromSoundImagesOnly) {
  for (bool has_image : {true, false}) {
    CodeBuilder builder;
    ImageBuilder image(builder, 30, {}, false, 16);
    if (has_image)
      image.image.word(image.header, 0x4711);
    else
      builder.data.pointer(image.info + 2 * builder.p, code_base - 8);
    const std::vector<std::byte> methods(0x1000);
    Target target = builder.target({{ImageBuilder::methods, methods}});
    if (has_image)
      target = builder.target({{ImageBuilder::methods, methods}, image.image.range()});
    ContractDescriptor descriptor;
    descriptor.set_number("ExecutionManagerCodeRangeMapAddress", builder.top, true, Origin::published);
    Derivation derivation(target, Module{}, descriptor, {});
    derive_code(derivation);
    EXPECT_FALSE(descriptor.try_offset("Module", "ReadyToRunInfo"));
  }
}

TEST(CodeLookup, VersionsOfImages) {
  EXPECT_EQ(ready_to_run_gc_info_version(9), 3u);
  EXPECT_EQ(ready_to_run_gc_info_version(10), 3u);
  EXPECT_EQ(ready_to_run_gc_info_version(16), 4u);
  EXPECT_EQ(ready_to_run_gc_info_version(21), 5u);
}

// Debug info in nibbles: five bytes, nothing behind them; three stretches: how far on, the IL offset and 3, and a kind.
Address add_debug_info(Block &to, std::initializer_list<u8> before = {}) {
  constexpr u8 nibbles[] = {5, 0, 3, 0, 1, 0, 6, 3, 1, 7, 7, 0}; // what begins a method; IL 0 at 6; IL 4 at 13
  const Address at = to.reserve(before.size() + sizeof nibbles / 2, 1);
  u64 i = 0;
  for (u8 one : before)
    to.put(at + i++, one, 1);
  for (u64 k = 0; k < sizeof nibbles; k += 2)
    to.put(at + i++, nibbles[k] | nibbles[k + 1] << 4, 1);
  return at;
}

// By the three stretches.
void expect_il_offsets(IlOffsets &offsets, Address start) {
  EXPECT_EQ(offsets.find(start, false), 0u);
  EXPECT_EQ(offsets.find(start + 6, false), 0u);
  EXPECT_EQ(offsets.find(start + 13, true), 0u) << "the call stands before it";
  EXPECT_EQ(offsets.find(start + 13, false), 4u);
  EXPECT_EQ(offsets.find(start + 14, true), 4u);
}

TEST(CodeLookup, IlOffsetsOfCompiledCode) {
  for (Format format : {x64, Format{8, ByteOrder::big}, Format{4, ByteOrder::little}, Format{4, ByteOrder::big}}) {
    CodeBuilder builder(format);
    JitHeap heap(builder, 0x1000, false);
    const Address first = heap.base + 128, second = heap.base + 256, third = heap.base + 384;
    // 32-bit processors have no flags in front.
    const Address info = builder.p == 8 ? add_debug_info(builder.data, {0}) : add_debug_info(builder.data);
    builder.data.pointer(heap.add(first, {64}, 0x7000), info);
    heap.add(second, {64}, 0x7008); // without any
    builder.data.pointer(heap.add(third, {64}, 0x7010), 0x666000);
    heap.finish(heap.base + 0x1000);
    const Target target = builder.target({heap.code.range()});
    ContractDescriptor descriptor = builder.descriptor();
    descriptor.set_number("GCInfoVersion", 3, false, Origin::discovered);
    const CodeLookup lookup(target, descriptor);
    IlOffsets offsets(target.memory, lookup);
    expect_il_offsets(offsets, first);
    EXPECT_EQ(offsets.find(second + 8, false), std::nullopt);
    EXPECT_EQ(offsets.find(heap.base + 0x800, false), std::nullopt);
    EXPECT_EQ(offsets.unread_methods(), 0u);
    EXPECT_EQ(offsets.find(third, false), std::nullopt);
    EXPECT_EQ(offsets.unread_methods(), 1u);
  }
}

// By the methods' numbers: the third has its own, the fifth what the third has.
TEST(CodeLookup, IlOffsetsOfImages) {
  for (bool composite : {false, true}) {
    CodeBuilder builder;
    ImageBuilder image(builder, 12, {4}, composite, 9);
    Block &to = image.image;
    const Address table = to.reserve(0, 1);
    // Numbers that fit into one byte are written twice as large.
    auto number = [&](u64 value) { to.put(to.reserve(1, 1), 2 * value, 1); };
    number(12 << 2);                // so many entries, and one byte that leads to each sixteen of them:
    to.put(to.reserve(1, 1), 1, 1); // behind this one
    number(1);                      // of 0 to 15 those to 7 alone
    number(9 << 2 | 3);             // of these the upper ones nine further on
    number(3 << 2);                 // the third alone
    number(0);                      // what it has follows
    add_debug_info(to);
    number(5 << 2);
    number(7); // so far back
    to.word(image.header + 12, 1);
    to.word(image.header + 16, 105);
    to.word(image.header + 20, table - code_base);
    to.word(image.header + 24, to.end() - table);
    const Target target = builder.target({to.range()});
    const ContractDescriptor descriptor = builder.descriptor();
    const CodeLookup lookup(target, descriptor);
    IlOffsets offsets(target.memory, lookup);
    for (u32 method : {3u, 5u})
      expect_il_offsets(offsets, code_base + image.begin(method));
    EXPECT_EQ(offsets.find(code_base + image.begin(4), false), 4u) << "the third's funclet";
    for (u32 method : {0u, 2u, 6u, 11u})
      EXPECT_EQ(offsets.find(code_base + image.begin(method), false), std::nullopt) << method;
    EXPECT_EQ(offsets.unread_methods(), 0u);
  }
}

// Of an image whose constants are not in the dump.
TEST(CodeLookup, IlOffsetsThatAreNotThere) {
  CodeBuilder builder;
  ImageBuilder image(builder, 12, {4}, false, 9);
  image.image.word(image.header + 12, 1);
  image.image.word(image.header + 16, 105);
  image.image.word(image.header + 20, 0x1000000);
  image.image.word(image.header + 24, 0x100);
  const Target target = builder.target({image.image.range()});
  const ContractDescriptor descriptor = builder.descriptor();
  const CodeLookup lookup(target, descriptor);
  IlOffsets offsets(target.memory, lookup);
  EXPECT_EQ(offsets.find(code_base + image.begin(3), false), std::nullopt);
  EXPECT_EQ(offsets.unread_methods(), 1u);
}

// Whatever the map holds, a look-up ends, and reads nothing that is not there.
TEST(CodeLookup, AnyWords) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    CodeBuilder builder;
    JitHeap heap(builder, 0x1000, i % 2);
    for (u64 m = 0; m < 8; ++m)
      heap.add(heap.base + 64 + 256 * m, {64, 32}, method_desc_of(m));
    heap.finish(heap.base + 0x1000);
    ImageBuilder image(builder, 30, {4}, i % 3 == 0, 16);
    const u64 words = (builder.data.end() - builder.data.address()) / 8;
    for (int k = 0; k < 40; ++k) {
      const Address at = builder.data.address() + 256 * 8 + random() % (words - 256) * 8;
      builder.data.pointer(at, random() % 2 ? random() : builder.data.address() + random() % (words * 8));
    }
    const Target target = builder.target({heap.code.range(), image.image.range()});
    const ContractDescriptor descriptor = builder.descriptor(i % 2 ? 4 : 3);
    const CodeLookup lookup(target, descriptor);
    for (Address ip = code_base; ip < code_base + 0x1000; ip += 40)
      try {
        lookup.find(ip);
        lookup.find(ip + 0x40000);
      } catch (const Error &) {
      }
  }
}

} // namespace
} // namespace dnheap::test
