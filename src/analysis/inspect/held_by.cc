#include "analysis/inspect/held_by.h"

namespace dnheap {

namespace {

ObjectIndex index_of(Snapshot &snapshot, const std::vector<HeldObject> &objects) {
  const ObjectIndex &all = snapshot.index();
  HeapBits bits(all.starts().shared_places());
  HeapBits::Writer writer(bits);
  for (const HeldObject &object : objects)
    if (all.is_object(object.address))
      writer.add(object.address);
  writer.flush();
  return ObjectIndex(std::move(bits));
}

HoldingFields fields_of(Snapshot &snapshot, const ObjectIndex &asked, const std::vector<HeldObject> &objects,
                        const std::vector<Address> &parts, const ObjectGraph *graph) {
  const HeapBits &starts = snapshot.index().starts();
  HeapBits holders(starts.shared_places());
  for (u64 i = 0; i < starts.words().size(); ++i)
    holders.words()[i] = starts.words()[i];
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

HeldBy::HeldBy(Snapshot &snapshot, const std::vector<HeldObject> &objects, const std::vector<Address> &parts,
               const ObjectGraph *graph)
    : asked_(index_of(snapshot, objects)), fields_(fields_of(snapshot, asked_, objects, parts, graph)) {}

u32 HeldBy::field(Address object) const {
  const ObjectId id = asked_.find(object);
  return id == no_object ? HoldingFields::nobody : fields_[static_cast<u32>(id)];
}

} // namespace dnheap
