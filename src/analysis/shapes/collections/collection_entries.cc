#include "analysis/shapes/collections/collection_entries.h"

#include "analysis/shapes/collections/entry_walk.h"
#include "analysis/shapes/dependent_handles.h"

namespace dnheap {

CollectionEntries::CollectionEntries(const Snapshot &snapshot)
    : snapshot_(snapshot), fields_(snapshot.runtime()), places_(snapshot.runtime()) {}

CollectionContents CollectionEntries::read(Address object, u64 most) {
  CollectionContents out;
  EntryWalk(*this, most, out).read(object);
  return out;
}

Address CollectionEntries::object_of(const EntryPart &part) const {
  if (part.is_object)
    return part.at;
  return part.type && part.type->is_reference() ? snapshot_.runtime().memory().try_pointer(part.at).value_or(0) : 0;
}

std::optional<Address> CollectionEntries::secondary(Address handle) {
  if (!secondaries_) {
    secondaries_.emplace();
    for (const HandleData &one : dependent_handles(snapshot_.runtime()))
      secondaries_->emplace(one.handle, *one.secondary);
  }
  const auto found = secondaries_->find(handle);
  return found == secondaries_->end() ? std::nullopt : std::optional(found->second);
}

} // namespace dnheap
