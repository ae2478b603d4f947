// `waste`: every rule by itself; and all of them on random heaps against a twin that looks at each object and all
// others.
#include "algorithms/zero_elements.h"
#include "analysis/waste/waste.h"
#include "base/text.h"
#include "heap/tally.h"
#include "objects/live.h"
#include "support/opened.h"
#include "support/rows.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <tuple>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

struct Store {
  explicit Store(const HeapShape &shape) : heap(shape), p(heap.p), width(p == 8 ? 4 : 8), old(heap.segment(G::gen2)) {
    MetadataWriter &metadata = heap.app().metadata;
    auto size = [&](u64 words) { return static_cast<u32>((2 + words) * p); };
    auto field = [&](const char *name, ElementType type, u64 offset) {
      return FieldShape{metadata.field(name, field_signature(element(type))),
                        type == ElementType::I4 ? type : ElementType::Class, static_cast<u32>(offset)};
    };
    const u32 list_rid = metadata.type("System.Collections.Generic", "List`1");
    metadata.generic(token(Table::TypeDef, list_rid), {"T"});
    const FieldShape items = field("_items", ElementType::Object, 0), count = field("_size", ElementType::I4, p);
    list =
        heap.method_table({.base_size = size(2), .rid = list_rid, .arguments = {heap.object_type}, .series = {{p, p}}});
    heap.fields(list, {items, count});
    const u32 table_rid = metadata.type("System.Collections.Generic", "HashSet`1");
    metadata.generic(token(Table::TypeDef, table_rid), {"T"});
    const FieldShape buckets = field("_buckets", ElementType::Object, 0),
                     entries = field("_entries", ElementType::Object, p),
                     used = field("_count", ElementType::I4, 2 * p),
                     freed = field("_freeCount", ElementType::I4, 2 * p + 4);
    table = heap.method_table(
        {.base_size = size(4), .rid = table_rid, .arguments = {heap.object_type}, .series = {{p, 2 * p}}});
    heap.fields(table, {buckets, entries, used, freed});
    const u32 stack_rid = metadata.type("System.Collections.Generic", "Stack`1");
    metadata.generic(token(Table::TypeDef, stack_rid), {"T"});
    const FieldShape other = field("_somethingElse", ElementType::Object, 0);
    stack = heap.method_table(
        {.base_size = size(2), .rid = stack_rid, .arguments = {heap.object_type}, .series = {{p, p}}});
    heap.fields(stack, {other});
    own = heap.method_table(
        {.base_size = size(2), .rid = metadata.type("Shop", "OwnList"), .parent = list, .series = {{p, p}}});
    heap.fields(own, {});
    const Address value = heap.method_table({.rid = metadata.type("System", "ValueType")});
    box = heap.method_table({.base_size = size(3), .rid = metadata.type("Shop", "Amount"), .parent = value});
    point = heap.type("Shop.Point", 2);
    order = heap.method_table({.base_size = size(2), .rid = metadata.type("Shop", "Order"), .series = {{p, 2 * p}}});
    numbers = heap.array(point, static_cast<u32>(width)); // elements of a pointer's size would be references
    references = heap.array(order, static_cast<u32>(p));
  }

  Address collection(SegmentWriter &to, Address type, Address array, u64 count) {
    const Address at = to.object(type);
    to.store(at + p, array, p);
    to.store(at + 2 * p, count, 4);
    return at;
  }
  Address hash_set(Address buckets, Address entries, u64 count, u64 freed) {
    const Address at = old.object(table);
    old.store(at + p, buckets, p);
    old.store(at + 2 * p, entries, p);
    old.store(at + 3 * p, count, 4);
    old.store(at + 3 * p + 4, freed, 4);
    return at;
  }
  Address array(SegmentWriter &to, Address type, const std::vector<u64> &values) {
    const Address at = to.object(type, values.size());
    const u64 step = type == references ? p : width;
    for (u64 i = 0; i < values.size(); ++i)
      to.store(at + 2 * p + i * step, values[i], step);
    return at;
  }
  u64 aligned(Address type, u64 components = 0) const { return align_up(heap.size_of(type, components), p); }

