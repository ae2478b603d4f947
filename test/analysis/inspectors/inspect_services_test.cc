// `inspect caches`, `inspect di`: caches and scopes that were written, with random numbers of entries that are counted
// while they are; types of another shape are said to be unknown.
#include "base/text.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

namespace dnheap::test {
namespace {

// As in Microsoft.Extensions.Caching.Memory: one table of entries, or one of strings and one of others.
struct Caches : LibraryHeap {
  explicit Caches(const HeapShape &shape, const char *limit = "%_sizeLimit") : LibraryHeap(shape) {
    const char *space = "Microsoft.Extensions.Caching.Memory";
    options = type(space, "MemoryCacheOptions", 0, 4, {limit});
    one_table = type(space, "CoherentState1", 0, 5, {"_entries", "%_cacheSize"});
    two_tables = type(space, "CoherentState2", 0, 6, {"_stringEntries", "_nonStringEntries", "%_cacheSize"});
    cache = type(space, "MemoryCache", 0, 4, {"_coherentState", "_options"});
    own = type("Shop", "Prices", cache, 5, {"_name"}, 2);
    dictionary = type("System.Collections.Concurrent", "ConcurrentDictionary", 0, 3, {"_tables"});
    tables = type("System.Collections.Concurrent", "Tables", 0, 3, {"_countPerLock"});
    counts = heap.array(heap.object_type, 4);
    owner = type("Shop", "Owner", 0, 3, {"_cache"});
    entry = type(space, "CacheEntry", 0, 3, {"_cache"});
  }
  Address table(const std::vector<u32> &by_lock) {
    const Address at = old.object(counts, by_lock.size());
    for (u64 i = 0; i < by_lock.size(); ++i)
      old.store(at + 2 * p + 4 * i, by_lock[i], 4);
    return with(dictionary, {with(tables, {at})});
  }
  Address limited(u64 limit) { return with(options, {limit}); }
  Address options = 0, one_table = 0, two_tables = 0, cache = 0, own = 0, dictionary = 0, tables = 0, counts = 0,
          owner = 0, entry = 0;
};

TEST(InspectServices, Caches) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Caches s(shape);
    std::mt19937_64 random(3);
    u64 entries = 0, most = 0, size = 0;
    Address largest = 0;
    for (u64 i = 0; i < 7; ++i) {
      const u32 a = random() % 100, b = random() % 100, c = random() % 100;
      const Address state = i % 2 ? s.with(s.one_table, {s.table({a, b, c}), a})
                                  : s.with(s.two_tables, {s.table({a, b}), s.table({c}), a});
      const Address cache = s.with(s.cache, {state, s.limited(500)});
      for (u64 k = 0; k < 3; ++k) // these do not hold it
        s.with(s.entry, {cache});
      s.with(s.owner, {cache});
      entries += a + b + c;
      size += a;
      if (a + b + c > most) {
        most = a + b + c;
        largest = cache;
      }
    }
    s.with(s.own, {s.with(s.one_table, {s.table({2}), 0}), s.limited(~u64{0}), 0}); // -1: no limit
    report::Answer answer = inspected(s.heap, "caches");
    std::vector<TextRow> rows = text_rows_of(answer, "caches");
    ASSERT_EQ(rows.size(), 2u) << notes_of(answer);
    EXPECT_EQ(rows[0]["count"], "7");
    EXPECT_EQ(rows[0]["entries"], std::to_string(entries));
    EXPECT_EQ(rows[0]["most"], std::to_string(most));
    EXPECT_EQ(rows[0]["size"], std::to_string(size));
    EXPECT_EQ(rows[0]["size_limit"], "500");
    EXPECT_EQ(rows[0]["held_by"], "Shop.Owner._cache");
    EXPECT_EQ(rows[0]["example"], hex(largest));
    EXPECT_EQ(rows[1]["type"], "Shop.Prices");
    EXPECT_EQ(rows[1]["entries"], "2");
    EXPECT_EQ(rows[1]["size"], "");
    EXPECT_EQ(rows[1]["size_limit"], "");
    EXPECT_EQ(unknown_notes_of(answer), "");
    EXPECT_EQ(answer.next_command, "dnheap path core " + hex(largest));
  }
}

