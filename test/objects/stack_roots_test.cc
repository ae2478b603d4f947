// Roots of stacks that can be walked: by thread and method, exact; of those that cannot, and beyond where a walk ends,
// by every word, with a note that says why.
#include "heap/tally.h"
#include "objects/object_finder.h"
#include "objects/stack_roots.h"
#include "support/known_stacks.h"
#include "support/opened.h"

#include <gtest/gtest.h>
#include <map>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

// A runtime whose stacks are what the test says.
class WalkedRuntime : public CoreClr {
public:
  using CoreClr::CoreClr;
  WalkedStack follow_stack(const ThreadData &thread, ListedFrames) const override {
    auto found = stacks.find(thread.os_id.value_or(0));
    return found == stacks.end() ? WalkedStack{} : found->second;
  }
  MethodText method_text(Address method_desc) const override {
    const std::string name = "Shop.Worker.Run" + std::to_string(method_desc) + "()";
    return {name, name, "Shop.dll"};
  }
  std::map<u64, WalkedStack> stacks;
};

struct Walked : Opened {
  explicit Walked(HeapBuilder &heap)
      : Opened(heap), walked(*target, target->modules.at(0), runtime.descriptor(), {}),
        index(index_of(this->heap, runtime)), finder(index, this->heap, runtime) {}

  static ObjectIndex index_of(const Heap &heap, const Runtime &runtime) {
    HeapBits starts(std::make_shared<HeapPlaces>(heap, runtime.memory().format()));
    tally_heap(heap, runtime, 1, {}, {}, &starts);
    return ObjectIndex(std::move(starts));
  }
  RootSet roots() {
    return find_roots(walked, [this](Address a) { return finder.find(a); });
  }

  WalkedRuntime walked;
  ObjectIndex index;
  ObjectFinder finder;
};

std::vector<Root> of(const RootSet &set, RootKind kind) {
  std::vector<Root> out;
  for (const Root &root : set.roots)
    if (root.kind == kind)
      out.push_back(root);
  return out;
}

StackFrame frame_of(u64 method, std::vector<StackReference> references) {
  StackFrame frame;
  frame.method_desc = method;
  frame.references = std::move(references);
  return frame;
}

StackReference reference(Address slot, u64 value, bool interior = false, bool pinned = false) {
  StackReference out;
  out.slot = slot;
  out.value = value;
  out.interior = interior;
  out.pinned = pinned;
  return out;
}

struct ThreadsHeap {
  ThreadsHeap() : heap({.net = Net::net10}), old(heap.segment(G::gen2)) {
    a = old.object(heap.object_type);
    b = old.object(heap.object_type);
    c = old.object(heap.object_type);
    give_stacks(heap);
    stack = heap.threads[0].stack_pointer;
    heap.native.pointer(stack + 64, c); // what a look at every word finds
  }
  HeapBuilder heap;
  SegmentWriter &old;
  Address a = 0, b = 0, c = 0, stack = 0;
};

TEST(StackRoots, OfMethods) {
  ThreadsHeap at;
  Walked opened(at.heap);
  const u64 thread = at.heap.threads[0].os_id;
  StackReference untracked = reference(at.stack + 32, at.a + 8), argument = reference(at.stack + 40, at.b);
  untracked.tracked = false;
  argument.certain = false;
  opened.walked.stacks[thread].frames = {
      frame_of(1,
               {reference(at.stack, at.a), reference(at.stack + 8, at.b + 8, true), reference(0, at.b, false, true)}),
      frame_of(2, {reference(at.stack + 16, 0x10, true), untracked, argument})};
  opened.walked.stacks[thread].of_runtime = {reference(at.stack + 48, at.c)};
  const RootSet set = opened.roots();
  const std::vector<Root> roots = of(set, RootKind::stack);
  ASSERT_EQ(roots.size(), 4u); // by slot
  EXPECT_TRUE(roots[0].slot == 0 && roots[0].object == at.b && roots[0].pinned && !roots[0].interior);
  EXPECT_TRUE(roots[1].slot == at.stack && roots[1].object == at.a && !roots[1].interior);
  EXPECT_TRUE(roots[2].object == at.b && roots[2].interior);
  EXPECT_EQ(set.name(roots[2]), "Shop.Worker.Run1()");
  EXPECT_EQ(set.name(roots[3]), "<runtime>");
  for (const Root &root : roots) {
    EXPECT_EQ(set.thread(root)->os_id, thread);
    EXPECT_FALSE(root.is_conservative());
  }
  const std::vector<Root> words = of(set, RootKind::stack_conservative); // the argument; no word of the stack
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0].slot, at.stack + 40);
  EXPECT_TRUE(set.notes.empty());
  const RootOwners owners = group_roots(
      set, [](Address) { return 0; }, [](u64) { return ""; });
  bool found = false;
  for (const RootOwners::Owner &owner : owners.owners)
    if (owner.kind == RootKind::stack && owner.source == "stack Shop.Worker.Run1()") {
      found = true;
      EXPECT_EQ(owner.name, "thread " + std::to_string(thread) + " Shop.Worker.Run1()");
      EXPECT_FALSE(owner.conservative);
    }
  EXPECT_TRUE(found);
}

// What is below is known; what is above may be anything.
TEST(StackRoots, FromWhereAWalkEndsEveryWord) {
  for (bool beyond : {false, true}) {
    ThreadsHeap at;
    ASSERT_GE(at.heap.threads.size(), 2u);
    Walked opened(at.heap);
    const u64 thread = at.heap.threads[0].os_id;
    WalkedStack &stack = opened.walked.stacks[thread];
    stack.frames = {frame_of(1, {reference(at.stack, at.a)})};
    stack.why_not = "memory at 0x123 is not in this dump";
    stack.unknown_from = at.stack + (beyond ? 128 : 16);
    const RootSet set = opened.roots();
    EXPECT_EQ(of(set, RootKind::stack).size(), 1u);
    EXPECT_EQ(of(set, RootKind::stack_conservative).size(), beyond ? 0u : 1u);
    ASSERT_EQ(set.notes.size(), 1u);
    EXPECT_NE(set.notes[0].text.find("thread " + std::to_string(thread)), std::string::npos) << set.notes[0].text;
    EXPECT_NE(set.notes[0].text.find("0x123"), std::string::npos) << set.notes[0].text;
    EXPECT_FALSE(set.notes.have_effect());
  }
}

TEST(StackRoots, AReferenceThatLeadsToNoObjectIsToldOf) {
  ThreadsHeap at;
  Walked opened(at.heap);
  opened.walked.stacks[at.heap.threads[0].os_id].frames = {frame_of(1, {reference(at.stack, 0x10)})};
  const RootSet set = opened.roots();
  EXPECT_TRUE(of(set, RootKind::stack).empty());
  ASSERT_EQ(set.notes.size(), 1u);
}

} // namespace
} // namespace dnheap::test
