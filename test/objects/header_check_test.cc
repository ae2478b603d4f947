// The words in front of objects: each way in which one can be wrong is told, and none that is right; in every format
// and version, whether the runtime says where sync blocks lie or that must be found out.
#include "objects/header_check.h"
#include "objects/reference_check.h"
#include "support/random_graph.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using P = HeaderProblem;

struct Locks {
  explicit Locks(const HeapShape &shape) : heap(shape), segment(heap.segment(GCSegmentGeneration::gen2)) {
    for (int i = 0; i < 40; ++i)
      objects.push_back(segment.object(heap.object_type));
    for (u64 i = 0; i < 6; ++i)
      heap.sync_block(objects[i]); // 1 to 6
    heap.sync_block(0);            // 7
    for (u64 i = 30; i < 40; ++i)
      heap.sync_block(objects[i]); // 8 to 17
  }
  void header(u64 object, u32 word) { heap.poke(objects[object] - 4, word, 4); }

  HeapBuilder heap;
  SegmentWriter &segment;
  std::vector<Address> objects;
};

struct Told {
  Address object;
  P problem;
  u32 sync_block;
  Address other;
  bool operator==(const Told &) const = default;
};
std::ostream &operator<<(std::ostream &to, const Told &told) {
  return to << "{" << std::hex << told.object << " " << int(told.problem) << " " << told.sync_block << " " << told.other
            << "}";
}

std::vector<Told> check(Locks &locks, unsigned threads = 1, u64 most = 1000, u64 *all = nullptr) {
  Indexed in(locks.heap);
  HeaderCheck headers(in.opened.runtime);
  EXPECT_EQ(headers.not_checked(), std::vector<std::string>());
  ReferenceCheck found = check_references(
      in.opened.heap, in.opened.runtime, *in.index, *in.references, headers, [](Address) { return true; }, threads, {},
      most);
  if (all)
    *all = found.bad_headers;
  std::vector<Told> out;
  for (const BadHeader &bad : found.headers)
    out.push_back({bad.object, bad.problem, bad.sync_block, bad.other});
  return out;
}

TEST(HeaderCheck, FindsNothingWrongWithWhatIsRight) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Locks locks(shape);
    locks.header(10, 0x0c000000); // hash code 0
    locks.header(11, 0x0fffffff); // another one
    locks.header(12, 1);          // locked by the first thread
    locks.header(13, 0x003f0002); // by the second one, often
    locks.header(14, 0xe0000000); // notes of the GC
    locks.header(15, 0xe0000001); // and locked
    locks.header(16, 0x10000999); // is being changed
    locks.header(17, 0x1c000007); // so is this
    EXPECT_EQ(check(locks), std::vector<Told>());
  }
}

TEST(HeaderCheck, TellsEveryProblem) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Locks locks(shape);
    const std::vector<Address> &o = locks.objects;
    locks.header(10, 0x08000000);
    locks.header(11, 0x08000014); // never used
    locks.header(12, 0x0bffffff); // far behind the table
    locks.header(13, 0x08000002); // o[1]'s
    locks.header(14, 0x08000007); // free
    locks.header(15, 3);          // there are two threads
    locks.header(16, 0x00020000); // locked three times by nobody
    locks.header(4, 0);           // 5 is its own
    locks.header(5, 0x0c001234);  // 6 is its own
    Address nothing = o[20] + locks.heap.p;
    locks.heap.sync_blocks.push_back(nothing); // 18
    locks.heap.sync_blocks.push_back(0x1000);  // 19, outside of the heap
    std::vector<Told> wanted = {
        {0x1000, P::no_object, 19, 0},    {o[4], P::not_named, 5, 0},
        {o[5], P::not_named, 6, 0},       {o[10], P::index_zero, 0, 0},
        {o[11], P::no_sync_block, 20, 0}, {o[12], P::no_sync_block, ObjectHeader::index_mask, 0},
        {o[13], P::not_its_own, 2, o[1]}, {o[14], P::not_its_own, 7, 0},
        {o[15], P::no_thread, 0, 0},      {o[16], P::recursion_unheld, 0, 0},
        {nothing, P::no_object, 18, 0}};
    EXPECT_EQ(check(locks), wanted);
    EXPECT_EQ(check(locks, 3), wanted);
    u64 all = 0;
    EXPECT_EQ(check(locks, 3, 4, &all), std::vector(wanted.begin(), wanted.begin() + 4));
    EXPECT_EQ(all, wanted.size());
  }
}

// What the heap was not walked for may well be an object.
TEST(HeaderCheck, KnowsNothingOfWhatWasNotWalked) {
  Locks locks({});
  locks.heap.sync_blocks.push_back(0x1000);
  Indexed in(locks.heap);
  HeaderCheck headers(in.opened.runtime);
  EXPECT_EQ(headers.check_table(*in.index, [](Address) { return true; }).size(), 1u);
  EXPECT_EQ(headers.check_table(*in.index, [](Address at) { return at != 0x1000; }).size(), 0u);
}

// A runtime that does not say, and from which it cannot be found out, is not accused of anything.
TEST(HeaderCheck, SaysWhatItCannotCheck) {
  HeapBuilder heap({.net = Net::net8});
  SegmentWriter &segment = heap.segment(GCSegmentGeneration::gen2);
  segment.object(heap.object_type);
  Address object = segment.object(heap.object_type);
  heap.poke(object - 4, 0x08000001, 4);
  heap.target();
  heap.poke(heap.variables.at("Dispenser"), 0, heap.p);
  Opened opened(heap);
  HeaderCheck headers(opened.runtime);
  ASSERT_EQ(headers.not_checked().size(), 2u);
  EXPECT_NE(headers.not_checked()[0].find("sync blocks"), std::string::npos);
  EXPECT_NE(headers.not_checked()[1].find("locks"), std::string::npos);
  EXPECT_FALSE(headers.find_problem(object, 0x08000001));
  EXPECT_FALSE(headers.find_problem(object, 77));
}

} // namespace
} // namespace dnheap::test
