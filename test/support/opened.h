// Opened: a HeapBuilder's process as dnheap sees it: target, runtime, heap. And the shapes that tests go through.
#pragma once
#include "heap/walk.h"
#include "runtime/describe/open_core_clr.h"
#include "support/heap_builder.h"

namespace dnheap::test {

// The shipped tables, and one of the same kind for the 32-bit targets of HeapBuilder, for which none is shipped.
std::vector<ShippedTable> tables_for_all_formats();

struct Opened {
  explicit Opened(HeapBuilder &builder, const std::vector<ShippedTable> &tables = tables_for_all_formats())
      : target(builder.target()), runtime(open_core_clr(*target, target->modules.at(0), tables)), heap(runtime) {}

  std::unique_ptr<Target> target;
  CoreClr runtime;
  Heap heap;
};

// Every format with every version, server and workstation, regions and segments, published and withheld descriptor.
std::vector<HeapShape> all_shapes();
std::string name_of(const HeapShape &shape);
// Every format with every version, as it publishes itself: what is read of types does not depend on the rest.
std::vector<HeapShape> type_layouts();

} // namespace dnheap::test
