// What `account` says of synthetic processes: every byte once, in the class that it was written for, in all formats.
#include "analysis/process/account_map.h"
#include "analysis/process/written_pages.h"
#include "analysis/verbs/tables/loaders_table.h"
#include "base/text.h"
#include "objects/live.h"
#include "support/malloc_writer.h"
#include "support/opened.h"
#include "support/random_heap.h"
#include "support/rows.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

// Bytes of all stretches, each once, told byte range by byte range.
u64 covered(std::vector<std::pair<Address, Address>> stretches) {
  std::sort(stretches.begin(), stretches.end());
  u64 sum = 0;
  Address end = 0;
  for (auto [from, until] : stretches)
    if (until > std::max(end, from)) {
      sum += until - std::max(end, from);
      end = until;
    }
  return sum;
}

std::vector<std::pair<Address, Address>> mapped_in(const Target &target) {
  std::vector<std::pair<Address, Address>> out;
  for (const Mapping &mapping : target.mappings)
    out.emplace_back(mapping.start, mapping.end);
  if (target.mappings.empty())
    for (const Range &range : target.memory.ranges())
      out.emplace_back(range.address, range.end());
  for (const Module &module : target.modules)
    for (const Extent &extent : module.extents)
      out.emplace_back(extent.start, extent.end);
  return out;
}

u64 sum_of(const AccountMap &map) {
  u64 sum = 0;
  for (const ClassSum &one : map.classes)
    sum += one.bytes;
  return sum;
}

SnapshotOptions two_threads() {
  SnapshotOptions out;
  out.threads = 2;
  return out;
}

TEST(Account, EveryByteIsCountedOnceInAllFormats) {
  for (const HeapShape &shape : all_shapes()) {
    if (shape.format.pointer_size == 4 && !shape.published)
      continue; // no table is shipped for these
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    std::mt19937_64 random(3);
    add_random_heap(heap, 3000, random);
    Snapshot snapshot(heap.target(), two_threads());
    const AccountMap map = make_account_map(snapshot, std::nullopt, std::nullopt);
    EXPECT_EQ(sum_of(map), covered(mapped_in(snapshot.target())));
    EXPECT_EQ(map.mapped, sum_of(map));
    u64 objects = 0, frozen = 0, free = 0;
    for (const WrittenObject &object : heap.objects)
      (object.method_table == heap.free_type ? free
       : object.generation == G::frozen      ? frozen
                                             : objects) += object.aligned_size;
    EXPECT_EQ(map.of(MemoryClass::objects).bytes, objects);
    EXPECT_EQ(map.of(MemoryClass::frozen_objects).bytes, frozen);
    EXPECT_EQ(map.of(MemoryClass::free_objects).bytes, free);
    EXPECT_EQ(map.of(MemoryClass::allocation_contexts).bytes, snapshot.heap().context_bytes());
    EXPECT_EQ(map.of(MemoryClass::gc_not_walked).bytes, 0u);
  }
}

TEST(Account, LiveAndDeadObjectsAreAllObjects) {
  HeapBuilder heap({});
  const Address node = heap.type("Shop.Node", 2);
  SegmentWriter &old = heap.segment(G::gen2);
  const Address held = old.object(node);
  old.object(node);
  old.object(node);
  heap.gc.handles = {{.type = HandleType::strong, .object = held}};
  Question question;
  question.life = Life::live;
  report::Answer answer = answer_of(heap, "account", question);
  std::map<std::string, std::string> bytes;
  for (TextRow &row : text_rows_of(answer, "account"))
    bytes[row["class"]] = row["bytes"];
  const u64 one = heap.size_of(node, 0);
  EXPECT_EQ(bytes["live_objects"], std::to_string(one));
  EXPECT_EQ(bytes["dead_objects"], std::to_string(2 * one));
  EXPECT_EQ(bytes.count("objects"), 0u);
}

