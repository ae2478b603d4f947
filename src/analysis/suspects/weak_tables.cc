#include "analysis/suspects/weak_tables.h"

#include "analysis/shapes/dependent_handles.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/held_by.h"
#include "objects/object_graph.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr const char *table_type = "System.Runtime.CompilerServices.ConditionalWeakTable<", *container = "+Container";
constexpr u64 most_handles = 1 << 20;      // more are not looked up
constexpr u64 most_entry_bytes = 64 << 20; // entries beyond this are not read

// The key of each dependent handle that has one of `keys`, by the handle's address.
std::unordered_map<Address, Address> handles_of(const Snapshot &snapshot, const std::vector<Address> &keys) {
  std::unordered_map<Address, Address> out;
  const std::unordered_set<Address> wanted(keys.begin(), keys.end());
  for (const HandleData &one : dependent_handles(snapshot.runtime()))
    if (wanted.contains(one.object) && out.size() < most_handles)
      out.emplace(one.handle, one.object);
  return out;
}

// Returns, by key, how many of the handles are in the entries of the table with container `of`.
std::map<Address, u64> keys_in(const Snapshot &snapshot, FieldReader &fields, Address of,
                               const std::unordered_map<Address, Address> &handles, u64 &bytes_left) {
  std::map<Address, u64> out;
  const Memory &memory = snapshot.runtime().memory();
  const u64 p = memory.format().pointer_size;
  const Address entries = fields.reference_or_null(of, "_entries");
  OpenedObject opened;
  ReferenceReader reader(snapshot.references());
  if (!entries || !reader.open(entries, opened))
    return out;
  const u64 size = std::min<u64>(opened.size, bytes_left);
  bytes_left -= size;
  const Bytes bytes = memory.peek_up_to(entries, size);
  for (u64 at = 2 * p; at + p <= bytes.size(); at += p)
    if (auto handle = handles.find(load_pointer(bytes.data() + at, memory.format())); handle != handles.end())
      ++out[handle->second];
  memory.note_read(entries, bytes.size());
  return out;
}

} // namespace

std::unordered_map<Address, WeakTable> find_weak_tables(const Snapshot &snapshot, const std::vector<Address> &keys) {
  std::unordered_map<Address, WeakTable> out;
  const Dependents &dependents = snapshot.references().dependents();
  if (std::all_of(keys.begin(), keys.end(), [&](Address key) { return dependents.of(key).empty(); }))
    return out; // the handle tables need not be read again
  const std::unordered_map<Address, Address> handles = handles_of(snapshot, keys);
  for (const auto &[handle, key] : handles)
    ++out[key].handles;
  if (out.empty())
    return out;
  FieldReader fields(snapshot.runtime());
  std::map<Address, std::pair<u64, Address>> best; // by key: number of its handles, and the table that has them
  const ObjectGraph &graph = snapshot.graph();
  const HeapTypes &types = snapshot.references().types();
  std::vector<bool> is_container(types.size());
  for (u32 i = 0; i < types.size(); ++i) {
    const std::string &name = snapshot.runtime().types().name(types[TypeId{i}].method_table);
    is_container[i] = name.starts_with(table_type) && name.find(container) != name.npos;
  }
  std::vector<Address> containers; // each leads back to its table
  u64 bytes_left = most_entry_bytes;
  for (u64 i = 0; i < graph.types().size() && bytes_left; ++i) {
    if (i % 0x100000 == 0)
      snapshot.watch().check();
    const u32 type = static_cast<u32>(graph.types()[i]);
    if (type >= is_container.size() || !is_container[type])
      continue;
    const Address at = snapshot.index().address(ObjectId(static_cast<u32>(i)));
    containers.push_back(at);
    for (const auto &[key, count] : keys_in(snapshot, fields, at, handles, bytes_left))
      if (count > best[key].first)
        best[key] = {count, fields.reference_or_null(at, "_parent")};
  }
  std::vector<HeldObject> tables;
  for (const auto &[key, found] : best)
    if (found.second)
      tables.push_back({found.second, 1});
  if (tables.empty())
    return out;
  HeldBy holders(snapshot, tables, containers, &graph);
  for (const auto &[key, found] : best)
    if (found.second)
      out[key].field = holders.of(found.second);
  return out;
}

} // namespace dnheap
