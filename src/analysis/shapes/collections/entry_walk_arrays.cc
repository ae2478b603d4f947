// The kinds of collections whose entries lie in arrays.
#include "analysis/shapes/collections/entry_walk.h"

#include <algorithm>

namespace dnheap {

// Adds `count` elements from `first` on, and goes on at the array's begin where it ends. Null: no such part.
bool EntryWalk::add_from(const Array &array, u64 first, u64 count, const char *key, const char *value) {
  if (!array.elements || count == 0)
    return true;
  const InstanceField &type = *array.elements->type;
  const EntryPlace of_key = key ? places_.in_value(type, key) : EntryPlace(),
                   of_value = value ? places_.in_value(type, value) : EntryPlace();
  if ((key && !of_key.type) || (value && !of_value.type))
    return false;
  const i64 step = static_cast<i64>(array.elements->shape.size);
  auto add_some = [&](u64 from, u64 some) {
    const Address at = array.element(from);
    add_run({{of_key.type, key ? at + of_key.offset : 0}, {of_value.type, value ? at + of_value.offset : 0}}, some,
            key ? step : 0, value ? step : 0);
  };
  const u64 before_end = std::min(count, array.length - first);
  add_some(first, before_end);
  add_some(0, count - before_end);
  return true;
}

// Returns the number in a field; without a field all of the array counts.
std::optional<u32> EntryWalk::count_in(Address object, const char *field, const Array &array) {
  return field ? fields_.number<u32>(object, field) : std::optional(static_cast<u32>(array.length));
}

// Opens the array, and reads the number of entries, which may be larger. Returns nullopt if a field is missing.
std::optional<u32> EntryWalk::open_counted(Address object, const Paths &paths, Array &array) {
  const std::optional<Address> at = reference(object, paths[0]);
  const std::optional<u32> count = fields_.number<u32>(object, paths[1]);
  return at && count && open(*at, array) ? count : std::nullopt;
}

bool EntryWalk::read_list(Address object, const Paths &paths) {
  Array array;
  const std::optional<Address> at = reference(object, paths[0]);
  if (!at || !open(*at, array))
    return false;
  const std::optional<u32> count = count_in(object, paths[1], array),
                           first = paths[2] ? fields_.number<u32>(object, paths[2]) : 0;
  if (!count || !first)
    return false;
  if (*count > array.length || (*count && *first >= array.length))
    return damaged();
  return add_from(array, *first, *count, paths[3], paths[4] ? paths[4] : "");
}

bool EntryWalk::read_stack(Address object, const Paths &paths) {
  Array array;
  const std::optional<u32> count = open_counted(object, paths, array);
  if (!count)
    return false;
  if (*count > array.length)
    return damaged();
  if (*count)
    add_run({{}, {array.elements->type, array.element(*count - 1)}}, *count, 0,
            -static_cast<i64>(array.elements->shape.size));
  return true;
}

bool EntryWalk::read_pairs(Address object, const Paths &paths) {
  Array keys, values;
  const std::optional<Address> of_keys = reference(object, paths[0]), of_values = reference(object, paths[1]);
  if (!of_keys || !of_values || !open(*of_keys, keys) || !open(*of_values, values))
    return false;
  const std::optional<u32> count = count_in(object, paths[2], keys);
  if (!count)
    return false;
  if (*count > keys.length || *count > values.length)
    return damaged();
  if (*count)
    add_run({{keys.elements->type, keys.first}, {values.elements->type, values.first}}, *count,
            static_cast<i64>(keys.elements->shape.size), static_cast<i64>(values.elements->shape.size));
  return true;
}

bool EntryWalk::read_slots(Address object, const Paths &paths) {
  Array array;
  const std::optional<u32> count = open_counted(object, paths, array);
  if (!count)
    return false;
  if (*count > array.length)
    return damaged();
  if (!paths[4] || !*count)
    return add_from(array, 0, *count, paths[2], paths[3]);
  const InstanceField &type = *array.elements->type;
  const EntryPlace next = places_.in_value(type, paths[4]),
                   key = paths[2] ? places_.in_value(type, paths[2]) : EntryPlace(),
                   value = places_.in_value(type, paths[3]);
  if (!next.type || !value.type || (paths[2] && !key.type))
    return false;
  for (u64 i = 0; i < *count; ++i) {
    const Address slot = array.element(i);
    const std::optional<u32> link = memory_.try_load<u32>(slot + next.offset);
    if (!link)
      return damaged();
    if (static_cast<i32>(*link) >= -1 &&
        !add({key.type, paths[2] ? slot + key.offset : 0}, {value.type, slot + value.offset}))
      break;
  }
  return true;
}

bool EntryWalk::read_buckets(Address object, const Paths &paths) {
  Array array;
  const std::optional<Address> at = reference(object, paths[0]);
  if (!at || !open(*at, array))
    return false;
  if (!array.elements)
    return true;
  const EntryPlace key = places_.in_value(*array.elements->type, paths[1]),
                   value = places_.in_value(*array.elements->type, paths[2]);
  if (!key.type || !value.type)
    return false;
  for (u64 i = array.length; i-- > 0;) { // the last bucket comes first
    const Address slot = array.element(i), held = memory_.try_pointer(slot + key.offset).value_or(0);
    if (held && held != array.at && // which marks a removed key
        !add({key.type, slot + key.offset}, {value.type, slot + value.offset}))
      break;
  }
  return true;
}

bool EntryWalk::read_segments(Address object, const Paths &paths, const std::function<bool(const Segment &)> &visit) {
  const std::optional<Address> head = reference(object, paths[0]);
  if (!head)
    return false;
  for (Address at = *head; at && is_sound() && !out_.is_cut;) {
    if (!may_go_on())
      return true;
    Segment segment;
    const std::optional<Address> array = reference(at, paths[2]), next = reference(at, paths[1]);
    const std::optional<u32> first = fields_.number<u32>(at, paths[3]), end = fields_.number<u32>(at, paths[4]);
    if (!array || !next || !first || !end || !open(*array, segment.array))
      return false;
    segment.first = *first;
    segment.end = *end;
    const u64 places = segment.array.length;
    if (places == 0 || (places & (places - 1)) != 0)
      return damaged();
    if (!visit(segment))
      return false;
    at = *next;
  }
  return true;
}

// Both counters go on past the end of the array; where a segment takes no more, the end is moved on by twice its
// length.
bool EntryWalk::read_queue(Address object, const Paths &paths) {
  return read_segments(object, paths, [&](const Segment &one) {
    const u32 places = static_cast<u32>(one.array.length);
    const EntryPlace item = places_.in_value(*one.array.elements->type, "Item"),
                     sequence = places_.in_value(*one.array.elements->type, paths[5]);
    if (!item.type || !sequence.type)
      return false;
    u32 end = one.end;
    if (end - one.first > places)
      end -= 2 * places;
    if (end - one.first > places)
      return damaged();
    for (u32 i = one.first; i != end; ++i) {
      const Address slot = one.array.element(i & (places - 1));
      const std::optional<u32> number = memory_.try_load<u32>(slot + sequence.offset);
      if (number == i + 1 && !add({}, {item.type, slot + item.offset})) // else a thread is just writing it
        break;
    }
    return true;
  });
}

bool EntryWalk::read_ring(Address object, const Paths &paths) {
  return read_segments(object, paths, [&](const Segment &one) {
    const u32 places = static_cast<u32>(one.array.length), count = (one.end - one.first) & (places - 1);
    return add_from(one.array, one.first & (places - 1), count, nullptr, "");
  });
}

bool EntryWalk::read_bag(Address object, const Paths &paths) {
  return read_segments(object, paths, [&](const Segment &one) {
    const u32 places = static_cast<u32>(one.array.length), count = one.end - one.first;
    if (count > places)
      return damaged();
    for (u32 i = 0; i < count; ++i) // the last one comes first
      if (!add({}, {one.array.elements->type, one.array.element((one.end - 1 - i) & (places - 1))}))
        break;
    return true;
  });
}

} // namespace dnheap
