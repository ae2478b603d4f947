// Dependent handles, by the table that has them: a table that has grown, whose earlier container is still there, one
// without a known holder, and handles of no table.
#include "analysis/owners/weak_entries.h"
#include "runtime/facts/handle_data.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct WeakHeap : LibraryHeap {
  explicit WeakHeap(const HeapShape &shape, const std::vector<Address> &handles = {}) : LibraryHeap(shape) {
    const Address element = heap.type("Shop.Order", 2);
    const u32 rid = generic("System.Runtime.CompilerServices", "ConditionalWeakTable`1");
    table_type = type_of(rid, 0, 3, {"_container"}, 0, {element});
    const u32 inner = heap.app().metadata.nested(rid, "Container");
    heap.app().metadata.generic(token(Table::TypeDef, inner), {"T"});
    container_type = type_of(inner, 0, 5, {"_parent", "_buckets", "_entries"}, 0, {element});
    const Address entry = heap.method_table(
        {.base_size = static_cast<u32>(4 * p), .flags = 0x40000, .rid = heap.app().metadata.nested(rid, "Entry")});
    entries_type = heap.array(entry, static_cast<u32>(2 * p));
    for (int i = 0; i < 5; ++i)
      objects.push_back(old.object(element));
    for (int i = 0; i < 4; ++i)
      heap.gc.handles.push_back({.type = HandleType::dependent, .object = objects[i], .secondary = objects[i + 1]});
    heap.gc.handles.push_back({.type = HandleType::dependent, .object = objects[4]}); // without a value
    auto handle = [&](u64 i) { return i < handles.size() ? handles[i] : 0; };
    table = with(table_type, {0});
    container(table, {handle(0)}); // the earlier one
    old.store(table + p, container(table, {handle(0), handle(1), 0, handle(4)}), p);
    other = with(table_type, {0});
    old.store(other + p, container(other, {handle(2)}), p);
    const Address damaged = with(table_type, {0});
    old.store(damaged + p, with(container_type, {damaged, 0, 0x1234}), p);
  }
  Address container(Address of, const std::vector<Address> &handles) {
    const Address at = old.object(entries_type, handles.size());
    for (u64 i = 0; i < handles.size(); ++i)
      old.store(at + (2 + 2 * i) * p, handles[i], p);
    return with(container_type, {of, 0, at});
  }

  Address table_type = 0, container_type = 0, entries_type = 0, table = 0, other = 0;
  std::vector<Address> objects;
};

// Where they lie does not depend on the objects.
std::vector<Address> handle_addresses(const HeapShape &shape) {
  WeakHeap s(shape);
  Snapshot snapshot(s.heap.target(), {});
  Notes notes;
  std::map<Address, Address> by_key;
  for (const HandleData &one : snapshot.runtime().gc().get_handles(std::vector{HandleType::dependent}, notes))
    by_key[one.object] = one.handle;
  std::vector<Address> out;
  for (Address key : s.objects)
    out.push_back(by_key[key]);
  return out;
}

TEST(WeakEntries, ByTable) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    WeakHeap s(shape, handle_addresses(shape));
    Snapshot snapshot(s.heap.target(), {});
    const WeakEntries found = find_weak_entries(snapshot);
    ASSERT_EQ(found.tables.size(), 2u);
    EXPECT_EQ(found.tables[0].object, s.table);
    ASSERT_EQ(found.tables[0].entries.size(), 2u);
    EXPECT_EQ(found.tables[0].entries[0].key, s.objects[0]);
    EXPECT_EQ(found.tables[0].entries[0].value, s.objects[1]);
    EXPECT_EQ(found.tables[0].entries[1].key, s.objects[1]);
    EXPECT_EQ(found.tables[1].object, s.other);
    ASSERT_EQ(found.tables[1].entries.size(), 1u);
    EXPECT_EQ(found.tables[1].entries[0].key, s.objects[2]);
    ASSERT_EQ(found.others.size(), 1u);
    EXPECT_EQ(found.others[0].key, s.objects[3]);
    EXPECT_EQ(found.others[0].value, s.objects[4]);
    EXPECT_EQ(found.containers.size(), 4u);
    EXPECT_FALSE(found.is_cut);
  }
}

} // namespace
} // namespace dnheap::test
