// LoadedTypes: the types of a module, where the module's table of them is damaged.
#include "runtime/coreclr/types/loaded_types.h"
#include "support/opened.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// What is not in the dump is passed over a page at a time, wherever in a page the table begins. A reader that takes no
// step there never ends.
TEST(LoadedTypes, ATableThatIsNotInTheDumpEnds) {
  for (const HeapShape &shape : type_layouts())
    for (const Address table : {Address{0x50000000}, Address{0x50000007}, Address{0x50000fff}}) {
      SCOPED_TRACE(name_of(shape));
      HeapBuilder heap(shape);
      heap.target();
      const Address map = heap.app().module + heap.layout.module_types * heap.p; // {next, table, count}
      heap.poke(map, 0, heap.p);
      heap.poke(map + heap.p, table, heap.p);
      heap.poke(map + 2 * heap.p, 10'000, 4);
      Opened opened(heap);
      Notes notes;
      LoadedTypes loaded(opened.target->memory, opened.runtime.descriptor(), opened.runtime.types());
      const std::vector<Address> types = loaded.types(heap.app().module, notes);
      EXPECT_EQ(std::ranges::count(types, heap.string_type), 1) << "the table of generic types is read all the same";
    }
}

} // namespace
} // namespace dnheap::test
