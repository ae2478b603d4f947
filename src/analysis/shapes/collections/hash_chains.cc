#include "analysis/shapes/collections/hash_chains.h"

#include <algorithm>
#include <vector>

namespace dnheap {

namespace {

constexpr u64 most_sampled = 1 << 16; // entries of a table

// Where an entry keeps what matters here, from its beginning.
struct EntryShape {
  u64 start = 0, size = 0; // `start`: from the array's first byte
  u64 hash_code = 0, next = 0;
  std::optional<u64> key;
  std::string key_type;
};

// Dictionary calls the fields as HashSet does, but for the beginning of their names.
const InstanceField *number_field(FieldReader &fields, Address type, const char *one, const char *other) {
  const InstanceField *field = fields.find(type, one);
  field = field ? field : fields.find(type, other);
  return field && !field->is_reference() && field->size == u64{4} ? field : nullptr;
}

std::optional<EntryShape> entry_shape(const Runtime &runtime, FieldReader &fields, Address array) {
  const Address type = fields.type_of(array);
  const std::optional<ElementShape> shape = type ? runtime.fields().elements(type) : std::nullopt;
  if (!shape || shape->rank != 0 || !shape->method_table)
    return std::nullopt;
  const InstanceField *code = number_field(fields, shape->method_table, "hashCode", "HashCode"),
                      *next = number_field(fields, shape->method_table, "next", "Next");
  if (!code || !next)
    return std::nullopt;
  const u64 header = fields.pointer_size(); // offsets of a struct's fields are as if it was boxed
  EntryShape out{shape->start, shape->size, code->offset - header, next->offset - header, {}, ""};
  for (const char *name : {"key", "Value"})
    if (const InstanceField *key = fields.find(shape->method_table, name); key && out.key_type.empty()) {
      out.key_type = key->type_name;
      if (key->is_reference())
        out.key = key->offset - header;
    }
  return out;
}

// A table whose numbers do not contradict each other.
struct HashTable {
  Address array = 0;
  u32 used = 0, buckets = 0; // entries up to the last one that was ever used
  EntryShape shape;
};

std::optional<HashTable> open_table(const Runtime &runtime, FieldReader &fields, Address table) {
  HashTable out;
  out.used = fields.number<u32>(table, "_count").value_or(0);
  out.array = fields.reference_or_null(table, "_entries");
  out.buckets = fields.length(out.array).value_or(0);
  if (out.used > out.buckets || fields.length(fields.reference_or_null(table, "_buckets")) != out.buckets)
    return std::nullopt;
  std::optional<EntryShape> shape = entry_shape(runtime, fields, out.array);
  if (!shape)
    return std::nullopt;
  out.shape = std::move(*shape);
  return out;
}

struct Entry {
  Address at = 0;
  u32 code = 0;
  bool is_free = false;
};

// Returns nullopt if it is not in the dump, or leads out of the table.
std::optional<Entry> entry_of(const Memory &memory, const HashTable &table, u64 i) {
  const Address at = table.array + table.shape.start + i * table.shape.size;
  const std::optional<u32> code = memory.try_load<u32>(at + table.shape.hash_code),
                           next = memory.try_load<u32>(at + table.shape.next);
  const i32 follower = static_cast<i32>(next.value_or(0)); // -1: none; less: the entry's place is free
  if (!code || !next || follower >= static_cast<i64>(table.buckets))
    return std::nullopt;
  return Entry{at, *code, follower < -1};
}

// Bucket, and hash code.
u64 place_of(const HashTable &table, const Entry &entry) { return u64{entry.code % table.buckets} << 32 | entry.code; }

// Returns a number below `end` that has nothing to do with `i`, the same in each run.
u64 scattered(u64 i, u64 end) {
  u64 mixed = (i + 1) * 0x9e3779b97f4a7c15;
  mixed ^= mixed >> 29;
  mixed *= 0xbf58476d1ce4e5b9;
  return (mixed >> 32) % end;
}

// `places`: bucket and hash code of each entry, sorted.
void add_chains(const std::vector<u64> &places, HashChains &to) {
  to.entries = places.size();
  u64 chain = 0;
  for (u64 i = 0; i < places.size(); ++i) {
    chain = i && places[i] >> 32 == places[i - 1] >> 32 ? chain + 1 : 1;
    to.codes += i == 0 || places[i] != places[i - 1];
    to.steps += chain;
    to.longest = std::max(to.longest, chain);
  }
}

} // namespace

bool may_have_long_chains(const Runtime &runtime, FieldReader &fields, Address table, double usual) {
  const std::optional<HashTable> opened = open_table(runtime, fields, table);
  if (!opened || opened->used == 0)
    return false;
  // One entry of each stretch, so that nothing regular in the keys meets the sample's own rule.
  const u64 count = std::min<u64>(opened->used, most_sampled);
  std::vector<u32> buckets;
  buckets.reserve(count);
  for (u64 i = 0; i < count; ++i) {
    const u64 begin = i * opened->used / count, end = (i + 1) * opened->used / count;
    const std::optional<Entry> entry = entry_of(fields.memory(), *opened, begin + scattered(i, end - begin));
    if (!entry)
      return false;
    if (!entry->is_free)
      buckets.push_back(entry->code % opened->buckets);
  }
  std::ranges::sort(buckets);
  u64 pairs = 0, before = 0; // entries of the sample that share a bucket; those before this one in its bucket
  for (u64 i = 0; i < buckets.size(); ++i) {
    before = i && buckets[i] == buckets[i - 1] ? before + 1 : 0;
    pairs += before;
  }
  // Of all entries' pairs the sample has the square of its share; a quarter leaves room for chance.
  const double share = static_cast<double>(count) / opened->used;
  return static_cast<double>(pairs) >= static_cast<double>(buckets.size()) * share * (usual - 1) / 4;
}

std::optional<HashChains> hash_chains(const Runtime &runtime, FieldReader &fields, Address table, u64 least) {
  const std::optional<HashTable> opened = open_table(runtime, fields, table);
  if (!opened || opened->used < least)
    return std::nullopt;
  HashChains out{.key_type = opened->shape.key_type};
  std::vector<u64> places; // grows as entries are read: the number of them is only claimed
  for (u64 i = 0; i < opened->used; ++i) {
    const std::optional<Entry> entry = entry_of(fields.memory(), *opened, i);
    if (!entry)
      return std::nullopt;
    if (entry->is_free)
      continue;
    places.push_back(place_of(*opened, *entry));
    if (!out.key && opened->shape.key)
      out.key = fields.memory().try_pointer(entry->at + *opened->shape.key).value_or(0);
  }
  std::ranges::sort(places);
  add_chains(places, out);
  return out.entries < least ? std::nullopt : std::optional(out);
}

} // namespace dnheap
