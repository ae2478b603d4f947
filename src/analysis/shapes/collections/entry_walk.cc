#include "analysis/shapes/collections/entry_walk.h"

#include "analysis/names/type_called.h"
#include "analysis/shapes/base_types.h"
#include "objects/object_index.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u32 most_wrappers = 8; // one inside of the other
constexpr u64 nodes_between_looks = 1 << 14;

using EntryKinds = EntryWalk; // shorter rows

// Rows of one name stand together: the first one whose fields are there is taken.
constexpr EntryWalk::Row entry_rows[] = {
    {"System.Collections.Generic.List", &EntryKinds::read_list, {"_items", "_size"}},
    {"System.Collections.Generic.Queue", &EntryKinds::read_list, {"_array", "_size", "_head"}},
    {"System.Collections.Generic.Deque", &EntryKinds::read_list, {"_array", "_size", "_head"}},
    {"System.Collections.Generic.Stack", &EntryKinds::read_stack, {"_array", "_size"}},
    {"System.Collections.Generic.PriorityQueue",
     &EntryKinds::read_list,
     {"_nodes", "_size", nullptr, "Item2", "Item1"}},
    {"System.Collections.Generic.SortedList", &EntryKinds::read_pairs, {"keys", "values", "_size"}},
    {"System.Collections.Generic.SortedList", &EntryKinds::read_keys, {"_dict"}, "+KeyList"},
    {"System.Collections.Generic.SortedList", &EntryKinds::read_values, {"_dict"}, "+ValueList"},
    {"System.Collections.Generic.Dictionary", &EntryKinds::read_slots, {"_entries", "_count", "key", "value", "next"}},
    {"System.Collections.Generic.Dictionary", &EntryKinds::read_keys, {"_dictionary"}, "+KeyCollection"},
    {"System.Collections.Generic.Dictionary", &EntryKinds::read_values, {"_dictionary"}, "+ValueCollection"},
    {"System.Collections.Generic.HashSet", &EntryKinds::read_slots, {"_entries", "_count", nullptr, "Value", "Next"}},
    {"System.Collections.Generic.OrderedDictionary", &EntryKinds::read_slots, {"_entries", "_count", "Key", "Value"}},
    {"System.Collections.Generic.OrderedDictionary", &EntryKinds::read_keys, {"_dictionary"}, "+KeyCollection"},
    {"System.Collections.Generic.OrderedDictionary", &EntryKinds::read_values, {"_dictionary"}, "+ValueCollection"},
    {"System.Collections.Generic.LinkedList", &EntryKinds::read_chain, {"head", "next", nullptr, "item"}},
    {"System.Collections.Generic.SortedSet",
     &EntryKinds::read_tree,
     {"root", "<Left>k__BackingField", "<Right>k__BackingField", nullptr, "<Item>k__BackingField"}},
    {"System.Collections.Generic.TreeSet", // of a SortedDictionary, whose elements are pairs
     &EntryKinds::read_tree,
     {"root", "<Left>k__BackingField", "<Right>k__BackingField", "<Item>k__BackingField.key",
      "<Item>k__BackingField.value"}},
    {"System.Collections.Generic.SortedDictionary", &EntryKinds::read_inner, {"_set"}},
    {"System.Collections.Generic.SortedDictionary", &EntryKinds::read_keys, {"_dictionary"}, "+KeyCollection"},
    {"System.Collections.Generic.SortedDictionary", &EntryKinds::read_values, {"_dictionary"}, "+ValueCollection"},

    {"System.Collections.ArrayList", &EntryKinds::read_list, {"_items", "_size"}},
    {"System.Collections.Queue", &EntryKinds::read_list, {"_array", "_size", "_head"}},
    {"System.Collections.Stack", &EntryKinds::read_stack, {"_array", "_size"}},
    {"System.Collections.SortedList", &EntryKinds::read_pairs, {"keys", "values", "_size"}},
    {"System.Collections.Hashtable", &EntryKinds::read_buckets, {"_buckets", "key", "val"}},
    {"System.Collections.Hashtable", &EntryKinds::read_inner, {"_table"}, "+SyncHashtable"},
    {"System.Collections.ListDictionaryInternal", &EntryKinds::read_chain, {"head", "next", "key", "value"}},
    {"System.Collections.Specialized.ListDictionary", &EntryKinds::read_chain, {"head", "next", "key", "value"}},
    {"System.Collections.CollectionBase", &EntryKinds::read_inner, {"_list"}},

    {"System.Collections.ObjectModel.Collection", &EntryKinds::read_inner, {"items"}},
    {"System.Collections.ObjectModel.ReadOnlyCollection", &EntryKinds::read_inner, {"list"}},
    {"System.Collections.ObjectModel.ReadOnlyDictionary", &EntryKinds::read_inner, {"m_dictionary"}},
    {"System.Collections.ObjectModel.ReadOnlyDictionary", &EntryKinds::read_inner, {"_collection"}, "+KeyCollection"},
    {"System.Collections.ObjectModel.ReadOnlyDictionary", &EntryKinds::read_inner, {"_collection"}, "+ValueCollection"},
    {"System.Collections.ObjectModel.ReadOnlySet", &EntryKinds::read_inner, {"_set"}},

    {"System.Collections.Concurrent.ConcurrentDictionary",
     &EntryKinds::read_tables,
     {"_tables", "_buckets", "_node", "_next", "_key", "_value"}},
    {"System.Collections.Concurrent.ConcurrentQueue",
     &EntryKinds::read_queue,
     {"_head", "_nextSegment", "_slots", "_headAndTail.Head", "_headAndTail.Tail", "SequenceNumber"}},
    {"System.Collections.Concurrent.ConcurrentStack", &EntryKinds::read_chain, {"_head", "_next", nullptr, "_value"}},
    {"System.Collections.Concurrent.ConcurrentBag",
     &EntryKinds::read_bag,
     {"_workStealingQueues", "_nextQueue", "_array", "_headIndex", "_tailIndex"}},
    {"System.Collections.Concurrent.SingleProducerSingleConsumerQueue",
     &EntryKinds::read_ring,
     {"_head", "_next", "_array", "_state._first", "_state._last"}},
    {"System.Collections.Concurrent.BlockingCollection", &EntryKinds::read_inner, {"_collection"}},
    {"System.Threading.Channels.UnboundedChannel", &EntryKinds::read_inner, {"_items"}},
    {"System.Threading.Channels.BoundedChannel", &EntryKinds::read_inner, {"_items"}},
    {"System.Threading.Channels.SingleConsumerUnboundedChannel", &EntryKinds::read_inner, {"_items"}},
    {"System.Threading.Channels.UnboundedPrioritizedChannel", &EntryKinds::read_inner, {"_items"}},

    {"System.Collections.Immutable.ImmutableArray", &EntryKinds::read_list, {"array"}},
    {"System.Collections.Immutable.ImmutableList",
     &EntryKinds::read_immutable,
     {"_root", "_left", "_right", nullptr, "_key"}},
    {"System.Collections.Immutable.ImmutableSortedSet",
     &EntryKinds::read_immutable,
     {"_root", "_left", "_right", nullptr, "_key"}},
    {"System.Collections.Immutable.ImmutableSortedDictionary",
     &EntryKinds::read_immutable,
     {"_root", "_left", "_right", "_key", "_value"}},
    {"System.Collections.Immutable.ImmutableDictionary",
     &EntryKinds::read_immutable,
     {"_root", "_left", "_right", "_value._firstValue.key", "_value._firstValue.value", "_value._additionalElements"}},
    {"System.Collections.Immutable.ImmutableHashSet",
     &EntryKinds::read_immutable,
     {"_root", "_left", "_right", nullptr, "_value._firstValue", "_value._additionalElements"}},
    {"System.Collections.Immutable.ImmutableStack", &EntryKinds::read_stacked, {"_tail", "_head"}},
    {"System.Collections.Immutable.ImmutableQueue",
     &EntryKinds::read_two_stacks,
     {"_forwards", "_backwards", "_tail", "_head"}},

    {"System.Collections.Frozen.EmptyFrozenDictionary", &EntryKinds::read_nothing},
    {"System.Collections.Frozen.EmptyFrozenSet", &EntryKinds::read_nothing},
    {"System.Collections.Frozen.FrozenDictionary", &EntryKinds::read_pairs, {"_keys", "_values"}},
    {"System.Collections.Frozen.FrozenDictionary", // of numbers, which are their own hash codes
     &EntryKinds::read_pairs,
     {"_hashTable.<HashCodes>k__BackingField", "_values"}},
    {"System.Collections.Frozen.FrozenSet", &EntryKinds::read_list, {"_items"}},
    {"System.Collections.Frozen.FrozenSet", &EntryKinds::read_list, {"_hashTable.<HashCodes>k__BackingField"}},

    {"System.Runtime.CompilerServices.ConditionalWeakTable",
     &EntryKinds::read_weak,
     {"_container", "_entries", "_firstFreeEntry", "depHnd._handle", "HashCode"}},
    {"Microsoft.Extensions.Caching.Memory.MemoryCache",
     &EntryKinds::read_cache,
     {"_coherentState", "_entries", "_stringEntries", "_nonStringEntries"}},
};