// A target whose container knows more: what is reserved, what it does not hold, a stack.
TEST(Account, MappingsOfTheContainer) {
  HeapBuilder heap({});
  heap.segment(G::gen0).string("text");
  std::unique_ptr<Target> target = heap.target();
  for (const Range &range : target->memory.ranges())
    target->mappings.push_back({range.address, range.end(), range.end()});
  constexpr Address far = 0x7fff00000000;
  target->mappings.push_back({far, far + (1 << 20), far, false, false, false});             // reserved
  target->mappings.push_back({far + (2 << 20), far + (3 << 20), far + (2 << 20) + 0x1000}); // a page of it is here
  target->mappings.push_back({far + (4 << 20), far + (5 << 20), far + (5 << 20), true, true, true}); // code
  target->mappings.push_back({far + (6 << 20), far + (7 << 20), far + (7 << 20)});                   // a stack
  target->mappings.push_back(
      {far + (8 << 20), far + (9 << 20), far + (8 << 20), true, false, false, true, "/dev/shm/x"});
  target->threads.push_back({77, 0, far + (6 << 20) + 0x80123, {}});
  const u64 before = target->threads.size();
  const std::vector<std::pair<Address, Address>> mapped = mapped_in(*target);
  Snapshot snapshot(std::move(target), two_threads());
  const AccountMap map = make_account_map(snapshot, std::nullopt, std::nullopt);
  EXPECT_EQ(sum_of(map), covered(mapped));
  EXPECT_EQ(map.of(MemoryClass::reserved).bytes, u64{1} << 20);
  EXPECT_EQ(map.of(MemoryClass::runtime_other).bytes, u64{1} << 20);
  EXPECT_EQ(map.of(MemoryClass::shared_memory).bytes, u64{1} << 20);
  EXPECT_EQ(map.of(MemoryClass::stacks_below).bytes, 0x80000u);
  EXPECT_EQ(map.of(MemoryClass::stacks_in_use).bytes, 0x80000u);
  EXPECT_LE(map.of(MemoryClass::stacks_in_use).pieces, before);
  ASSERT_FALSE(map.unknown.empty());
  const UnknownStretch &last = map.unknown.back();
  EXPECT_EQ(last.start, far + (2 << 20));
  EXPECT_EQ(last.stored, 0x1000u);
  EXPECT_LT(map.stored, map.mapped);
}

// An extracted core keeps no page of which nothing was read, so part of a segment may not be mapped at all.
TEST(Account, OfASegmentThatIsMappedInPart) {
  HeapBuilder heap({});
  const Address node = heap.type("Shop.Node", 2);
  SegmentWriter &young = heap.segment(G::gen0);
  const Address held = young.object(node);
  heap.threads[0].context = young.context(5000);
  young.object(node);
  heap.gc.handles = {{.type = HandleType::strong, .object = held}};
  std::unique_ptr<Target> target = heap.target();
  const AllocationContext context = heap.threads[0].context;
  for (const Range &range : target->memory.ranges())
    if (context.pointer >= range.address && context.pointer < range.end()) {
      target->mappings.push_back({range.address, context.pointer + 100, context.pointer + 100});
      target->mappings.push_back({context.limit, range.end(), range.end()});
    } else {
      target->mappings.push_back({range.address, range.end(), range.end()});
    }
  Snapshot snapshot(std::move(target), two_threads());
  ObjectFilter filter;
  filter.among = &snapshot.live().objects;
  const std::optional<HeapTally> live = snapshot.tally(filter);
  const AccountMap map = make_account_map(snapshot, std::nullopt, live);
  const u64 one = heap.size_of(node, 0);
  EXPECT_EQ(map.of(MemoryClass::live_objects).bytes, one);
  EXPECT_EQ(map.of(MemoryClass::dead_objects).bytes, one);
  EXPECT_EQ(map.of(MemoryClass::gc_not_walked).bytes, 0u);
  const u64 behind = 3 * heap.p; // of the context, which the GC keeps free
  EXPECT_EQ(map.of(MemoryClass::allocation_contexts).bytes, 100 + behind);
}

// Of pages that hold several classes, at least and at most; all together is exact.
// What is mapped of each LoaderAllocator's blocks; which assemblies are its, this process does not say.
TEST(Account, LoaderHeapsByLoaderAllocator) {
  using Kind = RuntimeBlock::Kind;
  constexpr Address never_mapped = 0x7e0000000000, first = 0x7e0000100000, other = 0x7e0000200000;
  HeapBuilder heap({});
  Snapshot snapshot(heap.target(), two_threads());
  AccountMap map;
  map.loader_blocks = {{Kind::loader_heap, never_mapped, never_mapped + 0x10000, 0x1000},
                       {Kind::loader_heap, first, first + 0x10000, 0x1000},
                       {Kind::loader_heap, other, other + 0x8000, 0x2000}};
  map.stretches = {{first - 0x1000, first + 0x2000, MemoryClass::loader_heaps, true},
                   {first + 0x3000, first + 0x4000, MemoryClass::runtime_stubs, true},
                   {other + 0x7000, other + 0x9000, MemoryClass::loader_heaps, true}};
  report::Answer answer;
  answer.tables.push_back(loaders_table(snapshot, map, false));
  const std::vector<TextRow> rows = text_rows_of(answer, "loaders");
  ASSERT_EQ(rows.size(), 1u) << "they are alike";
  TextRow row = rows[0];
  EXPECT_EQ(row["count"], "2");
  EXPECT_EQ(row["blocks"], "3");
  EXPECT_EQ(row["bytes"], std::to_string(0x2000 + 0x1000 + 0x1000));
  EXPECT_EQ(row["reserved_bytes"], std::to_string(0x28000));
  EXPECT_EQ(loaders_table(snapshot, AccountMap(), false).row_count, 0u);
}

