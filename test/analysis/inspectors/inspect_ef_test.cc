// `inspect ef`: contexts and change trackers that were written, with random numbers of entries that are counted while
// they are; types of another shape are said to be unknown.
#include "base/text.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

struct Contexts : LibraryHeap {
  explicit Contexts(const HeapShape &shape, const char *unchanged = "_unchangedReferenceMap") : LibraryHeap(shape) {
    const char *space = "Microsoft.EntityFrameworkCore",
               *inner = "Microsoft.EntityFrameworkCore.ChangeTracking.Internal";
    base = type(space, "DbContext", 0, 4, {"?_disposed", "!_leaseCount"});
    context = type("Shop", "Orders", base, 5, {"_name"}, 2);
    manager = type(inner, "StateManager", 0, 4, {"_entityReferenceMap", "<Context>k__BackingField"});
    map = type(
        inner, "EntityReferenceMap", 0, 7,
        {unchanged, "_addedReferenceMap", "_modifiedReferenceMap", "_deletedReferenceMap", "_sharedTypeReferenceMap"});
    entries = type("System.Collections.Generic", "Dictionary", 0, 5, {"!_count", "!_freeCount", "_entries"});
    part = type(space, "DatabaseFacade", 0, 3, {"_context"});
    owner = type("Shop", "Job", 0, 3, {"_database"});
    MetadataWriter &metadata = heap.app().metadata;
    const Address entry = heap.method_table({.base_size = static_cast<u32>(4 * p),
                                             .flags = 0x40000,
                                             .rid = metadata.type("System.Collections.Generic", "Entry")});
    heap.fields(entry, {{metadata.field("key", field_signature(element(ElementType::Object))), ElementType::Class, 0},
                        {metadata.field("value", field_signature(element(ElementType::Object))), ElementType::Class,
                         static_cast<u32>(p)}});
    heap.value_type(entry, ElementType::ValueType, 2 * p);
    shared_entries = heap.array(entry, static_cast<u32>(2 * p));
  }
  // Of unchanged, added, modified and deleted entities; 0: none ever were.
  Address map_of(const std::vector<u32> &numbers, Address shared = 0) {
    std::vector<u64> maps;
    for (u32 number : numbers)
      maps.push_back(number ? with(entries, {number + 3, 3}) : 0);
    maps.push_back(shared);
    return with(map, maps);
  }
  Address shared_by(const std::vector<Address> &maps, u32 count) {
    const Address array = old.object(shared_entries, maps.size());
    for (u64 i = 0; i < maps.size(); ++i)
      old.store(array + (3 + 2 * i) * p, maps[i], p);
    return with(entries, {count, 0, array});
  }
  Address made(bool is_disposed, u32 leases, Address of_map) {
    const Address at = with(context, {is_disposed, leases});
    if (of_map)
      with(manager, {of_map, at});
    with(part, {at});
    return at;
  }
  Address base = 0, context = 0, manager = 0, map = 0, entries = 0, part = 0, owner = 0, shared_entries = 0;
};

TEST(InspectEf, Tracked) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Contexts s(shape);
    std::mt19937_64 random(11);
    std::vector<u64> sums(4);
    u64 most = 0;
    Address largest = 0;
    for (int i = 0; i < 8; ++i) {
      std::vector<u32> of_types(4), of_shared(4);
      u64 all = 0;
      for (int k = 0; k < 4; ++k) {
        of_types[k] = random() % 50;
        of_shared[k] = i % 2 ? random() % 50 : 0;
        sums[k] += of_types[k] + of_shared[k];
        all += of_types[k] + of_shared[k];
      }
      const Address shared = i % 2 ? s.shared_by({s.map_of(of_shared), 0}, 2) : 0, // one was removed
          at = s.made(false, 0, s.map_of(of_types, shared));
      s.with(s.owner, {at});
      if (all > most) {
        most = all;
        largest = at;
      }
    }
    s.with(s.owner, {s.made(false, 0, 0)}); // was never asked for entities
    s.made(true, 0, s.map_of({0, 0, 0, 0}));
    s.made(true, 2, s.map_of({0, 0, 0, 0}));
    report::Answer answer = inspected(s.heap, "ef");
    std::vector<TextRow> rows = text_rows_of(answer, "ef");
    ASSERT_EQ(rows.size(), 3u) << notes_of(answer);
    EXPECT_EQ(rows[0]["count"], "9");
    EXPECT_EQ(rows[0]["tracked"], std::to_string(sums[0] + sums[1] + sums[2] + sums[3]));
    EXPECT_EQ(rows[0]["most"], std::to_string(most));
    EXPECT_EQ(rows[0]["unchanged"], std::to_string(sums[0]));
    EXPECT_EQ(rows[0]["added"], std::to_string(sums[1]));
    EXPECT_EQ(rows[0]["modified"], std::to_string(sums[2]));
    EXPECT_EQ(rows[0]["deleted"], std::to_string(sums[3]));
    EXPECT_EQ(rows[0]["state"], "in use");
    EXPECT_EQ(rows[0]["type"], "Shop.Orders");
    EXPECT_EQ(rows[0]["held_by"], "Shop.Job._database");
    EXPECT_EQ(rows[0]["example"], hex(largest));
    EXPECT_EQ(rows[1]["state"], "disposed");
    EXPECT_EQ(rows[1]["held_by"], "(nobody)");
    EXPECT_EQ(rows[2]["state"], "in a pool");
    EXPECT_EQ(unknown_notes_of(answer), "");
    EXPECT_EQ(answer.next_command, "dnheap path core " + hex(largest));
  }
}

TEST(InspectEf, OfAnotherShape) {
  Contexts s({}, "_unchanged"), other({});
  s.made(false, 0, s.map_of({1, 1, 1, 1}));
  other.made(false, 0, other.map_of({1, 1, 1, 1}, other.shared_by({0}, 2)));          // more than the array has
  other.made(false, 0, other.map_of({1, 1, 1, 1}, other.shared_by({0}, 0xfffffff0))); // than can be
  const Address lies = other.with(other.entries, {2, 3});                             // more free than used
  other.made(false, 0, other.with(other.map, {lies, 0, 0, 0, 0}));
  auto note = [](u64 count) {
    return unknown_shape(count, "Microsoft.EntityFrameworkCore.DbContext", "such a context");
  };
  report::Answer answer = inspected(s.heap, "ef"), of_other = inspected(other.heap, "ef");
  EXPECT_TRUE(text_rows_of(answer, "ef").empty());
  EXPECT_EQ(unknown_notes_of(answer), note(1));
  EXPECT_TRUE(text_rows_of(of_other, "ef").empty());
  EXPECT_EQ(unknown_notes_of(of_other), note(3));
}

} // namespace
} // namespace dnheap::test