bool has_row_name(std::string_view name, const EntryWalk::Row &row) {
  return is_type_called(name, row.type, row.nested);
}

} // namespace

EntryWalk::EntryWalk(CollectionEntries &of, u64 most, CollectionContents &out)
    : of_(of), snapshot_(of.snapshot_), runtime_(snapshot_.runtime()), memory_(runtime_.memory()), fields_(of.fields_),
      places_(of.places_), most_(most), nodes_left_(snapshot_.index().count()), out_(out) {}

// A class nested in a collection and derived from it only wraps another collection, and its own fields are empty.
std::span<const EntryWalk::Row> EntryWalk::rows_of(const Runtime &runtime, Address method_table) {
  std::span<const Row> out;
  const std::string own = runtime.types().name(method_table);
  BaseTypes(runtime).any_of(method_table, [&](const std::string &name) {
    if (own.size() > name.size() && own.starts_with(name) && own[name.size()] == '+')
      return false;
    const auto first = std::ranges::find_if(entry_rows, [&](const Row &row) { return has_row_name(name, row); });
    const auto end =
        std::find_if_not(first, std::end(entry_rows), [&](const Row &row) { return has_row_name(name, row); });
    out = {first, end};
    return !out.empty();
  });
  return out;
}

void EntryWalk::read(Address object) {
  const Address type = fields_.type_of(object);
  if (Array array; type && open(object, array) && array.elements) {
    out_.state = is_sound() ? CollectionContents::State::listed : out_.state;
    add_from(array, 0, array.length, nullptr, "");
    return;
  }
  const std::span<const Row> rows = type ? rows_of(runtime_, type) : std::span<const Row>();
  if (!rows.empty() && snapshot_.target().has_blanked_values()) {
    out_.state = CollectionContents::State::blanked;
    return;
  }
  for (const Row &row : rows) {
    out_.state = CollectionContents::State::listed;
    if ((this->*row.read)(object, row.paths))
      return;
  }
  // Where no fields are known at all, as in a listing of the heap, other notes say so.
  const bool is_known = !rows.empty() && !runtime_.fields().instance_fields(type).empty();
  out_.state = is_known || depth_ > 0 ? CollectionContents::State::unknown : CollectionContents::State::none;
  out_.unlisted = type ? runtime_.types().name(type) : "";
}

