// ReferenceNames: the names of the references of each type's objects, for loops over all objects by all threads. Class
// Fields serves one thread only, so the constructor asks it about all types. Costs some µs per type and 16 bytes per
// reference in a type's fields, of which the first 65,536 are named; then immutable.
#pragma once
#include "objects/references.h"
#include "runtime/fields.h"
#include "snapshot/snapshot.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dnheap {

class ReferenceNames {
public:
  explicit ReferenceNames(const Snapshot &snapshot);

  struct Name {
    u32 text = 0;               // index into texts()
    std::optional<u64> element; // index, in arrays
  };
  // Returns the name of the reference at that offset in an object.
  Name at(TypeId type, u64 offset) const;
  // Each text once: "_items"; for elements "[*]", "[*].value"; for references without a field "(dependent handle)".
  const std::vector<std::string> &texts() const { return texts_; }
  // Appends the name with its index: "[17].value".
  void append(std::string &out, const Name &name) const;

  static constexpr u32 dependent_handle = 0, loader_allocator = 1, unnamed = 2; // indices into texts()

private:
  struct Slot {
    u64 offset = 0; // in arrays: within an element
    u32 text = 0;
  };
  struct OfType {
    std::vector<Slot> slots; // by offset
    u64 start = 0, size = 0; // of elements; size 0: no array
  };
  u32 intern(std::string_view text);
  void add(Fields &fields, u64 pointer_size, const ObjectType &type, OfType &out);

  std::vector<OfType> types_; // by TypeId
  std::vector<std::string> texts_;
  std::unordered_map<std::string, u32> numbers_;
};

} // namespace dnheap
