#include "analysis/shapes/typed_objects.h"

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

std::vector<Address> addresses_of(const std::vector<TypedObject> &objects) {
  std::vector<Address> out;
  for (const TypedObject &one : objects)
    out.push_back(one.address);
  return out;
}

} // namespace dnheap