bool EntryWalk::read_inner(Address object, const Paths &paths) {
  const std::optional<Address> inner = reference(object, paths[0]);
  if (!inner)
    return false;
  if (*inner == 0)
    return true;
  if (++depth_ > most_wrappers)
    return damaged();
  read(*inner);
  --depth_;
  return true;
}

bool EntryWalk::read_keys(Address object, const Paths &paths) {
  if (!read_inner(object, paths))
    return false;
  out_.entries.keep_keys();
  return true;
}

bool EntryWalk::read_values(Address object, const Paths &paths) {
  if (!read_inner(object, paths))
    return false;
  out_.entries.keep_values();
  return true;
}

bool EntryWalk::read_weak(Address object, const Paths &paths) {
  const std::optional<Address> container = reference(object, paths[0]);
  Array array;
  if (!container || !*container || !open(reference(*container, paths[1]).value_or(0), array))
    return false;
  const EntryPlace handle = array.elements ? places_.in_value(*array.elements->type, paths[3]) : EntryPlace(),
                   hash = array.elements ? places_.in_value(*array.elements->type, paths[4]) : EntryPlace();
  const std::optional<u32> used = fields_.number<u32>(*container, paths[2]);
  if (!used || !handle.type || !hash.type)
    return false;
  if (*used > array.length)
    return damaged();
  for (u64 i = 0; i < *used; ++i) {
    constexpr u32 removed = ~u32{0};
    if (memory_.try_load<u32>(array.element(i) + hash.offset).value_or(removed) == removed)
      continue;
    const Address slot = memory_.try_pointer(array.element(i) + handle.offset).value_or(0);
    const Address key = slot ? memory_.try_pointer(slot).value_or(0) : 0;
    const std::optional<Address> value = slot ? of_.secondary(slot) : std::nullopt;
    if (key && !add({places_.object(), key, true}, value ? EntryPart{places_.object(), *value, true} : EntryPart()))
      return true;
  }
  return true;
}

