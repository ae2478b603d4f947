#include "analysis/shapes/collections/collection_shapes.h"

#include "analysis/names/type_called.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 most_collection_types = 60000;
constexpr u64 most_locks = 1 << 16; // of one ConcurrentDictionary

// Returns the field's offset, or 0 if there is none of that kind inside the object.
u32 offset_in(FieldReader &fields, Address method_table, u64 base_size, const char *name, bool is_reference) {
  const InstanceField *field = fields.find(method_table, name);
  const u64 p = fields.pointer_size(), width = is_reference ? p : 4;
  if (!field || field->is_reference() != is_reference || field->offset + width + p > base_size)
    return 0;
  return field->size && *field->size < 4 ? 0 : static_cast<u32>(field->offset);
}

// Returns the offset of a number inside a struct of the object, or 0.
u32 offset_within(FieldReader &fields, Address method_table, u64 base_size, const char *path) {
  const std::optional<u64> out = fields.offset(method_table, path);
  return out && *out + 4 + fields.pointer_size() <= base_size ? static_cast<u32>(*out) : 0;
}

} // namespace

// A collection by the names of its type and of the fields that it must have; null: no such field.
struct CollectionShapes::Row {
  const char *type = ""; // generic or not
  Kind kind = Kind::array;
  const char *count = nullptr, *freed = nullptr; // numbers
  const char *first = nullptr, *second = nullptr, *third = nullptr;
  const char *nested = ""; // the name of the nested type, if that one is the collection
  bool is_inside = false;
};

