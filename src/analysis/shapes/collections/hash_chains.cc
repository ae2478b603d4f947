#include "analysis/shapes/collections/hash_chains.h"

#include <algorithm>
#include <vector>

namespace dnheap {

namespace {

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

std::optional<HashChains> hash_chains(const Runtime &runtime, FieldReader &fields, Address table, u64 least) {
  const u32 used = fields.number<u32>(table, "_count").value_or(0);
  const Address array = fields.reference_or_null(table, "_entries"),
                buckets = fields.reference_or_null(table, "_buckets");
  const u32 length = fields.length(array).value_or(0);
  if (used < least || used > length || fields.length(buckets) != length)
    return std::nullopt;
  const std::optional<EntryShape> shape = entry_shape(runtime, fields, array);
  if (!shape)
    return std::nullopt;
  HashChains out{.key_type = shape->key_type};
  std::vector<u64> places; // bucket and hash code
  for (u64 i = 0; i < used; ++i) {
    const Address at = array + shape->start + i * shape->size;
    const std::optional<u32> code = fields.memory().try_load<u32>(at + shape->hash_code);
    const std::optional<u32> next = fields.memory().try_load<u32>(at + shape->next);
    const i32 follower = static_cast<i32>(next.value_or(0)); // -1: none; less: the entry's place is free
    if (!code || !next || follower >= static_cast<i64>(length))
      return std::nullopt;
    if (follower < -1)
      continue;
    places.push_back(u64{*code % length} << 32 | *code);
    if (!out.key && shape->key)
      out.key = fields.memory().try_pointer(at + *shape->key).value_or(0);
  }
  std::ranges::sort(places);
  add_chains(places, out);
  return out.entries < least ? std::nullopt : std::optional(out);
}

} // namespace dnheap