bool EntryWalk::read_cache(Address object, const Paths &paths) {
  const std::optional<Address> state = reference(object, paths[0]);
  if (!state || !*state)
    return false;
  bool has_table = false;
  CollectionContents tables;
  EntryWalk inner(of_, most_, tables);
  inner.nodes_left_ = nodes_left_;
  inner.depth_ = depth_ + 1; // in damaged memory a cache's table may be that cache
  if (inner.depth_ > most_wrappers)
    return damaged();
  for (const char *field : {paths[1], paths[2], paths[3]})
    if (const std::optional<Address> table = reference(*state, field)) {
      has_table = true;
      inner.read(*table);
      nodes_left_ = inner.nodes_left_;
      if (tables.state != CollectionContents::State::listed)
        return tables.state == CollectionContents::State::damaged ? damaged() : false;
    }
  out_.is_cut |= tables.is_cut;
  Node entry(*this, {"_value"});
  CollectionEntry one;
  for (EntryList::Cursor cursor(tables.entries); cursor.next(one);)
    if (const Address at = of_.object_of(one.value); !at || !entry.open(at))
      return false;
    else if (!add(one.key, entry.part(0)))
      return true;
  return has_table;
}

bool EntryWalk::open(Address array, Array &out) {
  if (!array)
    return true;
  out.at = array;
  out.elements = places_.elements(fields_.type_of(array));
  if (!out.elements)
    return false;
  out.length = fields_.length(array).value_or(0);
  out.first = array + out.elements->shape.start;
  // The object's size is what its MethodTable says; a length that lies leads to where no memory is.
  if (out.length && !memory_.try_load<u8>(out.element(out.length) - 1)) {
    out.length = 0;
    damaged();
  }
  return true;
}

bool EntryWalk::add(const EntryPart &key, const EntryPart &value) {
  if (out_.entries.count() >= most_) {
    out_.is_cut = true;
    return false;
  }
  out_.entries.add({key, value});
  return true;
}

void EntryWalk::add_run(const CollectionEntry &first, u64 count, i64 key_step, i64 value_step) {
  const u64 room = most_ - std::min(most_, out_.entries.count());
  out_.is_cut |= count > room;
  out_.entries.add(first, std::min(count, room), key_step, value_step);
}

bool EntryWalk::may_go_on() {
  if (nodes_left_-- == 0) {
    nodes_left_ = 0;
    damaged();
    return false;
  }
  if (nodes_left_ % nodes_between_looks == 0)
    snapshot_.watch().check();
  return true;
}

} // namespace dnheap
