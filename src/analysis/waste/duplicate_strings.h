// DuplicateStrings: strings of equal content: their numbers, and the fields that hold the copies. One parallel pass
// over all objects and one over all references: 24 bytes per string while contents are compared
// (algorithms/equal_contents.h), then 16 per copy and 64 per content that occurs twice. Throws Error, Interrupted. Not
// for several threads at once.
//
// One of several equal strings is kept: a frozen one (a literal of the program, which the GC never frees), else the one
// with the lowest address. Only the others count as copies; a frozen string is never one.
#pragma once
#include "algorithms/equal_contents.h"
#include "analysis/shapes/holding_fields.h"
#include "heap/tally.h"
#include "objects/object_index.h"

#include <optional>

namespace dnheap {

class DuplicateStrings {
public:
  // Compares the strings that pass the filter; only objects in `filter.among` count as holders.
  DuplicateStrings(const Snapshot &snapshot, const ObjectFilter &filter);

  struct Group {
    ContentHash hash; // of the characters, as they lie in the target
    u64 strings = 0;  // all of them, including kept ones
    u64 bytes = 0;    // size of each in the heap
    u32 length = 0;   // in UTF-16 code units
    u64 first = 0, copies = 0;
    Address kept = 0;
    u64 wasted() const { return bytes * copies; }
  };
  // Returns the contents that have copies; most wasted bytes first, then by hash.
  const std::vector<Group> &groups() const { return groups_; }
  // Returns the field that holds most of the group's copies.
  std::string field_of(const Group &group);

  struct Field {
    std::string text;
    u64 copies = 0, contents = 0, bytes = 0; // of copies
  };
  // Returns the fields with their sums over all groups; most bytes first.
  std::vector<Field> fields();

  u64 strings() const { return strings_; }
  u64 string_bytes() const { return string_bytes_; }
  u64 copies() const { return copies_.size(); }
  u64 wasted() const { return wasted_; }
  // False if the type of strings is unknown, so that no strings were found.
  bool is_type_known() const { return is_type_known_; }
  // True if the contents of all strings were blanked when the core was extracted: everything is empty then.
  bool are_blanked() const { return are_blanked_; }

private:
  EqualGroups find_equal(const Snapshot &snapshot, const ObjectFilter &filter);
  ObjectIndex choose_copies(const Snapshot &snapshot, EqualGroups equal);

  bool is_type_known_ = false, are_blanked_ = false;
  u64 strings_ = 0, string_bytes_ = 0, wasted_ = 0;
  std::vector<Group> groups_;
  LargeArray<u32> copies_; // numbers in holders_, one group after the other
  std::optional<HoldingFields> holders_;
};

} // namespace dnheap
