#include "analysis/shapes/typed_objects.h"

#include "base/parallel.h"
#include "objects/object_graph.h"

#include <algorithm>

namespace dnheap {

namespace {

class Collector {
public:
  Collector(const Runtime &runtime, const Heap &heap, const std::vector<Address> &wanted)
      : types_(runtime.types(), heap), wanted_(wanted) {}

  TypeTable &types() { return types_; }
  void begin_chunk(const ObjectRange &) {}
  void operator()(const Object &object) {
    while (object.type >= is_wanted_.size())
      is_wanted_.push_back(
          std::binary_search(wanted_.begin(), wanted_.end(), types_.method_table(static_cast<u32>(is_wanted_.size()))));
    if (is_wanted_[object.type])
      found.push_back({object.address, types_.method_table(object.type)});
  }
  void end_chunk(const ChunkResult &) {}

  std::vector<TypedObject> found;

private:
  TypeTable types_;
  const std::vector<Address> &wanted_;
  std::vector<bool> is_wanted_; // by type id
};

// Walks single ranges, and collects the objects of the types that pass. Each type is asked about once.
class RangeCollector {
public:
  RangeCollector(const Snapshot &snapshot, const std::function<bool(Address)> &passes)
      : memory_(snapshot.runtime().memory()), watch_(snapshot.watch()),
        free_(snapshot.runtime().types().free_object_method_table()), passes_(passes),
        types_(snapshot.runtime().types(), snapshot.heap()) {}

  void walk(const ObjectRange &range) {
    constexpr u64 stretch = 1 << 20;
    const Format format = memory_.format();
    RangeBytes bytes(range, memory_, buffer_);
    if (!bytes.are_known())
      return;
    u64 at = bytes.first_object(types_, format).value_or(range.size);
    while (at < range.size) {
      watch_.check();
      bool bad = false;
      at = walk_block(range, bytes.block(at, 2 * stretch), at, std::min(at + stretch, range.size), types_, format, bad,
                      [&](const Object &object) { visit(object); });
      if (bad)
        at = bytes.next_object(at, types_, format).value_or(range.size);
    }
  }

  std::vector<TypedObject> found;

private:
  void visit(const Object &object) {
    while (object.type >= is_wanted_.size()) {
      const Address type = types_.method_table(static_cast<u32>(is_wanted_.size()));
      is_wanted_.push_back(type != free_ && passes_(type));
    }
    if (is_wanted_[object.type])
      found.push_back({object.address, types_.method_table(object.type)});
  }

  const Memory &memory_;
  const Watch &watch_;
  const Address free_;
  const std::function<bool(Address)> &passes_;
  TypeTable types_;
  std::vector<bool> is_wanted_; // by type id
  std::vector<std::byte> buffer_;
};

// Reads the graph's column of types, 4 bytes per object in order of addresses, where a walk touches each object.
std::vector<TypedObject> objects_in_graph(const Snapshot &snapshot, const std::vector<Address> &wanted) {
  constexpr u64 part_size = u64{1} << 18;
  const HeapTypes &types = snapshot.references().types();
  const ObjectIndex &index = snapshot.index();
  const std::span<const TypeId> all = snapshot.graph().types();
  std::vector<u8> is_wanted(types.size());
  for (u32 type = 0; type < types.size(); ++type)
    is_wanted[type] = std::binary_search(wanted.begin(), wanted.end(), types[TypeId{type}].method_table);
  std::vector<std::vector<TypedObject>> found((all.size() + part_size - 1) / part_size);
  parallel_for_parts(all.size(), part_size, snapshot.threads(), [&](u64 begin, u64 end, unsigned) {
    snapshot.watch().check();
    std::vector<TypedObject> &here = found[begin / part_size];
    for (u64 i = begin; i < end; ++i)
      if (const u32 type = static_cast<u32>(all[i]); type < is_wanted.size() && is_wanted[type])
        here.push_back({index.address(ObjectId{static_cast<u32>(i)}), types[all[i]].method_table});
  });
  std::vector<TypedObject> out;
  for (const std::vector<TypedObject> &part : found)
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

} // namespace

std::vector<Address> types_that(const Snapshot &snapshot, const std::function<bool(Address)> &passes) {
  std::vector<Address> out;
  for (const TypeTally &type : snapshot.tally().types)
    if (type.method_table != snapshot.runtime().types().free_object_method_table() && passes(type.method_table))
      out.push_back(type.method_table);
  return out;
}

u64 count_that(const Snapshot &snapshot, const std::function<bool(Address)> &passes) {
  u64 out = 0;
  for (const TypeTally &type : snapshot.tally().types)
    if (type.method_table != snapshot.runtime().types().free_object_method_table() && passes(type.method_table))
      out += type.total().count;
  return out;
}

std::vector<TypedObject> objects_of(const Snapshot &snapshot, const std::vector<Address> &method_tables) {
  std::vector<TypedObject> out;
  if (method_tables.empty())
    return out;
  const Address free = snapshot.runtime().types().free_object_method_table();
  if (snapshot.has_graph() && !std::binary_search(method_tables.begin(), method_tables.end(), free))
    return objects_in_graph(snapshot, method_tables);
  const Heap &heap = snapshot.heap();
  const Runtime &runtime = snapshot.runtime();
  std::vector<std::unique_ptr<Collector>> collectors;
  HeapWalk(heap, runtime.memory(), snapshot.threads(), snapshot.watch()).run(collectors, [&] {
    return std::make_unique<Collector>(runtime, heap, method_tables);
  });
  for (const auto &collector : collectors)
    out.insert(out.end(), collector->found.begin(), collector->found.end());
  std::sort(out.begin(), out.end(), [](const TypedObject &a, const TypedObject &b) { return a.address < b.address; });
  return out;
}

std::vector<TypedObject> objects_that(const Snapshot &snapshot, const std::function<bool(Address)> &passes) {
  return objects_of(snapshot, types_that(snapshot, passes));
}

std::vector<TypedObject> objects_called(const Snapshot &snapshot, std::string_view type) {
  return objects_that(snapshot, [&](Address mt) { return snapshot.runtime().types().name(mt) == type; });
}

u64 count_called(const Snapshot &snapshot, std::string_view type) {
  return count_that(snapshot, [&](Address mt) { return snapshot.runtime().types().name(mt) == type; });
}

YoungObjects young_objects_that(const Snapshot &snapshot, const std::function<bool(Address)> &passes, u64 most_bytes) {
  YoungObjects out;
  RangeCollector collector(snapshot, passes);
  for (const ObjectRange &range : snapshot.heap().ranges())
    if (!is_young_generation(range.generation))
      continue;
    else if (range.size > most_bytes)
      out.is_everything = false;
    else
      most_bytes -= range.size, collector.walk(range);
  out.list = std::move(collector.found);
  return out;
}

std::vector<Address> addresses_of(const std::vector<TypedObject> &objects) {
  std::vector<Address> out;
  for (const TypedObject &one : objects)
    out.push_back(one.address);
  return out;
}

} // namespace dnheap
