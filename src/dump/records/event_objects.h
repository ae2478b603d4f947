// EventObjects: the objects that a GC lists in its events, with their references, as they come: objects and references
// are in two lists that are sent side by side. Takes 16 bytes for an object and 6 for a reference. Filled by one
// thread; then read by all.
#pragma once
#include "base/host/large_array.h"
#include "dump/records/listed_objects.h"

#include <unordered_map>
#include <vector>

namespace dnheap {

class EventObjects : public ListedObjects {
public:
  // Addresses of 48 bits are all that a process of x64 or arm64 has for itself. Others are counted, and left out.
  static constexpr u64 address_bits = 48;

  // `degree`: so many of the references belong to it.
  void add_object(Address address, u32 type, u64 size, u64 degree);
  void add_reference(Address target);

  u64 references() const { return reference_count_; }
  // The references that the objects have; if fewer were added, some are missing.
  u64 expected_references() const { return expected_; }
  u64 odd() const { return odd_; }

  u64 entries() const override { return count_; }
  void for_each(u64 first, u64 last, const Visit &visit) const override;

private:
  struct Node {
    u32 low = 0;
    u16 high = 0, degree = 0; // of the address
    u32 type = 0, size = 0;
  };
  struct Reference {
    u16 words[3];
  };
  static constexpr u64 chunk = u64{1} << 17, reference_chunk = u64{1} << 20, stride = u64{1} << 12;
  static constexpr u16 long_degree = 0xffff; // the number is in `degrees_`
  static constexpr u32 long_size = ~u32{0};  // in `sizes_`

  const Node &node(u64 number) const { return nodes_[number / chunk][number % chunk]; }
  u64 degree_of(u64 number) const;
  Address target(u64 reference) const;

  std::vector<LargeArray<Node>> nodes_;
  std::vector<LargeArray<Reference>> targets_;
  std::vector<u64> starts_; // of every `stride`th object's references
  std::unordered_map<u64, u64> degrees_, sizes_;
  u64 count_ = 0, reference_count_ = 0, expected_ = 0, odd_ = 0;
};

} // namespace dnheap
