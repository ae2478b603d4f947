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

// Order.Where(order => order.<member> == <constant>), and what an entry of the cache has of it.
struct Queries : LibraryHeap {
  explicit Queries(const HeapShape &shape) : LibraryHeap(shape) {
    const char *linq = "System.Linq.Expressions", *query = "Microsoft.EntityFrameworkCore.Query",
               *key_name = "CompiledQueryCacheKey";
    call = type(linq, "MethodCallExpression2", 0, 5, {"<Method>k__BackingField", "_arg0", "_arg1"});
    unary = type(linq, "UnaryExpression", 0, 4, {"<Operand>k__BackingField", "!<NodeType>k__BackingField"});
    lambda = type(linq, "Expression1", 0, 4, {"_body", "_par0"});
    binary = type(linq, "LogicalBinaryExpression", 0, 5,
                  {"<Left>k__BackingField", "<Right>k__BackingField", "!<NodeType>k__BackingField"});
    member = type(linq, "PropertyExpression", 0, 4, {"<Expression>k__BackingField", "_property"});
    constant = type(linq, "ConstantExpression", 0, 3, {"<Value>k__BackingField"});
    parameter = type(linq, "ParameterExpression", 0, 3, {"<Name>k__BackingField"});
    root = type(query, "EntityQueryRootExpression", 0, 3, {"<EntityType>k__BackingField"});
    entity = type("Microsoft.EntityFrameworkCore.Metadata", "RuntimeEntityType", 0, 3, {"<Name>k__BackingField"});
    member_info = type("System.Reflection", "RuntimePropertyInfo", 0, 3, {"m_name"});
    list = type("System.Collections.ObjectModel", "ReadOnlyCollection", 0, 3, {"list"});
    provider = type("System.Dynamic.Utils", "ListArgumentProvider", 0, 3, {"_arg0"});
    key = type(query, key_name, 0, 3, {"_query"});
    other_key = type("Other.Query", key_name, 0, 3, {"_expression"});
    entry = type("Microsoft.Extensions.Caching.Memory", "CacheEntry", 0, 3, {"<Key>k__BackingField"});
  }
  Address named(Address type, const char *name) { return with(type, {old.string(name)}); }
  Address where(const char *name, Address value) {
    const Address of = named(parameter, "order"), order = with(root, {named(entity, "Shop.Order")}),
                  left = with(member, {of, named(member_info, name)}),
                  test = with(binary, {left, with(constant, {value}), 13}),
                  asked = with(list, {with(provider, {order})}); // as after somebody asked for all arguments
    return with(call, {named(member_info, "Where"), asked, with(unary, {with(lambda, {test, of}), 40})});
  }
  Address cached(Address query) { return with(entry, {with(key, {query})}); }
  Address call = 0, unary = 0, lambda = 0, binary = 0, member = 0, constant = 0, parameter = 0, root = 0, entity = 0,
          member_info = 0, list = 0, provider = 0, key = 0, other_key = 0, entry = 0;
};

TEST(InspectEf, CachedQueries) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Queries s(shape);
    const Address first = s.cached(s.where("Id", s.old.string("a secret")));
    for (int i = 0; i < 4; ++i)
      s.cached(s.where("Id", s.old.string("another")));
    s.cached(s.where("Article\n", 0));
    s.with(s.entry, {s.with(s.other_key, {0})});
    s.with(s.entry, {s.old.string("no query")});
    report::Answer answer = inspected(s.heap, "ef");
    std::vector<TextRow> rows = text_rows_of(answer, "queries");
    ASSERT_EQ(rows.size(), 2u) << notes_of(answer);
    EXPECT_EQ(rows[0]["count"], "5");
    EXPECT_EQ(rows[0]["query"], "Order.Where(order => order.Id == String)");
    EXPECT_EQ(rows[0]["example"], hex(first));
    EXPECT_EQ(rows[1]["query"], "Order.Where(order => order.Article? == null)");
    EXPECT_EQ(unknown_notes_of(answer), unknown_shape(1, "CompiledQueryCacheKey", "such a query"));
  }
}

TEST(InspectEf, DamagedQueriesEnd) {
  Queries s(type_layouts().front()); // no roots are known: all entries count as alive
  const Address circle = s.with(s.unary, {0, 34});
  s.old.store(circle + s.p, circle, s.p);
  s.cached(circle);
  Address deep = s.with(s.constant, {0});
  for (int i = 0; i < 10'000; ++i)
    deep = s.with(s.binary, {deep, deep, 13}); // 2 to the power of 10,000 leaves
  s.cached(deep);
  s.cached(0x1234);
  report::Answer answer = inspected(s.heap, "ef");
  std::vector<TextRow> rows = text_rows_of(answer, "queries");
  EXPECT_EQ(rows.size(), 3u) << notes_of(answer);
  for (TextRow &row : rows) {
    EXPECT_TRUE(row["query"].ends_with("…")) << row["query"];
    EXPECT_LE(row["query"].size(), 310u);
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