namespace {

using CollectionKind = CollectionShapes::Kind;

constexpr CollectionShapes::Row collection_rows[] = {
    {"System.Collections.Generic.List", CollectionKind::array, "_size", nullptr, "_items"},
    {"System.Collections.Generic.Stack", CollectionKind::array, "_size", nullptr, "_array"},
    {"System.Collections.Generic.Queue", CollectionKind::array, "_size", nullptr, "_array"},
    {"System.Collections.Generic.PriorityQueue", CollectionKind::array, "_size", nullptr, "_nodes"},
    {"System.Collections.Generic.SortedList", CollectionKind::array, "_size", nullptr, "keys", "values"},
    {"System.Collections.SortedList", CollectionKind::array, "_size", nullptr, "keys", "values"},
    {"System.Collections.ArrayList", CollectionKind::array, "_size", nullptr, "_items"},
    {"System.Collections.Stack", CollectionKind::array, "_size", nullptr, "_array"},
    {"System.Collections.Queue", CollectionKind::array, "_size", nullptr, "_array"},
    {"System.Collections.Hashtable", CollectionKind::array, "_count", nullptr, "_buckets"},
    {"System.Collections.Generic.Dictionary", CollectionKind::hash_table, "_count", "_freeCount", "_entries",
     "_buckets"},
    {"System.Collections.Generic.HashSet", CollectionKind::hash_table, "_count", "_freeCount", "_entries", "_buckets"},
    {"System.Collections.Generic.OrderedDictionary", CollectionKind::hash_table, "_count", nullptr, "_entries",
     "_buckets"},
    {"System.Collections.Concurrent.ConcurrentDictionary", CollectionKind::concurrent, nullptr, nullptr, "_tables"},
    {"System.Collections.Concurrent.ConcurrentDictionary", CollectionKind::tables, nullptr, nullptr, "_buckets",
     "_countPerLock", "_locks", "+Tables"},
    {"System.Text.StringBuilder", CollectionKind::builder, "m_ChunkLength", "m_ChunkOffset", "m_ChunkChars", nullptr,
     "m_ChunkPrevious"},
    {"System.Collections.Generic.LinkedList", CollectionKind::counted, "count", nullptr, "head"},
    {"System.Collections.Generic.LinkedListNode", CollectionKind::refers_back},
    {"System.Collections.Generic.Dictionary", CollectionKind::refers_back, nullptr, nullptr, nullptr, nullptr, nullptr,
     "+KeyCollection"},
    {"System.Collections.Generic.Dictionary", CollectionKind::refers_back, nullptr, nullptr, nullptr, nullptr, nullptr,
     "+ValueCollection"},
    {"System.Collections.Generic.SortedDictionary", CollectionKind::refers_back, nullptr, nullptr, nullptr, nullptr,
     nullptr, "+KeyCollection"},
    {"System.Collections.Generic.SortedDictionary", CollectionKind::refers_back, nullptr, nullptr, nullptr, nullptr,
     nullptr, "+ValueCollection"},
    {"System.Collections.Generic.SortedList", CollectionKind::refers_back, nullptr, nullptr, nullptr, nullptr, nullptr,
     "+KeyList"},
    {"System.Collections.Generic.SortedList", CollectionKind::refers_back, nullptr, nullptr, nullptr, nullptr, nullptr,
     "+ValueList"},
    {"System.Collections.Generic.SortedSet", CollectionKind::counted, "count", nullptr, "root"},
    {"System.Collections.Generic.SortedDictionary", CollectionKind::wrapper, nullptr, nullptr, "_set"},
    {"System.Collections.Immutable.ImmutableDictionary", CollectionKind::counted, "_count", nullptr, "_root"},
    {"System.Collections.Immutable.ImmutableHashSet", CollectionKind::counted, "_count", nullptr, "_root"},
    {"System.Collections.Immutable.ImmutableSortedDictionary", CollectionKind::counted, "_count", nullptr, "_root"},
    {"System.Collections.Immutable.ImmutableList", CollectionKind::rooted, nullptr, nullptr, "_root"},
    {"System.Collections.Immutable.ImmutableList", CollectionKind::node, "_count", nullptr, nullptr, nullptr, nullptr,
     "+Node"},
    {"System.Collections.Immutable.ImmutableSortedSet", CollectionKind::rooted, nullptr, nullptr, "_root"},
    {"System.Collections.Immutable.ImmutableSortedSet", CollectionKind::node, "_count", nullptr, nullptr, nullptr,
     nullptr, "+Node"},
    {"System.Collections.Concurrent.ConcurrentStack", CollectionKind::links, nullptr, nullptr, "_head"},
    {"System.Collections.Concurrent.ConcurrentStack", CollectionKind::link, nullptr, nullptr, "_next", nullptr, nullptr,
     "+Node"},
    {"System.Collections.Concurrent.ConcurrentQueue", CollectionKind::segments, nullptr, nullptr, "_head"},
    {"System.Collections.Concurrent.ConcurrentQueueSegment", CollectionKind::segment, "_headAndTail.Head",
     "_headAndTail.Tail", "_nextSegment", "_slots"},
    {"System.Collections.Concurrent.ConcurrentBag", CollectionKind::segments, nullptr, nullptr, "_workStealingQueues"},
    {"System.Collections.Concurrent.ConcurrentBag", CollectionKind::segment, "_headIndex", "_tailIndex", "_nextQueue",
     "_array", nullptr, "+WorkStealingQueue"},
    {"System.Collections.Concurrent.SingleProducerSingleConsumerQueue", CollectionKind::segments, nullptr, nullptr,
     "_head"},
    {"System.Collections.Concurrent.SingleProducerSingleConsumerQueue", CollectionKind::segment, "_state._first",
     "_state._last", "_next", "_array", nullptr, "+Segment"},
    {"System.Collections.Concurrent.BlockingCollection", CollectionKind::wrapper, nullptr, nullptr, "_collection"},
    {"System.Collections.Generic.Deque", CollectionKind::counted, "_size", nullptr, "_array"},
    {"System.Threading.Channels.UnboundedChannel", CollectionKind::wrapper, nullptr, nullptr, "_items"},
    {"System.Threading.Channels.BoundedChannel", CollectionKind::wrapper, nullptr, nullptr, "_items"},
    {"System.Threading.Channels.SingleConsumerUnboundedChannel", CollectionKind::wrapper, nullptr, nullptr, "_items"},
    {"System.Threading.Channels.UnboundedPrioritizedChannel", CollectionKind::wrapper, nullptr, nullptr, "_items"},
    {"System.Threading.Channels.ChannelReader", CollectionKind::refers_back},
    {"System.Threading.Channels.ChannelWriter", CollectionKind::refers_back},
    {"System.Runtime.CompilerServices.ConditionalWeakTable", CollectionKind::wrapper, nullptr, nullptr, "_container"},
    // Counts the places used so far: only handles show which of them are dead.
    {"System.Runtime.CompilerServices.ConditionalWeakTable", CollectionKind::counted, "_firstFreeEntry", nullptr,
     "_entries", "_buckets", nullptr, "+Container", true},
};

// A class nested in a collection and derived from it (Hashtable+SyncHashtable, SortedSet+TreeSubSet) only wraps another
// collection, which has the elements.
const CollectionShapes::Row *row_of(const BaseTypes &bases, Address method_table) {
  const CollectionShapes::Row *out = nullptr;
  std::string own;
  bases.any_of(method_table, [&](const std::string &name) {
    if (own.empty())
      own = name;
    if (own.size() > name.size() && own.starts_with(name) && own[name.size()] == '+')
      return true;
    const auto found =
        std::find_if(std::begin(collection_rows), std::end(collection_rows),
                     [&](const CollectionShapes::Row &one) { return is_type_called(name, one.type, one.nested); });
    out = found == std::end(collection_rows) ? nullptr : found;
    return out != nullptr;
  });
  return out;
}

} // namespace