  HeapBuilder heap;
  const u64 p, width; // of a number
  SegmentWriter &old;
  Address list = 0, table = 0, stack = 0, own = 0, box = 0, point = 0, order = 0, numbers = 0, references = 0;
};

using Sums = std::map<std::pair<std::string, std::string>, std::pair<u64, u64>>; // kind, type without its
                                                                                 // arguments → count, bytes

Sums sums_of(const Waste &waste) {
  Sums out;
  for (const WasteRow &row : waste.rows) {
    auto &[count, bytes] = out[{name_of(row.kind), row.what.substr(0, row.what.find('<'))}];
    count += row.count;
    bytes += row.bytes;
  }
  return out;
}

Waste waste_of(HeapBuilder &heap, unsigned threads = 2) {
  SnapshotOptions options;
  options.threads = threads;
  Snapshot snapshot(heap.target(), options);
  return find_waste(snapshot);
}

// What doubles has some room at its end; a quarter of a large array is worth a word.
TEST(Waste, RoomThatNothingUses) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Store store(shape);
    const u64 p = store.p;
    MetadataWriter &metadata = store.heap.app().metadata;
    const u32 rid = metadata.type("System.IO", "MemoryStream");
    auto field = [&](const char *name, ElementType type, u64 offset) {
      return FieldShape{metadata.field(name, field_signature(element(type))),
                        type == ElementType::Object ? ElementType::Class : type, static_cast<u32>(offset)};
    };
    const FieldShape buffer = field("_buffer", ElementType::Object, 0), length = field("_length", ElementType::I4, p),
                     owns = field("_expandable", ElementType::Boolean, p + 4);
    const Address stream =
        store.heap.method_table({.base_size = static_cast<u32>(2 * p + p + 8), .rid = rid, .series = {{p, p}}});
    store.heap.fields(stream, {buffer, length, owns});
    auto add = [&](u64 capacity, u64 used, bool is_own) {
      const Address at = store.old.object(stream), array = store.old.object(store.numbers, capacity);
      store.old.store(at + p, array, p);
      store.old.store(at + 2 * p, used, 4);
      store.old.store(at + 2 * p + 4, is_own, 1);
    };
    const u64 places = (u64{96} << 10) / store.width * 4;
    add(places, places / 2, true);
    add(places, places - 8, true);       // nearly full
    add(places, places / 2, false);      // the array of somebody else
    add(places / 16, places / 32, true); // small
    add(places, places + 1, true);       // cannot be
    store.collection(store.old, store.list, store.old.object(store.references, places), places / 2);
    const Waste waste = waste_of(store.heap);
    u64 rooms = 0;
    for (const WasteRow &row : waste.rows)
      if (row.kind == WasteKind::unused_room) {
        ++rooms;
        EXPECT_EQ(row.count, 1u);
        EXPECT_EQ(row.bytes, places / 2 * (row.what == "System.IO.MemoryStream" ? store.width : p)) << row.what;
      }
    EXPECT_EQ(rooms, 2u);
  }
}

constexpr const char *list_name = "System.Collections.Generic.List";
constexpr const char *table_name = "System.Collections.Generic.HashSet";

