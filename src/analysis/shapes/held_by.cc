#include "analysis/shapes/held_by.h"

#include "objects/live.h"
#include "objects/references.h"
#include "objects/roots.h"

namespace dnheap {

namespace {

ObjectIndex index_of(const Snapshot &snapshot, const std::vector<HeldObject> &objects) {
  const ObjectIndex &all = snapshot.index();
  HeapBits bits(all.starts().shared_places());
  HeapBits::Writer writer(bits);
  for (const HeldObject &object : objects)
    if (all.is_object(object.address))
      writer.add(object.address);
  writer.flush();
  return ObjectIndex(std::move(bits));
}

HoldingFields fields_of(const Snapshot &snapshot, const ObjectIndex &asked, const std::vector<HeldObject> &objects,
                        const std::vector<Address> &parts, const ObjectGraph *graph) {
  const HeapBits &starts = snapshot.index().starts();
  const HeapBits &alive = graph || snapshot.roots().roots.empty() ? starts : snapshot.live().objects;
  HeapBits holders(starts.shared_places());
  for (u64 i = 0; i < alive.words().size(); ++i)
    holders.words()[i] = alive.words()[i];
  for (Address part : parts)
    if (const u64 place = starts.places().find(part); place != HeapPlaces::nowhere)
      holders.words()[place / 64] &= ~(u64{1} << (place % 64));
  LargeArray<u64> bytes(asked.count());
  for (const HeldObject &object : objects)
    if (const ObjectId id = asked.find(object.address); id != no_object)
      bytes[static_cast<u32>(id)] = object.bytes;
  return HoldingFields(
      snapshot, asked, [&](u32 number) { return bytes[number]; }, &holders, graph);
}

} // namespace

std::vector<HeldObject> worth_the_same(const std::vector<TypedObject> &objects) {
  std::vector<HeldObject> out;
  for (const TypedObject &one : objects)
    out.push_back({one.address, 1});
  return out;
}

std::vector<HeldObject> worth_their_size(const Snapshot &snapshot, const std::vector<TypedObject> &objects) {
  ReferenceReader reader(snapshot.references());
  const u64 p = snapshot.runtime().memory().format().pointer_size;
  std::vector<HeldObject> out;
  for (const TypedObject &one : objects) {
    OpenedObject opened;
    out.push_back({one.address, reader.open(one.address, opened) ? align_up(opened.size, p) : 0});
  }
  return out;
}

HeldBy::HeldBy(const Snapshot &snapshot, const std::vector<HeldObject> &objects, const std::vector<Address> &parts,
               const ObjectGraph *graph)
    : asked_(index_of(snapshot, objects)), fields_(fields_of(snapshot, asked_, objects, parts, graph)) {}

u32 HeldBy::field(Address object) const {
  const ObjectId id = asked_.find(object);
  return id == no_object ? HoldingFields::nobody : fields_[static_cast<u32>(id)];
}

} // namespace dnheap
