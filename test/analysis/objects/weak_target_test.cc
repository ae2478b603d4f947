// `show` of a WeakReference tells what its handle leads to, in every layout.
#include "analysis/objects/weak_target.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(WeakTarget, OfItsHandle) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    const u32 p = static_cast<u32>(heap.p);
    auto weak = [&](const char *name_space, const char *name, Address parent) {
      const Address type =
          heap.method_table({.base_size = 3 * p, .rid = heap.app().metadata.type(name_space, name), .parent = parent});
      if (parent == heap.object_type)
        heap.fields(type, {{heap.app().metadata.field("_taggedHandle", field_signature(element(ElementType::I))),
                            ElementType::I, 0}});
      return type;
    };
    const Address reference = weak("System", "WeakReference", heap.object_type),
                  derived = weak("Shop", "MyReference", reference), other = weak("Shop", "Weak", heap.object_type);
    SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
    const Address target = old.string("pear"), handle = heap.native.words({target}), empty = heap.native.words({0});
    struct Case {
      Address type;
      u64 handle;
      std::optional<Address> target;
    };
    const Case cases[] = {{reference, handle, target},
                          {reference, handle | 1, target}, // tracks resurrection
                          {derived, handle, target},
                          {reference, empty, 0},
                          {reference, 0, 0},
                          {reference, handle | 2, std::nullopt}, // of COM
                          {reference, 0x12340, std::nullopt},    // not in the dump
                          {other, handle, std::nullopt}};
    std::vector<Address> objects;
    for (const Case &c : cases) {
      objects.push_back(old.object(c.type));
      old.store(objects.back() + p, c.handle, p);
    }
    Opened opened(heap);
    for (u64 i = 0; i < objects.size(); ++i)
      EXPECT_EQ(weak_target(opened.runtime, objects[i], cases[i].type), cases[i].target) << i;
  }
}

} // namespace
} // namespace dnheap::test
