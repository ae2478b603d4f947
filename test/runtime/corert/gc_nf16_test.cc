// The GC contracts of CoreRT's memory format: every field of the tables, the rules that go with them, and damage.
#include "runtime/corert/gc_nf16.h"
#include "runtime/corert/type_system_nf16.h"
#include "support/nf16_builder.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

#define EXPECT_PART(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

struct OpenedGc {
  explicit OpenedGc(Nf16Builder &process)
      : target(process.target()), gc(target->memory, read_nf16_header(target->memory, process.header)) {}
  std::unique_ptr<Target> target;
  GcNf16 gc;
};

TEST(GcNf16, EveryFieldInFourFormats) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Nf16Builder process(format);
    Nf16Segment &old = process.segment(G::gen2), &young = process.segment(G::gen0), &large = process.segment(G::loh);
    Address type = process.type(24);
    for (Nf16Segment *s : {&old, &young, &large})
      s->object(type);
    process.context = young.context(40);
    OpenedGc opened(process);
    const WorkstationGcNf16 &gc = opened.gc.workstation_gc();
    EXPECT_EQ(gc.generation_table_addr, process.generation_table);
    EXPECT_EQ(gc.alloc_allocated_addr, process.gc.alloc_allocated_addr);
    EXPECT_EQ(gc.ephemeral_heap_segment_addr, process.gc.ephemeral_heap_segment_addr);
    EXPECT_EQ(gc.number_generations, 4u);
    EXPECT_EQ(gc.generation_allocation_context, process.gc.generation_allocation_context);
    EXPECT_EQ(gc.generation_allocation_start, process.gc.generation_allocation_start);
    EXPECT_EQ(gc.generation_start_segment, process.gc.generation_start_segment);
    EXPECT_EQ(gc.size_of_generation, process.gc.size_of_generation);
    EXPECT_EQ(gc.heap_segment_mem, process.gc.heap_segment_mem);
    EXPECT_EQ(gc.heap_segment_allocated, process.gc.heap_segment_allocated);
    EXPECT_EQ(gc.heap_segment_next, process.gc.heap_segment_next);
    EXPECT_EQ(gc.alloc_context_alloc_ptr, process.gc.alloc_context_alloc_ptr);
    EXPECT_EQ(gc.alloc_context_alloc_limit, process.gc.alloc_context_alloc_limit);
    EXPECT_EQ(gc.min_object_size, 3 * process.p);

    EXPECT_EQ(opened.gc.get_alloc_allocated(), young.end());
    EXPECT_EQ(opened.gc.get_ephemeral_heap_segment(), young.structure);
    std::vector<GenerationNf16> table = opened.gc.get_generation_table();
    ASSERT_EQ(table.size(), 4u);
    EXPECT_EQ(table[0].allocation_context.pointer, process.context.pointer);
    EXPECT_EQ(table[0].allocation_context.limit, process.context.limit);
    EXPECT_EQ(table[0].allocation_start, young.start);
    EXPECT_EQ(table[2].start_segment, old.structure);
    EXPECT_EQ(table[3].start_segment, large.structure);
    HeapSegmentNf16 segment = opened.gc.get_heap_segment(old.structure);
    EXPECT_EQ(segment.address, old.structure);
    EXPECT_EQ(segment.mem, old.start);
    EXPECT_EQ(segment.allocated, old.end());
    EXPECT_EQ(segment.next, young.structure);
    EXPECT_EQ(opened.gc.get_gc_structures_valid(), true);
    EXPECT_EQ(opened.gc.get_allocation_context_bounds(), (std::pair{young.start, young.end()}));
  }
}

