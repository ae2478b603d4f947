// Views of memory-mapped files: which file each is of, and which are no open views.
#include "analysis/native/mapped_views.h"
#include "support/heap_builder.h"
#include "support/opened.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr Address file_start = 0x600000, file_size = 0x10000;

struct Views {
  explicit Views(const HeapShape &shape) : heap(shape), old(heap.segment(GCSegmentGeneration::gen2)) {
    const u32 p = static_cast<u32>(heap.p);
    MetadataWriter &metadata = heap.app().metadata;
    const u32 rid = metadata.type("Microsoft.Win32.SafeHandles", "SafeMemoryMappedViewHandle");
    auto field = [&](const char *name, ElementType type, u32 offset) {
      return FieldShape{metadata.field(name, field_signature(element(type))), type, offset};
    };
    const FieldShape handle = field("handle", ElementType::I, 0), size = field("_numBytes", ElementType::U, p),
                     state = field("_state", ElementType::I4, 2 * p);
    type = heap.method_table({.base_size = 6 * p, .rid = rid});
    heap.fields(type, {handle, size, state});
  }
  void add(Address start, u64 size, u32 state) {
    const Address at = old.object(type);
    old.store(at + heap.p, start, heap.p);
    old.store(at + 2 * heap.p, size, heap.p);
    old.store(at + 3 * heap.p, state, 4);
  }
  std::vector<MappedView> find() {
    std::unique_ptr<Target> target = heap.target();
    Module file;
    file.path = "/srv/tiles.bin";
    file.base = file_start;
    file.extents = {{file_start, file_start + file_size}};
    target->modules.insert(std::ranges::upper_bound(target->modules, file.base, {}, &Module::base), file);
    Snapshot snapshot(std::move(target), {});
    return find_mapped_views(snapshot);
  }

  HeapBuilder heap;
  SegmentWriter &old;
  Address type = 0;
};

TEST(MappedViews, OpenOnesAndTheirFiles) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Views views(shape);
    views.add(file_start, 0x4000, 4);
    views.add(file_start + 0x4000, 0x8000, 4);
    views.add(0x700000, 0x1000, 4);                                    // of no file
    views.add(file_start, 0x4000, 1);                                  // closed
    views.add(0, 0x4000, 4);                                           // none yet
    views.add(file_start, ~u64{0} >> (views.heap.p == 8 ? 0 : 32), 4); // its size was never set
    const std::vector<MappedView> found = views.find();
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].start, file_start);
    EXPECT_EQ(found[1].bytes, 0x8000u);
    EXPECT_EQ(found[1].file, "/srv/tiles.bin");
    EXPECT_EQ(found[2].file, "");
    EXPECT_EQ(files_text(found), "48.0 KiB of tiles.bin, and 4.0 KiB of no file");
  }
}

TEST(MappedViews, InWords) {
  EXPECT_EQ(files_text({}), "");
  EXPECT_EQ(files_text({{1, 2, 1024, 0, ""}}), "1.0 KiB of no file");
  EXPECT_EQ(files_text({{1, 2, 1024, 0, "/a/b"}, {1, 2, 1024, 0, "/a/c"}, {1, 2, 1025, 0, "/a/d"}}),
            "3.0 KiB of d and 2 other files");
}

} // namespace
} // namespace dnheap::test
