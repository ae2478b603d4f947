// Delegates of NativeAOT, in both orders of their words: what they call, and on which object.
#include "base/text.h"
#include "runtime/nativeaot/native_aot.h"
#include "runtime/nativeaot/native_delegates.h"
#include "support/aot_shop.h"

namespace dnheap::test {
namespace {

constexpr u64 code_start = 0x5000, code_end = 0x9000;

// As .NET 8 to 10 order a delegate's words, or as 11 does.
class DelegateScene {
public:
  DelegateScene(Format format, bool newer)
      : heap({.format = format, .header = !newer, .descriptor = newer, .released = newer}), p(heap.p), newer_(newer) {
    delegate = heap.type("System", "Delegate", 4);
    heap.references(delegate, "rr..");
    multicast = heap.type("System", "MulticastDelegate", 4);
    heap.references(multicast, "rr..");
    heap.parent(multicast, delegate);
    action = heap.type("Shop", "Handler", 4);
    heap.references(action, "rr..");
    heap.parent(action, multicast);
    list_type = heap.array(delegate, static_cast<u32>(p));
    heap.data.word(list_type, 0x80020000 | 0x18u << 26 | static_cast<u32>(p) | heap.has_pointers());
    segment = &heap.segment(GCSegmentGeneration::gen2);
    target = heap.object(*segment, heap.type("Shop", "Cart", 1));
  }

  // `first`: 0: the delegate itself.
  Address add(Address first, Address helper, u64 extra, u64 code) {
    const Address at = heap.object(*segment, action);
    const u64 words[] = {first ? first : at, helper, extra, code};
    const u64 order[] = {newer_ ? 1u : 0u, newer_ ? 0u : 1u, newer_ ? 3u : 2u, newer_ ? 2u : 3u};
    for (u64 i = 0; i < 4; ++i)
      segment->block.pointer(at + (1 + i) * p, words[order[i]]);
    return at;
  }
  Address list(const std::vector<Address> &parts, u64 length) {
    const Address at = heap.object(*segment, list_type, length);
    for (u64 i = 0; i < parts.size(); ++i)
      segment->block.pointer(at + (2 + i) * p, parts[i]);
    return at;
  }

  AotBuilder heap;
  const u64 p;
  Address delegate, multicast, action, list_type, target;
  AotSegment *segment;

private:
  bool newer_;
};

struct OpenedDelegates : OpenedAot {
  explicit OpenedDelegates(DelegateScene &scene)
      : OpenedAot(scene.heap.target()), types(dynamic_cast<NativeAot &>(*runtime).types()),
        delegates(target->memory, types, CodeRange{code_start, code_end}, [](Address code) { return hex(code); }) {}
  std::vector<std::pair<Address, std::string>> targets(Address object) {
    std::vector<std::pair<Address, std::string>> out;
    for (const DelegateTarget &one : delegates.targets(object, method_table_of(target->memory, object), 100))
      out.emplace_back(one.object, one.method);
    return out;
  }
  RuntimeTypeSystemN1 &types;
  NativeDelegates delegates;
};

using Targets = std::vector<std::pair<Address, std::string>>;

TEST(NativeDelegates, EveryKind) {
  for (Format format : all_formats)
    for (bool newer : {false, true}) {
      SCOPED_TRACE(name_of(format) + (newer ? " newer" : ""));
      DelegateScene s(format, newer);
      const Address closed = s.add(s.target, 0, 0, 0x5100), open = s.add(0, 0, 0x5200, 0x5f00),
                    extension = s.add(0, s.target, 0x5300, 0x5f00),
                    fat = s.heap.native.words({0x5400, s.heap.native.address()}),
                    generic = s.add(s.target, 0, 0, fat + 2), several = s.add(0, s.list({closed, open}, 4), 2, 0x5f00),
                    cut = s.add(0, s.list({closed, open, open}, 2), 3, 0x5f00), foreign = s.add(s.target, 0, 0, 0x100);
      OpenedDelegates o(s);
      EXPECT_EQ(o.targets(closed), (Targets{{s.target, "0x5100"}}));
      EXPECT_EQ(o.targets(open), (Targets{{0, "0x5200"}}));
      EXPECT_EQ(o.targets(extension), (Targets{{s.target, "0x5300"}}));
      EXPECT_EQ(o.targets(generic), (Targets{{s.target, "0x5400"}}));
      EXPECT_EQ(o.targets(several), (Targets{{s.target, "0x5100"}, {0, "0x5200"}}));
      EXPECT_EQ(o.targets(cut).size(), 2u);
      EXPECT_TRUE(o.targets(foreign).empty()); // in which order its words are, nothing says
      EXPECT_TRUE(o.targets(s.target).empty());
      const std::optional<DelegateList> list = o.delegates.list(several, s.action);
      ASSERT_TRUE(list);
      EXPECT_EQ(list->count, 2u);
      EXPECT_FALSE(list->is_cut);
      EXPECT_TRUE(o.delegates.list(cut, s.action)->is_cut);
      EXPECT_EQ(o.delegates.list(closed, s.action)->array, 0u);
      EXPECT_FALSE(o.delegates.list(foreign, s.action));
    }
}

// Delegates that call one another, and themselves.
TEST(NativeDelegates, Circles) {
  DelegateScene s({}, true);
  const Address list = s.list({0, 0}, 2), one = s.add(0, list, 2, 0x5f00);
  for (u64 i = 0; i < 2; ++i)
    s.segment->block.pointer(list + (2 + i) * s.p, one);
  OpenedDelegates o(s);
  EXPECT_TRUE(o.targets(one).empty());
}

// What is called so but has other references is none.
TEST(NativeDelegates, OtherShapes) {
  DelegateScene s({}, true);
  const Address odd = s.heap.type("Shop", "Odd", 4), stranger = s.heap.type("Shop", "Stranger", 4);
  s.heap.references(odd, "rrr.");
  s.heap.parent(odd, s.multicast);
  s.heap.references(stranger, "rr..");
  OpenedDelegates o(s);
  EXPECT_FALSE(o.delegates.list(s.target, odd));
  EXPECT_FALSE(o.delegates.list(s.target, stranger));
}

} // namespace
} // namespace dnheap::test
