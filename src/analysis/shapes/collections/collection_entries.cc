#include "analysis/shapes/collections/collection_entries.h"

#include "analysis/shapes/collections/entry_walk.h"
#include "base/error.h"
#include "runtime/facts/handle_data.h"

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
    Notes ignored; // already reported where roots are read
    try {
      for (const HandleData &one : snapshot_.runtime().gc().get_handles(std::vector{HandleType::dependent}, ignored))
        if (one.secondary)
          secondaries_->emplace(one.handle, *one.secondary);
    } catch (const Error &) { // no handle table
    }
  }
  const auto found = secondaries_->find(handle);
  return found == secondaries_->end() ? std::nullopt : std::optional(found->second);
}

} // namespace dnheap