TEST(InspectServices, CachesOfAnotherShape) {
  Caches s({}, "#_sizeLimit"), other({});
  s.with(s.cache, {s.with(s.one_table, {s.table({3}), 0}), s.limited(5)});
  other.with(other.cache, {other.with(other.two_tables, {0, 0, 0}), other.limited(5)}); // no table at all
  other.with(other.cache, {0xfffffff0, other.limited(5)});
  const Address lies = other.table({3}); // of locks there are more than can be
  other.heap.poke(lies + other.p, 0xfffffff0, 8);
  other.with(other.cache, {other.with(other.one_table, {lies, 0}), other.limited(5)});
  auto note = [](u64 count) {
    return unknown_shape(count, "Microsoft.Extensions.Caching.Memory.MemoryCache", "such a cache");
  };
  report::Answer answer = inspected(s.heap, "caches"), of_other = inspected(other.heap, "caches");
  EXPECT_TRUE(text_rows_of(answer, "caches").empty());
  EXPECT_EQ(unknown_notes_of(answer), note(1));
  EXPECT_TRUE(text_rows_of(of_other, "caches").empty());
  EXPECT_EQ(unknown_notes_of(of_other), note(3));
}

struct Scopes : LibraryHeap {
  explicit Scopes(const HeapShape &shape, const char *disposables = "_disposables") : LibraryHeap(shape) {
    scope = type("Microsoft.Extensions.DependencyInjection.ServiceLookup", "ServiceProviderEngineScope", 0, 6,
                 {"?_disposed", disposables, "<ResolvedServices>k__BackingField", "?<IsRootScope>k__BackingField"});
    list = type("System.Collections.Generic", "List", 0, 3, {"!_size"});
    dictionary = type("System.Collections.Generic", "Dictionary", 0, 4, {"!_count", "!_freeCount"});
    owner = type("Shop", "Owner", 0, 3, {"_scope"});
  }
  Address of(bool is_root, bool is_disposed, u32 services, std::optional<u32> disposables) {
    return with(scope, {is_disposed, disposables ? with(list, {*disposables}) : 0, with(dictionary, {services + 2, 2}),
                        is_root});
  }
  Address scope = 0, list = 0, dictionary = 0, owner = 0;
};

TEST(InspectServices, Di) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Scopes s(shape);
    std::mt19937_64 random(5);
    u64 services = 0, disposables = 0, most = 0;
    Address largest = 0;
    for (u64 i = 0; i < 9; ++i) {
      const u32 kept = random() % 100 + 1, resolved = random() % 100;
      const Address scope = s.of(false, false, resolved, kept);
      s.with(s.owner, {scope});
      services += resolved;
      disposables += kept;
      if (kept > most) {
        most = kept;
        largest = scope;
      }
    }
    s.of(true, false, 0, 4);
    s.of(false, true, 3, std::nullopt);
    report::Answer answer = inspected(s.heap, "di");
    std::vector<TextRow> rows = text_rows_of(answer, "di");
    ASSERT_EQ(rows.size(), 3u) << notes_of(answer);
    EXPECT_EQ(rows[0]["count"], "9");
    EXPECT_EQ(rows[0]["services"], std::to_string(services));
    EXPECT_EQ(rows[0]["disposables"], std::to_string(disposables));
    EXPECT_EQ(rows[0]["most"], std::to_string(most));
    EXPECT_EQ(rows[0]["kind"], "scope");
    EXPECT_EQ(rows[0]["state"], "in use");
    EXPECT_EQ(rows[0]["held_by"], "Shop.Owner._scope");
    EXPECT_EQ(rows[0]["example"], hex(largest));
    EXPECT_EQ(rows[1]["kind"], "root");
    EXPECT_EQ(rows[1]["disposables"], "4");
    EXPECT_EQ(rows[2]["state"], "disposed");
    EXPECT_EQ(rows[2]["services"], "3");
    EXPECT_EQ(rows[2]["disposables"], "0");
    EXPECT_EQ(unknown_notes_of(answer), "");
    EXPECT_EQ(answer.next_command, "dnheap path core " + hex(largest));
  }
}