bool CollectionShapes::is_called_so(const Runtime &runtime, Address method_table) {
  const Row *row = row_of(BaseTypes(runtime), method_table);
  if (!row)
    return false;
  switch (row->kind) {
  case Kind::tables:
  case Kind::node:
  case Kind::segment:
  case Kind::link:
  case Kind::refers_back: return false; // a part of a collection
  default: return true;
  }
}

std::optional<CollectionShapes::Shape> CollectionShapes::shape_of(const Runtime &runtime, Address mt,
                                                                  const Row &row) const {
  FieldReader fields(runtime);
  const std::optional<ObjectLayout> layout = runtime.types().object_layout(mt);
  if (!layout || layout->component_size)
    return std::nullopt;
  bool has_all = true;
  auto offset = [&](const char *field, bool is_reference) -> u32 {
    if (!field)
      return 0;
    const u32 out = std::string_view(field).find('.') == std::string_view::npos
                        ? offset_in(fields, mt, layout->base_size, field, is_reference)
                        : offset_within(fields, mt, layout->base_size, field);
    has_all &= out != 0;
    return out;
  };
  Shape out{row.kind,
            offset(row.count, false),
            offset(row.freed, false),
            offset(row.first, true),
            offset(row.second, true),
            offset(row.third, true),
            row.is_inside};
  return has_all ? std::optional(out) : std::nullopt;
}

CollectionShapes::CollectionShapes(const Runtime &runtime, const HeapTypes &types, u64 objects)
    : numbers_(types.size()), components_(types.size()), objects_(objects), steps_(static_cast<i64>(2 * objects)) {
  const BaseTypes bases(runtime);
  for (u32 i = 0; i < types.size(); ++i)
    components_[i] =
        runtime.types().object_layout(types[TypeId{i}].method_table).value_or(ObjectLayout()).component_size;
  for (u32 i = 0; i < types.size() && shapes_.size() < most_collection_types; ++i) {
    const Address mt = types[TypeId{i}].method_table;
    if (types[TypeId{i}].references.empty())
      continue;
    const Row *row = row_of(bases, mt);
    if (!row)
      continue;
    if (const std::optional<Shape> shape = shape_of(runtime, mt, *row)) {
      shapes_.push_back(*shape);
      numbers_[i] = static_cast<u16>(shapes_.size());
    } else {
      unknown_.push_back(runtime.types().name(mt));
    }
  }
}

// The reading of one collection: its shape, and the objects that its references lead to.
class CollectionShapes::Reading {
public:
  Reading(const CollectionShapes &shapes, ReferenceReader &reader, Format format, CollectionFill &out)
      : shapes_(shapes), reader_(reader), format_(format), out_(out) {}