TEST(Waste, CollectionsByFill) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Store store(shape);
    const u64 p = store.p;
    auto items = [&](u64 length) { return store.old.object(store.references, length); };
    const Address shared = items(50);
    store.collection(store.old, store.list, 0, 0);
    store.collection(store.old, store.list, items(7), 0);
    store.collection(store.old, store.list, items(0), 0);
    store.collection(store.old, store.list, items(4), 1);
    store.collection(store.old, store.list, items(30), 9);
    store.collection(store.old, store.list, items(30), 10); // a third: nothing wrong
    store.collection(store.old, store.list, shared, 2);
    store.collection(store.old, store.list, shared, 3);
    store.collection(store.old, store.list, items(4), 5);                 // cannot be
    store.collection(store.old, store.list, 0xfffffff0, 0);               // leads nowhere
    store.collection(store.old, store.own, items(100), 20);               // by its base type
    store.hash_set(store.old.object(store.numbers, 20), items(20), 9, 5); // 4 of 20
    store.hash_set(0, 0, 0, 0);
    store.old.object(store.stack);
    const Waste waste = waste_of(store.heap);
    Sums wanted;
    const u64 self = store.aligned(store.list);
    wanted[{"empty_collections", list_name}] = {3, 3 * self + store.aligned(store.references, 7)};
    wanted[{"one_element_collections", list_name}] = {1, self + store.aligned(store.references, 4) - p};
    wanted[{"over_allocated_collections", list_name}] = {1, 21 * p};
    wanted[{"over_allocated_collections", "Shop.OwnList"}] = {1, 80 * p};
    wanted[{"over_allocated_collections", table_name}] = {1, 16 * store.width + 16 * p};
    wanted[{"empty_collections", table_name}] = {1, store.aligned(store.table)};
    EXPECT_EQ(sums_of(waste), wanted);
    ASSERT_EQ(waste.notes.size(), 2u); // no strings here, so their type is not known
    EXPECT_NE(waste.notes[1].text.find("Stack"), std::string::npos) << waste.notes[1].text;
  }
}

// They wait for contents: each counts, and none is called a copy. Those that are pinned are for somebody who writes.
TEST(Waste, ArraysThatAreAllZero) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Store store(shape);
    for (u64 i = 0; i < 3; ++i)
      store.array(store.old, store.numbers, std::vector<u64>(100, 0));
    for (u64 i = 0; i < 2; ++i)
      store.array(store.old, store.numbers, std::vector<u64>(100, 1));
    const Address pinned = store.array(store.old, store.numbers, std::vector<u64>(500, 0));
    store.heap.gc.handles = {{.type = HandleType::pinned, .object = pinned}};
    Sums wanted;
    wanted[{"zero_arrays", "Shop.Point[]"}] = {3, 300 * store.width};
    wanted[{"duplicate_arrays", "Shop.Point[]"}] = {1, store.aligned(store.numbers, 100)};
    EXPECT_EQ(sums_of(waste_of(store.heap)), wanted);
  }
}

TEST(Waste, HolesBesidePins) {
  Store store({});
  store.old.object(store.order);
  store.old.free(800);
  const Address pinned = store.old.object(store.order);
  store.old.object(store.order);
  store.old.free(80);
  store.heap.gc.handles = {{.type = HandleType::pinned, .object = pinned}};
  Sums wanted;
  wanted[{"free_beside_pins", "Shop.Order"}] = {1, 800};
  EXPECT_EQ(sums_of(waste_of(store.heap)), wanted);
  Question live;
  live.life = Life::live;
  report::Answer answer = answer_of(store.heap, "waste", live);
  EXPECT_TRUE(text_rows_of(answer, "waste").empty());
}

// What is in a random heap, as it was written.
struct Thing {
  Address at = 0, type = 0;
  u64 components = 0;
  std::string content; // of what can be equal
  u64 zeros = 0, count = 0;
  Address part = 0;
  bool is_frozen = false;
};