// The two lists merged; the ephemeral segment divided, and as long as alloc_allocated says.
TEST(GcNf16, Segments) {
  for (Format format : all_formats)
    for (u32 generations : {2u, 3u, 4u, 5u}) {
      SCOPED_TRACE(name_of(format) + " " + std::to_string(generations));
      Nf16Builder process(format);
      process.gc.number_generations = generations;
      Address type = process.type(24);
      Nf16Segment &large = process.segment(G::loh), &old = process.segment(G::gen2), &young = process.segment(G::gen0);
      large.object(type);
      old.object(type);
      Address in_gen2 = young.object(type);
      young.begin_gen1();
      Address in_gen1 = young.object(type);
      young.begin_gen0();
      Address in_gen0 = young.object(type);
      OpenedGc opened(process);
      Notes problems;
      std::vector<std::tuple<G, Address, Address>> found, expected;
      for (const GCHeapSegmentInfo &s : opened.gc.enumerate_heap_segments(problems)) {
        found.emplace_back(s.generation, s.start, s.end);
        EXPECT_FALSE(s.committed_end || s.reserved_end); // this format does not say
      }
      if (generations == 2) // one generation, and large objects
        expected = {{G::gen0, old.start, old.end()}, {G::gen0, young.start, young.end()}};
      else if (generations == 3)
        expected = {{G::gen1, old.start, old.end()}, {G::gen1, in_gen2, in_gen0}, {G::gen0, in_gen0, young.end()}};
      else if (generations == 4)
        expected = {{G::gen2, old.start, old.end()},
                    {G::gen2, in_gen2, in_gen1},
                    {G::gen1, in_gen1, in_gen0},
                    {G::gen0, in_gen0, young.end()}};
      if (generations == 5) { // nobody set where the third begins
        EXPECT_EQ(problems.size(), 1u);
        expected = {{G::gen2, old.start, old.end()}, {G::gen2, young.start, young.end()}};
      } else {
        EXPECT_TRUE(problems.empty()) << problems[0].text;
      }
      expected.emplace_back(G::loh, large.start, large.end());
      EXPECT_EQ(found, expected);
    }
}

TEST(GcNf16, AllocationContexts) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Nf16Builder process(format);
    Nf16Segment &old = process.segment(G::gen2), &young = process.segment(G::gen0);
    Address type = process.type(24);
    young.object(type);
    young.begin_gen0();
    young.object(type);
    AllocationContext of_thread = young.context(50 * process.p), elsewhere = old.context(8 * process.p);
    young.object(type);
    process.context = young.context(8);
    std::vector<Address> threads = {process.store_context(of_thread),
                                    process.store_context({}),
                                    process.store_context(elsewhere),
                                    process.store_context({young.start, young.start + process.p}), // generation 1
                                    process.store_context({of_thread.limit, of_thread.pointer}),
                                    0x1234};
    OpenedGc opened(process);
    Notes problems;
    std::vector<AllocationContext> found = opened.gc.get_allocation_contexts(threads, problems);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].pointer, of_thread.pointer);
    EXPECT_EQ(found[0].limit, of_thread.limit);
    EXPECT_EQ(found[1].pointer, process.context.pointer); // that of generation 0 is the last
    ASSERT_EQ(problems.size(), 4u);
    for (u64 i : {0, 1, 2})
      EXPECT_PART(problems[i].text, "lies outside of generation 0");
    EXPECT_PART(problems[3].text, "alloc_context.alloc_ptr");
  }
}

TEST(GcNf16, ListsThatGoWrong) {
  auto problems_of = [](auto &&change) {
    Nf16Builder process({});
    Address type = process.type(24);
    for (G g : {G::gen2, G::gen2, G::gen0})
      process.segment(g).object(type);
    process.build();
    change(process);
    OpenedGc opened(process);
    Notes problems;
    opened.gc.enumerate_heap_segments(problems);
    return problems.empty() ? "" : problems[0].text;
  };
  auto next = [](Nf16Builder &p, u64 i) { return p.segments[i].structure + p.gc.heap_segment_next; };
  EXPECT_EQ(problems_of([](Nf16Builder &) {}), "");
  EXPECT_PART(problems_of([&](Nf16Builder &p) { p.poke(next(p, 2), p.segments[0].structure, 8); }), "circle");
  EXPECT_PART(problems_of([&](Nf16Builder &p) { p.poke(next(p, 0), 0x123456789abc, 8); }), "breaks off");
  EXPECT_PART(problems_of([&](Nf16Builder &p) { p.poke(next(p, 0), 0, 8); }), "in no list");
  EXPECT_PART(problems_of([&](Nf16Builder &p) {
                p.poke(p.generation_table + p.gc.generation_allocation_start, p.segments[2].start - 8, 8);
              }),
              "not divided");
}