  // Returns false if its contents are impossible.
  bool read(const OpenedObject &object) {
    const Shape &shape = shape_of(object);
    switch (shape.kind) {
    case Kind::array:
    case Kind::hash_table:
    case Kind::builder: return read_arrays(object, shape);
    case Kind::concurrent: return read_concurrent(reference(object, shape.first));
    case Kind::counted: return read_counted(object, shape);
    case Kind::rooted: return read_rooted(reference(object, shape.first));
    case Kind::wrapper: return read_wrapper(reference(object, shape.first));
    case Kind::segments: return read_segments(reference(object, shape.first));
    case Kind::links: return read_links(reference(object, shape.first));
    case Kind::tables:
    case Kind::node:
    case Kind::segment:
    case Kind::link:
    case Kind::refers_back: return false;
    }
    return false;
  }

private:
  const Shape &shape_of(const OpenedObject &object) const { return *shapes_.find_shape(object.id); }
  u64 number(const OpenedObject &object, u32 offset) const {
    return offset ? load<u32>(object.bytes + offset, format_.byte_order) : 0;
  }
  Address reference(const OpenedObject &object, u32 offset) const {
    return offset ? load_pointer(object.bytes + offset, format_) : 0;
  }
  u64 bytes_of(const OpenedObject &object) const { return align_up(object.size, u64{format_.pointer_size}); }
  // Returns null if the object at that address is not of that kind.
  const Shape *open(Address at, Kind kind, OpenedObject &out) const {
    const bool is_known = at && reader_.open(at, out) && shapes_.is_collection(out.id);
    return is_known && shape_of(out).kind == kind ? &shape_of(out) : nullptr;
  }
  // Returns the number of the array's components; 0 for null, nullopt if it is not an array.
  std::optional<u64> length(Address array) const {
    OpenedObject opened;
    if (!array)
      return 0;
    if (!reader_.open(array, opened) || shapes_.component_size(opened.id) == 0)
      return std::nullopt;
    return load<u32>(opened.bytes + format_.pointer_size, format_.byte_order);
  }

  bool read_arrays(const OpenedObject &object, const Shape &shape) {
    out_.parts = {reference(object, shape.first), reference(object, shape.second), 0, 0};
    out_.slots = {out_.parts[0], out_.parts[1]};
    const std::optional<u64> first = length(out_.parts[0]), second = length(out_.parts[1]);
    if (!first || !second)
      return false;
    out_.count = number(object, shape.count);
    out_.capacity = *first;
    if (*first == 0) // all empty collections share one empty array
      out_.parts[0] = out_.slots[0] = 0;
    if (*second == 0)
      out_.parts[1] = out_.slots[1] = 0;
    const u64 freed = number(object, shape.freed);
    if (out_.count > *first || (shape.kind == Kind::hash_table && freed > out_.count))
      return false;
    if (shape.kind == Kind::hash_table)
      out_.count -= freed;
    if (shape.kind == Kind::builder) {
      out_.is_builder = true;
      out_.elsewhere = freed;
      out_.count += freed;
      *out_.capacity += freed;
      out_.inner = reference(object, shape.third);
    }
    return true;
  }

  bool read_concurrent(Address at) {
    OpenedObject tables, buckets, counts, locks;
    const Shape *shape = open(at, Kind::tables, tables);
    if (!shape)
      return false;
    out_.parts = {at, reference(tables, shape->first), reference(tables, shape->second),
                  reference(tables, shape->third)};
    out_.slots = {out_.parts[1], 0};
    if (!reader_.open(out_.parts[1], buckets) || !reader_.open(out_.parts[2], counts) ||
        !reader_.open(out_.parts[3], locks) || shapes_.component_size(buckets.id) == 0 ||
        shapes_.component_size(counts.id) != 4 || shapes_.component_size(locks.id) == 0)
      return false;
    const u64 p = format_.pointer_size, start = 2 * p;
    out_.capacity = load<u32>(buckets.bytes + p, format_.byte_order);
    const u64 number = load<u32>(counts.bytes + p, format_.byte_order);
    if (number > most_locks || start + 4 * number > counts.size)
      return false;
    for (u64 i = 0; i < number; ++i)
      out_.count += load<u32>(counts.bytes + start + 4 * i, format_.byte_order);
    if (out_.count >= u64{1} << 32 || (out_.count && !add_nodes(referred_by(buckets, 0).first)))
      return false;
    // Each lock is an object. The first one may be the array itself, or an earlier array.
    const Referred locked = referred_by(locks, 0), others = referred_by(locks, 1);
    if (OpenedObject lock; locked.first && locked.first != out_.parts[3] && reader_.open(locked.first, lock))
      out_.more_bytes += bytes_of(lock);
    if (OpenedObject lock; others.first && reader_.open(others.first, lock))
      out_.more_bytes += others.count * bytes_of(lock);
    return true;
  }

  struct Referred {
    u64 count = 0;
    Address first = 0;
  };
  // Returns the objects that the array's elements from `from` on refer to: their number, and the first one.
  Referred referred_by(const OpenedObject &array, u64 from) const {
    const u64 p = format_.pointer_size, places = load<u32>(array.bytes + p, format_.byte_order);
    Referred out;
    if (shapes_.component_size(array.id) != p || array.size < 3 * p || places > (array.size - 3 * p) / p)
      return out;
    for (u64 i = from; i < places; ++i)
      if (const Address at = load_pointer(array.bytes + (2 + i) * p, format_)) {
        if (!out.first)
          out.first = at;
        ++out.count;
      }
    return out;
  }