TEST(Waste, AgainstATwinThatComparesEachWithAll) {
  for (const HeapShape &shape : type_layouts())
    for (u64 seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(name_of(shape) + ", " + std::to_string(seed));
      std::mt19937_64 random(seed);
      auto below = [&](u64 n) { return random() % n; };
      Store store(shape);
      SegmentWriter &frozen = store.heap.segment(G::frozen);
      const u64 p = store.p;
      std::vector<Thing> things;
      std::vector<Address> arrays; // that lists may have
      for (u64 i = 0; i < 250; ++i) {
        Thing thing;
        thing.is_frozen = below(8) == 0;
        SegmentWriter &to = thing.is_frozen ? frozen : store.old;
        switch (below(6)) {
        case 0:
          thing.content = std::string(below(4), static_cast<char>('a' + below(2)));
          thing.type = store.heap.string_type;
          thing.components = thing.content.size();
          thing.at = to.string(thing.content);
          break;
        case 1:
        case 2: {
          thing.type = below(2) ? store.numbers : store.references;
          thing.components = below(3) ? below(5) : 60 + below(120);
          std::vector<u64> values(thing.components);
          const u64 others = below(thing.components / 8 + 2);
          for (u64 k = 0; k < others && !values.empty(); ++k)
            values[below(values.size())] = 1;
          if (thing.type == store.references)
            std::fill(values.begin(), values.end(), 0);
          thing.zeros = static_cast<u64>(std::count(values.begin(), values.end(), 0));
          for (u64 value : values)
            thing.content += static_cast<char>('0' + value);
          thing.at = store.array(to, thing.type, values);
          arrays.push_back(thing.at);
          break;
        }
        case 3: {
          thing.type = store.list;
          const bool has = !arrays.empty() && below(4);
          thing.part = has ? arrays[below(arrays.size())] : 0;
          thing.count = below(3) ? below(3) : below(30);
          thing.at = store.collection(to, store.list, thing.part, thing.count);
          break;
        }
        case 4: {
          thing.type = store.point;
          const u64 value = below(4);
          thing.content = std::to_string(value);
          thing.at = to.object(store.point);
          to.store(thing.at + p, value, 4);
          break;
        }
        default:
          thing.type = store.box;
          thing.at = to.object(store.box);
          break;
        }
        things.push_back(thing);
      }
      std::sort(things.begin(), things.end(), [](const Thing &a, const Thing &b) { return a.at < b.at; });
      auto thing_at = [&](Address at) -> const Thing * {
        for (const Thing &thing : things)
          if (thing.at == at)
            return &thing;
        return nullptr;
      };
      auto fits = [&](const Thing &one) {
        const Thing *part = one.part ? thing_at(one.part) : nullptr;
        return one.type == store.list && one.count <= (part ? part->components : 0);
      };
      auto claims = [&](Address at) {
        return std::count_if(things.begin(), things.end(), [&](const Thing &one) {
          const Thing *part = one.part ? thing_at(one.part) : nullptr;
          return fits(one) && part && part->at == at && part->components;
        });
      };
      auto width = [&](Address type) { return type == store.references ? p : store.width; };
      Sums wanted;
      std::set<Address> counted; // whose bytes are in some row
      auto add = [&](const char *kind, const char *type, u64 bytes) {
        if (!bytes)
          return;
        auto &[count, sum] = wanted[{kind, type}];
        ++count;
        sum += bytes;
      };
      for (const Thing &one : things) {
        if (one.is_frozen)
          continue;
        const u64 aligned = store.aligned(one.type, one.components);
        if (one.type == store.list) {
          if (!fits(one))
            continue;
          const Thing *part = one.part ? thing_at(one.part) : nullptr;
          const bool is_its_own = part && part->components && !part->is_frozen && claims(part->at) == 1;
          const u64 bytes = is_its_own ? store.aligned(part->type, part->components) : 0;
          if (one.count < 2) {
            EXPECT_TRUE(counted.insert(one.at).second);
            EXPECT_TRUE(!is_its_own || counted.insert(part->at).second);
            add(one.count ? "one_element_collections" : "empty_collections", list_name,
                aligned + bytes - (one.count && is_its_own ? width(part->type) : 0));
          } else if (is_its_own && 3 * one.count < part->components) {
            EXPECT_TRUE(counted.insert(part->at).second);
            add("over_allocated_collections", list_name, (part->components - one.count) * width(part->type));
          }
          continue;
        }
        if (one.type == store.box) {
          add("boxes", "Shop.Amount", aligned - 2 * p);
          continue;
        }
        if (claims(one.at))
          continue;
        const bool is_array = one.type == store.numbers || one.type == store.references;
        const bool is_all_zero =
            is_array && one.zeros == one.components && one.components * width(one.type) >= least_sparse_array;
        bool is_copy = false;
        for (const Thing &other : things)
          is_copy |= other.type == one.type && other.content == one.content && !claims(other.at) &&
                     one.type != store.references && !is_all_zero && (other.is_frozen || other.at < one.at);
        if (is_copy) {
          EXPECT_TRUE(counted.insert(one.at).second);
          if (one.type == store.heap.string_type)
            add("duplicate_strings", "System.String", aligned);
          else
            add(one.type == store.point ? "duplicate_objects" : "duplicate_arrays",
                one.type == store.point ? "Shop.Point" : "Shop.Point[]", aligned);
        } else if (is_array && one.components * width(one.type) >= 256 &&
                   10 * (one.components - one.zeros) <= one.components) {
          EXPECT_TRUE(counted.insert(one.at).second);
          add(is_all_zero ? "zero_arrays" : "mostly_zero_arrays",
              one.type == store.numbers ? "Shop.Point[]" : "Shop.Order[]", one.zeros * width(one.type));
        }
      }
      const Waste one = waste_of(store.heap, 1), three = waste_of(store.heap, 3);
      EXPECT_EQ(sums_of(one), wanted);
      EXPECT_EQ(sums_of(three), wanted);
      u64 sum = 0;
      for (const WasteRow &row : one.rows)
        sum += row.bytes;
      EXPECT_EQ(sum, one.bytes);
      ASSERT_EQ(one.rows.size(), three.rows.size());
      for (u64 i = 0; i < one.rows.size(); ++i)
        EXPECT_EQ(one.rows[i].field, three.rows[i].field);
    }
}