// Each field that makes no sense refuses this contract, and this one only.
TEST(GcNf16, FieldsThatMakeNoSense) {
  for (Format format : all_formats)
    for (auto [index, value, named] : {std::tuple{0u, 1u, "number_generations is 1"},
                                       {0u, 65u, "number_generations"},
                                       {1u, 0xfffffff0u, "exceeds"},
                                       {2u, 1000u, "exceed"},
                                       {3u, 0xffffffffu, "exceed"},
                                       {4u, 0u, "size_of_generation"},
                                       {4u, 0x10001u, "size_of_generation"},
                                       {4u, 8u, "exceed"},
                                       {5u, 0x20000u, "heap_segment"},
                                       {6u, 0xffffffffu, "heap_segment"},
                                       {7u, 0x80000000u, "heap_segment"},
                                       {8u, 0xffffffffu, "exceeds"},
                                       {9u, 500u, "exceeds"},
                                       {10u, 0u, "min_object_size"},
                                       {10u, 9u, "min_object_size"},
                                       {10u, 8192u, "min_object_size"}}) {
      SCOPED_TRACE(name_of(format) + " " + named);
      Nf16Builder process(format);
      process.segment(G::gen0).object(process.type(24));
      process.build();
      process.poke(process.sections[1] + 4 * process.p + 4 * index, value, 4);
      OpenedGc opened(process);
      EXPECT_PART(opened.gc.workstation_gc_problem(), named);
      EXPECT_THROW(opened.gc.workstation_gc(), Error);
      EXPECT_EQ(opened.gc.gc_problem(), "");
      EXPECT_EQ(opened.gc.get_gc_structures_valid(), true);
    }
}

TEST(GcNf16, SectionsCutOff) {
  Nf16Builder process({});
  process.segment(G::gen0).object(process.type(24));
  process.build();
  process.hole(process.sections[0] + 8, process.sections[0] + 9);
  process.hole(process.sections[1] + 72, process.sections[1] + 73); // the last field
  OpenedGc opened(process);
  EXPECT_PART(opened.gc.gc_problem(), "GC Contract");
  EXPECT_EQ(opened.gc.get_gc_structures_valid(), std::nullopt);
  EXPECT_PART(opened.gc.workstation_gc_problem(), "Workstation GC Contract");
}

TEST(GcNf16, Alignment) {
  for (auto [p, size, large, aligned] : {std::tuple{4u, 14u, false, 16u},
                                         {4u, 12u, false, 12u},
                                         {4u, 12u, true, 16u},
                                         {8u, 22u, false, 24u},
                                         {8u, 25u, true, 32u}})
    EXPECT_EQ(GcNf16::align_object_size(size, {static_cast<u8>(p), ByteOrder::little}, large), aligned);
}

TEST(TypeSystemNf16, Layouts) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Nf16Builder process(format);
    const u64 p = process.p;
    Address plain = process.type(3 * p), text = process.type(2 * p + 6, 2), array = process.type(3 * p, 0xfff0),
            small = process.type(2 * p + 3), huge = process.type((1 << 30) + 1), most = process.type(1 << 30);
    std::unique_ptr<Target> target = process.target();
    TypeSystemNf16 types(*target);
    EXPECT_EQ(types.object_layout(plain)->base_size, 3 * p);
    EXPECT_EQ(types.object_layout(plain)->component_size, 0u); // whatever the flags beside it are
    EXPECT_EQ(types.object_layout(text)->base_size, 2 * p + 6);
    EXPECT_EQ(types.object_layout(text)->component_size, 2u);
    EXPECT_EQ(types.object_layout(array)->component_size, 0xfff0u);
    EXPECT_TRUE(types.object_layout(most));
    for (Address wrong : {small, huge, plain + 1, plain + p / 2, Address{0}, ~Address{0} - 7, Address{0x1230}})
      EXPECT_FALSE(types.object_layout(wrong)) << wrong;
  }
}

TEST(TypeSystemNf16, EETypeContract) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Nf16Builder process(format);
    auto section = [&](u16 major, u32 base_size, u32 component_size) {
      Address at = process.native.reserve(12);
      process.native.half(at, major);
      process.native.half(at + 2, 5);
      process.native.word(at + 4, base_size);
      process.native.word(at + 8, component_size);
      return at;
    };
    Address good = section(1, 12, 18), newer = section(2, 12, 16), unready = section(0, 4, 0),
            wild = section(1, 4, 1 << 20);
    Address type = process.native.reserve(24);
    process.native.word(type + 12, 5 * process.p);
    process.native.half(type + 18, 7);
    std::unique_ptr<Target> target = process.target();
    EETypeContractNf16 contract = read_eetype_contract(target->memory, good);
    EXPECT_EQ(contract.base_size, 12u);
    EXPECT_EQ(contract.component_size, 18u);
    for (Address bad : {newer, unready, wild, Address{0}, Address{0x1234}})
      EXPECT_THROW(read_eetype_contract(target->memory, bad), Error);
    std::optional<ObjectLayout> layout = TypeSystemNf16(*target, contract).object_layout(type);
    ASSERT_TRUE(layout);
    EXPECT_EQ(layout->base_size, 5 * process.p);
    EXPECT_EQ(layout->component_size, 7u);
  }
}

} // namespace
} // namespace dnheap::test
