// GC contract, version 1 ("c1" in .NET 11): the garbage collector's heaps, generations, segments, handles and state.
// .NET 8, 9 and 10 publish no GC contract; for them, runtime/layout/ derives a descriptor with the same names, so that
// this one reader serves them all. runtime/gc.h describes the functions. Construction reads nothing. The whole GC:
// gc_1.cc; one heap: gc_heaps_1.cc; segments, free regions, handles: files of those names.
#pragma once
#include "base/notes.h"
#include "runtime/gc.h"

#include <functional>

namespace dnheap {

class Gc1 : public Gc {
public:
  Gc1(const Memory &memory, const ContractDescriptor &descriptor);

  std::vector<std::string> get_gc_identifiers() const override;
  bool has_identifier(std::string_view identifier) const override;
  u32 get_gc_heap_count() const override;
  bool get_gc_structures_valid() const override;
  u32 get_max_generation() const override;
  std::optional<std::pair<Address, Address>> get_gc_bounds() const override;
  std::optional<u32> get_current_gc_state() const override;
  std::optional<i32> try_get_gc_dynamic_adaptation_mode() const override;
  std::optional<std::vector<u64>> get_global_mechanisms() const override;
  std::optional<AllocationContext> get_global_allocation_context() const override;
  std::vector<Address> get_gc_heaps() const override;
  GCHeapData get_heap_data(Address heap) const override;
  GCOomData get_oom_data(Address heap) const override;
  GCHeapSegmentData get_heap_segment_data(Address segment) const override;
  std::vector<GCHeapSegmentInfo> enumerate_heap_segments(const GCHeapData &heap, Notes &notes) const override;
  std::vector<HandleType> get_supported_handle_types() const override;
  std::vector<HandleData> get_handles(std::span<const HandleType> types, Notes &notes) const override;
  std::optional<u64> get_handle_extra_info(Address handle) const override;
  std::vector<GCMemoryRegionData> get_handle_table_memory_regions(Notes &notes) const override;
  std::optional<std::vector<GCMemoryRegionData>> get_gc_bookkeeping_memory_regions(Notes &notes) const override;
  std::vector<GCMemoryRegionData> get_gc_free_regions(Notes &notes) const override;

private:
  Address global_pointer(const char *name, const char *what) const;
  std::optional<u64> try_global_pointer(const char *name) const;
  std::optional<std::vector<u64>> words_at(std::optional<Address> address, const char *length) const;
  std::optional<Address> find_heap_member(Address heap, const char *field) const;
  Address heap_member(Address heap, const char *field) const;
  void check_heap(Address heap) const;
  GCGenerationData read_generation(Address generation) const;
  std::vector<GCHeapSegmentData> segment_list(Address first, const std::string &list, Notes &notes) const;
  void add_ephemeral_segment(const GCHeapData &heap, const GCHeapSegmentData &segment,
                             std::vector<GCHeapSegmentInfo> &to) const;
  u32 handle_table_count() const;
  u32 handle_number(const char *global, u32 most) const;
  Address handle_segment_of(Address handle, u64 values, u64 bytes) const;
  void visit_handle_segments(const std::function<void(Address segment, u32 table)> &visit, Notes &notes) const;
  void add_free_list(Address list, const GCMemoryRegionData &like, std::vector<GCMemoryRegionData> &to,
                     Notes &notes) const;
  void add_free_lists(Address first, const GCMemoryRegionData &like, std::vector<GCMemoryRegionData> &to,
                      Notes &notes) const;
  void add_free_segments(Address first, const GCMemoryRegionData &like, std::vector<GCMemoryRegionData> &to,
                         Notes &notes) const;

  const Memory *memory_;
  const ContractDescriptor *descriptor_;
};

} // namespace dnheap