  bool read_counted(const OpenedObject &object, const Shape &shape) {
    out_.count = number(object, shape.count);
    const Address first = reference(object, shape.first);
    const std::optional<u64> places = length(first);
    if (!places)
      return add_nodes(first);
    const Address second = reference(object, shape.second);
    const std::optional<u64> others = length(second);
    if (!others || out_.count > *places)
      return false;
    out_.parts = {*places ? first : 0, *others ? second : 0, 0, 0};
    return true;
  }

  bool read_rooted(Address root) {
    OpenedObject node;
    const Shape *shape = open(root, Kind::node, node);
    if (!shape)
      return false;
    out_.count = number(node, shape->count);
    return add_nodes(root);
  }

  // Adds as many nodes as there are elements, all of this one's size.
  bool add_nodes(Address node) {
    OpenedObject opened;
    if (out_.count > shapes_.objects_ || !reader_.open(node, opened))
      return false;
    out_.more_bytes = out_.count * bytes_of(opened);
    return true;
  }

  bool read_wrapper(Address inner) {
    OpenedObject opened;
    if (!inner || !reader_.open(inner, opened) || !shapes_.is_collection(opened.id) ||
        shape_of(opened).kind == Kind::wrapper || !read(opened))
      return false;
    // The wrapper's bytes count as further parts; waste is measured on the inner collection.
    out_.more_bytes += bytes_of(opened);
    for (Address part : out_.parts)
      if (part && reader_.open(part, opened))
        out_.more_bytes += bytes_of(opened);
    out_.parts = {};
    out_.slots = {};
    out_.capacity.reset();
    out_.inner = inner;
    return true;
  }

  bool read_segments(Address at) {
    OpenedObject segment, array;
    while (at) {
      const Shape *shape = open(at, Kind::segment, segment);
      const Address slots = shape ? reference(segment, shape->second) : 0;
      if (!slots || !shapes_.may_follow() || !reader_.open(slots, array) || shapes_.component_size(array.id) == 0)
        return false;
      const u32 places = load<u32>(array.bytes + format_.pointer_size, format_.byte_order);
      const u32 from = static_cast<u32>(number(segment, shape->count)),
                to = static_cast<u32>(number(segment, shape->freed));
      if (places == 0 || (places & (places - 1)) != 0)
        return false;
      // Both counters go on past the end of the array. If a segment takes no more elements, its end has been moved on
      // by twice its length.
      if (to != from && to != from + 2 * places)
        out_.count += ((to - from - 1) & (places - 1)) + 1;
      out_.more_bytes += bytes_of(segment) + bytes_of(array);
      at = reference(segment, shape->first);
    }
    return true;
  }

  bool read_links(Address at) {
    OpenedObject link;
    for (; at; ++out_.count) {
      const Shape *shape = open(at, Kind::link, link);
      if (!shape || !shapes_.may_follow())
        return false;
      out_.more_bytes += bytes_of(link);
      at = reference(link, shape->first);
    }
    return true;
  }

  const CollectionShapes &shapes_;
  ReferenceReader &reader_;
  const Format format_;
  CollectionFill &out_;
};

Address CollectionShapes::array_of_segment(const OpenedObject &object, Format format) const {
  const Shape *shape = find_shape(object.id);
  return shape && shape->kind == Kind::segment ? load_pointer(object.bytes + shape->second, format) : 0;
}

std::optional<CollectionFill> CollectionShapes::read(const OpenedObject &object, ReferenceReader &reader,
                                                     Format format) const {
  CollectionFill out;
  return Reading(*this, reader, format, out).read(object) ? std::optional(out) : std::nullopt;
}

Notes CollectionShapes::notes(const std::string &lost) const {
  constexpr u64 most = 5;
  Notes out;
  for (u64 i = 0; i < std::min<u64>(unknown_.size(), most); ++i)
    out.add(unknown_[i] + " does not have the fields that such a collection should have: " + lost);
  if (unknown_.size() > most)
    out.add("and " + count_text(unknown_.size() - most) + " more such types");
  if (steps_ < 0)
    out.add("some collections share links of their chains, or have chains that lead back to themselves; these chains "
            "were not followed to their end: for each such collection, " +
            lost);
  return out;
}

} // namespace dnheap
