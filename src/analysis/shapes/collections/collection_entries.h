// CollectionEntries: lists the entries of a collection as places in memory (entry_list.h): keys and values of
// dictionaries, elements of lists, queues, stacks and sets, of arrays, and of what wraps these. Collections are known
// by the names of their types and of their fields, as the target's metadata has them, so subclasses and other versions
// are known, too. A list in an array costs some reads, nodes some reads each; reading ends where nodes lead back or are
// more than the heap's objects. Not for several threads at once.
#pragma once
#include "analysis/shapes/collections/entry_list.h"
#include "analysis/shapes/collections/entry_places.h"
#include "snapshot/snapshot.h"

#include <unordered_map>

namespace dnheap {

struct CollectionContents {
  enum class State : u8 {
    none,    // it is no collection
    listed,  // all entries, or as many as were asked for
    unknown, // it is called like a collection, but lacks the fields of one
    blanked, // the dump was made without values, so that it has no numbers of entries; arrays have theirs
    damaged, // its contents are impossible or not in the dump: `entries` are those before
  };
  State state = State::none;
  EntryList entries;
  bool is_cut = false;  // there are more entries
  std::string unlisted; // unknown: the type of the object, or of a part of it
};

class CollectionEntries {
public:
  explicit CollectionEntries(const Snapshot &snapshot);
  CollectionEntries(const CollectionEntries &) = delete;

  // Returns the entries in the order in which the collection lists them, at most `most`.
  CollectionContents read(Address object, u64 most = ~u64{0});
  // Returns the object that a part is or refers to; 0: null, no reference, or not in the dump.
  Address object_of(const EntryPart &part) const;

private:
  friend class EntryWalk;
  // Returns what a dependent handle keeps alive while its object lives; nullopt: unknown.
  std::optional<Address> secondary(Address handle);

  const Snapshot &snapshot_;
  FieldReader fields_;
  EntryPlaces places_;
  std::optional<std::unordered_map<Address, Address>> secondaries_; // by handle; read when first needed
};

} // namespace dnheap