TEST(Account, ResidentPagesAreSharedOut) {
  HeapBuilder heap({});
  const Address node = heap.type("Shop.Node", 100);
  SegmentWriter &old = heap.segment(G::gen2);
  for (int i = 0; i < 40; ++i) {
    old.object(node);
    old.free(400);
  }
  Snapshot snapshot(heap.target(), two_threads());
  u64 first = 0;
  while (snapshot.heap().segments()[first].generation != G::gen2)
    ++first;
  const HeapSegment &gen2 = snapshot.heap().segments()[first];
  const u64 objects = 40 * heap.size_of(node, 0), free = 40 * 400;
  ASSERT_EQ(gen2.end - gen2.start, objects + free);
  for (u64 resident : {u64{0}, u64{4096}, objects + free - 4096, objects + free}) {
    const ResidentPages pages = {{{gen2.start, gen2.start + resident}}, false};
    const AccountMap map = make_account_map(snapshot, pages, std::nullopt);
    EXPECT_EQ(map.resident, std::make_pair(resident, resident));
    const ClassSum &of_objects = map.of(MemoryClass::objects), &of_free = map.of(MemoryClass::free_objects);
    EXPECT_EQ(of_objects.resident_low, resident > free ? resident - free : 0);
    EXPECT_EQ(of_objects.resident_high, std::min(objects, resident));
    EXPECT_EQ(of_free.resident_low, resident > objects ? resident - objects : 0);
    EXPECT_EQ(of_free.resident_high, std::min(free, resident));
  }
}

