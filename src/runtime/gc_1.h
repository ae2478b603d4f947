// GC contract, version 1 ("c1" in .NET 11): the garbage collector's heaps, generations, segments, handles and state.
// For .NET 8, 9 and 10, which publish no GC contract, runtime/layout/ derives a descriptor with the same names, so that
// this one reader serves them all. Spec: dotnet/runtime docs/design/datacontracts/GC.md; where it is wrong the code
// does what the runtime does, and says so. doc/contracts.md maps each API to its function and test. Construction reads
// nothing. Functions read the target at each call; lists are capped, circles noticed. Functions throw Error when
// something needed is unreadable; const functions may be called from any thread.
#pragma once
#include "contract/descriptor.h"
#include "runtime/gc_data_1.h"
#include "runtime/gc_handles_1.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dnheap {

class Gc1 {
public:
  Gc1(const Memory &memory, const ContractDescriptor &descriptor);

  // Of the whole GC: gc_1.cc.

  // "workstation" or "server", "regions" or "segments", perhaps "background", "dynamic_heap".
  std::vector<std::string> get_gc_identifiers() const;
  bool has_identifier(std::string_view identifier) const;
  bool is_server() const { return has_identifier("server"); }
  bool has_regions() const { return has_identifier("regions"); }
  // 1 to 4,096. Throws when the identifiers name neither kind of GC.
  u32 get_gc_heap_count() const;
  // False while a collection changes the structures: what the other functions say may then be wrong in places.
  bool get_gc_structures_valid() const;
  u32 get_max_generation() const; // 2
  // The lowest and highest address that the GC manages, as the VM's write barrier knows them.
  std::optional<std::pair<Address, Address>> get_gc_bounds() const;
  // c_gc_state of background GC, see gc_state_name(); absent without background GC, where the specification says 0.
  std::optional<u32> get_current_gc_state() const;
  // Absent without "dynamic_heap". The specification's older name is TryGetDynamicAdaptationMode.
  std::optional<i32> try_get_gc_dynamic_adaptation_mode() const;
  // Counters in the order of global_mechanism_name(): how many collections used each.
  std::optional<std::vector<u64>> get_global_mechanisms() const;
  // The allocation context of threads that have none of their own.
  std::optional<AllocationContext> get_global_allocation_context() const;

  // Of one heap: gc_heaps_1.cc.

  // The gc_heap of each heap of server GC; one 0, the only heap, for workstation GC.
  std::vector<Address> get_gc_heaps() const;
  // Throws for 0 under server GC, and for anything else under workstation GC.
  GCHeapData get_heap_data(Address heap) const;
  GCOomData get_oom_data(Address heap) const;

  // Segments: gc_segments_1.cc.

  GCHeapSegmentData get_heap_segment_data(Address segment) const;
  // All segments of one heap, oldest generation first. Problems (a list that is cut short by missing memory or that
  // runs in a circle) end that list and are added to `problems`.
  std::vector<GCHeapSegmentInfo> enumerate_heap_segments(const GCHeapData &heap,
                                                         std::vector<std::string> &problems) const;
  // Rounds an object's size up to what it takes in the heap.
  static u64 align_object_size(u64 size, Format format, bool large) {
    return align_up(size, large ? 8 : format.pointer_size);
  }
  // Where the object behind the one at `address` begins, if there is one: behind the allocation context that begins
  // there, which holds no objects. `aligned_size` is that of the object at `address`; `contexts` those of all threads,
  // the global one and each heap's of gen0, in any order.
  static Address get_potential_next_object_address(Address address, u64 aligned_size, GCSegmentGeneration generation,
                                                   std::span<const AllocationContext> contexts, Format format);

  // Handles: gc_handles_1.cc. Problems (tables or segments that the dump lacks, lists that run in a circle) are added
  // to `problems`, and the rest is returned.

  // The kinds that this runtime's tables may hold. Those of features that it publishes as switched off are left out.
  std::vector<HandleType> get_supported_handle_types() const;
  // By number; numbers that are no kind are left out.
  static std::vector<HandleType> get_handle_types(std::span<const u32> types);
  // Every handle of these kinds whose object is not null, by table, segment, kind and place.
  std::vector<HandleData> get_handles(std::span<const HandleType> types, std::vector<std::string> &problems) const;
  // The second word of a handle; absent where its block has none, where the specification says 0.
  std::optional<u64> get_handle_extra_info(Address handle) const;
  // One per segment of a table; `heap` is the number of the table.
  std::vector<GCMemoryRegionData> get_handle_table_memory_regions(std::vector<std::string> &problems) const;

  // Memory without objects: gc_regions_1.cc.

  // Card tables with all that lies beside them (bricks, bundles, mark array, …): reserved bytes. Absent where the
  // runtime does not say.
  std::optional<std::vector<GCMemoryRegionData>>
  get_gc_bookkeeping_memory_regions(std::vector<std::string> &problems) const;
  // Regions and segments that are free: kept for later, or to be given back to the system. Committed bytes.
  std::vector<GCMemoryRegionData> get_gc_free_regions(std::vector<std::string> &problems) const;

private:
  Address global_pointer(const char *name, const char *what) const;
  std::optional<u64> try_global_pointer(const char *name) const;
  std::optional<std::vector<u64>> words_at(std::optional<Address> address, const char *length) const;
  std::optional<Address> find_heap_member(Address heap, const char *field) const;
  Address heap_member(Address heap, const char *field) const;
  void check_heap(Address heap) const;
  GCGenerationData read_generation(Address generation) const;
  std::vector<GCHeapSegmentData> segment_list(Address first, const std::string &list,
                                              std::vector<std::string> &problems) const;
  void add_ephemeral_segment(const GCHeapData &heap, const GCHeapSegmentData &segment,
                             std::vector<GCHeapSegmentInfo> &to) const;
  u32 handle_table_count() const;
  u32 handle_number(const char *global, u32 most) const;
  Address handle_segment_of(Address handle, u64 values, u64 bytes) const;
  void visit_handle_segments(const std::function<void(Address segment, u32 table)> &visit,
                             std::vector<std::string> &problems) const;
  void add_free_list(Address list, const GCMemoryRegionData &like, std::vector<GCMemoryRegionData> &to,
                     std::vector<std::string> &problems) const;
  void add_free_lists(Address first, const GCMemoryRegionData &like, std::vector<GCMemoryRegionData> &to,
                      std::vector<std::string> &problems) const;
  void add_free_segments(Address first, const GCMemoryRegionData &like, std::vector<GCMemoryRegionData> &to,
                         std::vector<std::string> &problems) const;

  const Memory *memory_;
  const ContractDescriptor *descriptor_;
};

} // namespace dnheap