// Scopes whose lists have objects of two types, and room for more.
struct FilledScopes : Scopes {
  explicit FilledScopes(const HeapShape &shape) : Scopes(shape) {
    full_list = type("System.Collections.Generic", "LinkedList", 0, 4, {"_items", "!_size"});
    connection = type("Shop", "Connection", 0, 3, {"_one"});
    basket = type("Shop", "Basket", 0, 5, {"_one"});
  }
  Address keeping(bool is_root, const std::vector<Address> &objects) {
    return with(scope, {0, with(full_list, {array(objects, 3), objects.size()}), with(dictionary, {2, 2}), is_root});
  }
  Address full_list = 0, connection = 0, basket = 0;
};

// "type | kind | count | bytes in words | scopes | most | largest"
std::vector<std::string> disposables_of(report::Answer &answer, u64 word) {
  std::vector<std::string> out;
  for (TextRow &row : text_rows_of(answer, "disposables"))
    out.push_back(row["type"] + " | " + row["kind"] + " | " + row["count"] + " | " +
                  std::to_string(std::stoull(row["bytes"]) / word) + " | " + row["scopes"] + " | " + row["most"] +
                  " | " + row["example"]);
  return out;
}

TEST(InspectServices, DisposablesByType) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    FilledScopes s(shape);
    auto connection = [&] { return s.with(s.connection, {0}); };
    const Address basket = s.with(s.basket, {0}), twice = connection();
    std::vector<Address> many = {basket, basket}; // the same one twice
    for (int i = 0; i < 5; ++i)
      many.push_back(connection());
    const Address root = s.keeping(true, many), first = s.keeping(false, {connection(), 0, basket});
    const Address second = s.keeping(false, {connection(), twice, twice});
    s.of(false, true, 0, std::nullopt);
    report::Answer answer = inspected(s.heap, "di");
    const std::vector<std::string> written = {"Shop.Connection | root | 5 | 15 | 1 | 5 | " + hex(root),
                                              "Shop.Connection | scope | 4 | 9 | 2 | 3 | " + hex(second),
                                              "Shop.Basket | root | 2 | 5 | 1 | 2 | " + hex(root),
                                              "Shop.Basket | scope | 1 | 0 | 1 | 1 | " + hex(first)};
    std::vector<std::string> found = disposables_of(answer, s.p);
    EXPECT_EQ(std::set(found.begin(), found.end()), std::set(written.begin(), written.end())) << notes_of(answer);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front(), written.front());
  }
}

// Sizes that lie, and a list that two scopes share.
TEST(InspectServices, DisposablesOfDamagedLists) {
  FilledScopes s({});
  const Address object = s.with(s.connection, {0}), items = s.array({object, 0x30, 7});
  const Address list = s.with(s.full_list, {items, 0xfffffff0}), none = s.with(s.full_list, {0, 5});
  for (int i = 0; i < 2; ++i)
    s.with(s.scope, {0, list, s.with(s.dictionary, {2, 2}), 0});
  s.with(s.scope, {0, none, s.with(s.dictionary, {2, 2}), 0});
  report::Answer answer = inspected(s.heap, "di");
  const std::vector<std::string> found = disposables_of(answer, s.p);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].substr(0, found[0].rfind('|')), "Shop.Connection | scope | 1 | 3 | 1 | 1 ");
}

TEST(InspectServices, DiOfAnotherShape) {
  Scopes s({}, "_captured"), other({});
  s.of(false, false, 1, 1);
  const Address scope = other.of(false, false, 1, 1);
  other.with(other.scope, {0, 0, other.with(other.dictionary, {1, 2}), 0}); // more free than used
  other.heap.poke(scope + 2 * other.p, 0xfffffff0, other.p);                // not in the dump
  report::Answer answer = inspected(s.heap, "di"), of_other = inspected(other.heap, "di");
  auto note = [](u64 count) {
    return unknown_shape(count, "Microsoft.Extensions.DependencyInjection.ServiceLookup.ServiceProviderEngineScope",
                         "such a scope");
  };
  EXPECT_TRUE(text_rows_of(answer, "di").empty());
  EXPECT_EQ(unknown_notes_of(answer), note(1));
  EXPECT_TRUE(text_rows_of(of_other, "di").empty());
  EXPECT_EQ(unknown_notes_of(of_other), note(2));
}

} // namespace
} // namespace dnheap::test