// Of a dump: what holds a byte that is not zero, page by page, and what the GC may have touched besides.
TEST(Account, WrittenPagesOfADump) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::vector<std::byte>> blocks;
    std::vector<Range> ranges;
    std::vector<std::pair<Address, Address>> among;
    for (Address at = 0x1000 * (1 + random() % 4); blocks.size() < 4; at += 0x1000 * (random() % 3)) {
      blocks.emplace_back(0x800 * (1 + random() % 12));
      for (int i = 0; i < 4; ++i)
        blocks.back()[random() % blocks.back().size()] = std::byte{random() % 2 ? u8{1} : u8{0}};
      ranges.push_back({at, blocks.back()});
      among.emplace_back(at + 0x800 * (random() % 2), at + blocks.back().size());
      at = align_up(at + blocks.back().size(), u64{0x1000});
    }
    u64 expected = 0; // byte by byte
    std::set<Address> pages;
    for (u64 i = 0; i < ranges.size(); ++i)
      for (Address at = among[i].first; at < among[i].second; ++at)
        if (blocks[i][at - ranges[i].address] != std::byte{})
          pages.insert(at / 4096);
    for (u64 i = 0; i < ranges.size(); ++i)
      for (Address at = among[i].first; at < among[i].second; ++at)
        expected += pages.contains(at / 4096);
    u64 found = 0;
    Address end = 0;
    for (const auto &[start, until] : written_pages(Memory({}, ranges), among, 2)) {
      EXPECT_LT(start, until);
      EXPECT_TRUE(end == 0 || start > end);
      found += until - start;
      end = until;
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(Account, WrittenPagesAtTheEndOfTheAddressSpace) {
  const std::vector<std::byte> page(4096, std::byte{1});
  const Address start = 0xffffffffff600000;
  const std::pair<Address, Address> among[] = {{start, start + 4096}};
  const Range ranges[] = {{start, page}};
  EXPECT_EQ(written_pages(Memory({}, {ranges[0]}), among, 1), std::vector(std::begin(among), std::end(among)));
}

TEST(Account, OfADumpResidentIsAnEstimate) {
  HeapBuilder heap({});
  SegmentWriter &old = heap.segment(G::gen2);
  const Address bytes = heap.array(heap.object_type, 1);
  old.object(heap.type("Shop.Node", 3));
  old.object(bytes, 10 * 4096); // never written to
  Snapshot snapshot(heap.target(), two_threads());
  const AccountMap map = make_account_map(snapshot, resident_pages(snapshot), std::nullopt);
  EXPECT_TRUE(map.is_estimate);
  const ClassSum &of_objects = map.of(MemoryClass::objects);
  EXPECT_LE(of_objects.resident_low, of_objects.bytes - 9 * 4096);
  EXPECT_EQ(of_objects.resident_high, of_objects.bytes);
  report::Answer answer = answer_of(heap, "account");
  u64 of_files = 0, others = 0;
  for (const TextRow &row : text_rows_of(answer, "account")) {
    const bool is_file = row.at("class") == "images" || row.at("class") == "mapped_files";
    EXPECT_EQ(row.at("resident_high").empty(), is_file) << row.at("class");
    (is_file ? of_files : others) += 1;
  }
  EXPECT_GT(others, 2u);
  EXPECT_GT(of_files, 0u);
}

// malloc's chunks beside a heap: its sums become classes.
TEST(Account, MallocBesideAHeap) {
  HeapBuilder heap({});
  heap.segment(G::gen0).string("text");
  std::unique_ptr<Target> target = heap.target();
  MallocWriter malloc(1);
  for (int i = 0; i < 20; ++i)
    malloc.chunk(static_cast<u32>(i % 2), 64 + 16 * static_cast<u64>(i),
                 i % 3 ? MallocWriter::Use::used : MallocWriter::Use::free);
  for (u32 i = 0; i < 2; ++i)
    malloc.chunk(i, 64, MallocWriter::Use::used);
  malloc.large_block(0x7d0000000000, 64 * 4096);
  const std::unique_ptr<Target> other = malloc.target();
  for (const Range &range : target->memory.ranges())
    target->mappings.push_back({range.address, range.end(), range.end()});
  target->mappings.insert(target->mappings.end(), other->mappings.begin(), other->mappings.end());
  std::sort(target->mappings.begin(), target->mappings.end(),
            [](const Mapping &a, const Mapping &b) { return a.start < b.start; });
  constexpr Address vast = u64{1} << 60; // as a damaged core may claim: nothing of it is here
  target->mappings.push_back({vast, vast + (u64{1} << 59), vast});
  target->memory.lay_under({other->memory.ranges().begin(), other->memory.ranges().end()});
  target->modules.push_back(other->modules.front());
  target->os = OperatingSystem::linux_os;
  const std::vector<std::pair<Address, Address>> mapped = mapped_in(*target);
  Snapshot snapshot(std::move(target), two_threads());
  const AccountMap map = make_account_map(snapshot, std::nullopt, std::nullopt);
  u64 in_use = 0, free = 0, top = 0, cached = 0;
  for (const MallocSums &sums : malloc.sums) {
    in_use += sums.in_use;
    free += sums.free;
    cached += sums.cached;
    top += sums.top;
  }
  EXPECT_EQ(map.of(MemoryClass::malloc_in_use).bytes, in_use);
  EXPECT_EQ(map.of(MemoryClass::malloc_free).bytes, free);
  EXPECT_EQ(map.of(MemoryClass::malloc_cached).bytes, cached);
  EXPECT_EQ(map.of(MemoryClass::malloc_top).bytes, top);
  EXPECT_EQ(map.of(MemoryClass::malloc_large).bytes, 64u * 4096);
  EXPECT_EQ(map.of(MemoryClass::malloc_not_walked).bytes, 0u);
  EXPECT_EQ(sum_of(map), covered(mapped));
}

// What another allocator has is not identified: that is said with its name, and nothing of libc's malloc, which it
// stands in for.
TEST(Account, AnotherAllocatorIsNamed) {
  constexpr Address theirs = 0x7e0000000000, constants = 0x7e0000800000;
  HeapBuilder heap({});
  heap.segment(G::gen0).string("text");
  std::unique_ptr<Target> target = heap.target();
  target->os = OperatingSystem::linux_os;
  for (const Range &range : target->memory.ranges())
    target->mappings.push_back({range.address, range.end(), range.end()});
  target->mappings.push_back({.start = theirs, .end = theirs + (4 << 20)});
  target->mappings.push_back({.start = constants, .end = constants + (2 << 20), .writable = false});
  std::sort(target->mappings.begin(), target->mappings.end(),
            [](const Mapping &a, const Mapping &b) { return a.start < b.start; });
  for (const char *path : {"/usr/lib/libc.so.6", "/usr/lib/libjemalloc.so.2"}) {
    Module module;
    module.path = path;
    module.base = constants + (target->modules.size() << 24);
    target->modules.push_back(module);
  }
  Snapshot snapshot(std::move(target), two_threads());
  const AccountMap map = make_account_map(snapshot, std::nullopt, std::nullopt);
  EXPECT_EQ(map.other_allocators, "jemalloc (libjemalloc.so.2)");
  EXPECT_EQ(map.of(MemoryClass::not_identified).bytes - map.perhaps_theirs, u64{2} << 20);
  EXPECT_GE(map.perhaps_theirs, u64{4} << 20);
  const std::string expected =
      "the process uses jemalloc (libjemalloc.so.2), whose blocks are not counted: they may be in the " +
      bytes_text(map.perhaps_theirs) + " that are not identified";
  ASSERT_FALSE(map.notes.empty());
  EXPECT_EQ(map.notes.back().text, expected);
  for (const std::string &note : map.notes.texts())
    EXPECT_EQ(note.find("main arena"), note.npos) << note;
}

} // namespace
} // namespace dnheap::test