// A report's, by way of the graph: the same as by way of the heap.
TEST(Waste, OfWhatIsAliveByWayOfTheGraph) {
  for (const HeapShape &shape : type_layouts())
    for (u64 orders : {2u, 49u, 3000u}) {
      SCOPED_TRACE(name_of(shape));
      Store store(shape);
      const u64 p = store.p;
      const Address all = store.old.object(store.references, orders);
      for (u64 i = 0; i < orders; ++i) {
        const Address order = store.old.object(store.order);
        store.old.store(all + (2 + i) * p, order, p);
        store.old.store(order + p, store.old.string("the same"), p);
        if (i % 2 || i == 0)
          store.old.store(order + 2 * p, store.old.string(i % 4 == 1 ? "the same" : "another"), p);
      }
      for (u64 i = 0; i < 100; ++i)
        store.old.string("the same"); // dead
      store.heap.gc.handles = {{.type = HandleType::strong, .object = all}};
      for (unsigned threads : {1u, 3u}) {
        SnapshotOptions options;
        options.threads = threads;
        Snapshot snapshot(store.heap.target(), options);
        ObjectFilter filter;
        filter.among = &snapshot.live().objects;
        const Waste exact = find_waste(snapshot, filter), found = find_live_waste(snapshot, *filter.among);
        EXPECT_EQ(found.bytes, exact.bytes);
        EXPECT_EQ(found.notes, exact.notes);
        ASSERT_EQ(found.rows.size(), exact.rows.size());
        for (u64 i = 0; i < found.rows.size(); ++i) {
          const WasteRow &row = found.rows[i], &same = exact.rows[i];
          EXPECT_EQ(std::tie(row.kind, row.what, row.field, row.count, row.bytes),
                    std::tie(same.kind, same.what, same.field, same.count, same.bytes));
        }
      }
    }
}

TEST(Waste, ZeroElementsAreThoseWithoutAnyBit) {
  std::mt19937_64 random(3);
  for (u64 size : {1u, 2u, 3u, 4u, 8u, 24u})
    for (u64 count : {0u, 1u, 7u, 5000u, 9000u}) {
      std::vector<std::byte> bytes(size * count + size - 1);
      u64 others = 0;
      for (u64 i = 0; i < count; ++i)
        if (random() % 50 == 0) {
          bytes[i * size + random() % size] = std::byte{0x80};
          ++others;
        }
      EXPECT_EQ(zero_elements(bytes, size, others), count - others);
      if (others > 0) {
        EXPECT_EQ(zero_elements(bytes, size, others - 1), std::nullopt);
      }
    }
  EXPECT_EQ(zero_elements({}, 0, 0), std::nullopt);
}

} // namespace
} // namespace dnheap::test
