// Gc: the GC contract's functions, whatever its version: one class per version implements them (gc/gc_1.h), chosen by
// what the target publishes. Spec: dotnet/runtime docs/design/datacontracts/GC.md; where the spec is wrong, the code
// does what the runtime does, and a comment says so. doc/contracts.md maps each API to its function and test. Functions
// read the target at each call; lists are capped, and cycles are detected. They throw Error when something needed is
// unreadable, and may be called from any thread.
#pragma once
#include "base/notes.h"
#include "contract/descriptor.h"
#include "runtime/facts/gc_data.h"
#include "runtime/facts/handle_data.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dnheap {

class Gc {
public:
  virtual ~Gc() = default;

  // The whole GC.

  // "workstation" or "server", "regions" or "segments", perhaps "background", "dynamic_heap".
  virtual std::vector<std::string> get_gc_identifiers() const = 0;
  virtual bool has_identifier(std::string_view identifier) const = 0;
  bool is_server() const { return has_identifier("server"); }
  bool has_regions() const { return has_identifier("regions"); }
  // 1 to 4,096. Throws when the identifiers name neither kind of GC.
  virtual u32 get_gc_heap_count() const = 0;
  // False while a collection changes the structures: results of the other functions may then be partly wrong.
  virtual bool get_gc_structures_valid() const = 0;
  virtual u32 get_max_generation() const = 0; // 2
  // The lowest and highest address that the GC manages, as the VM's write barrier knows them.
  virtual std::optional<std::pair<Address, Address>> get_gc_bounds() const = 0;
  // c_gc_state of background GC, see gc_state_name(); absent without background GC (the specification returns 0 then).
  virtual std::optional<u32> get_current_gc_state() const = 0;
  // Absent without "dynamic_heap". The specification's older name is TryGetDynamicAdaptationMode.
  virtual std::optional<i32> try_get_gc_dynamic_adaptation_mode() const = 0;
  // Counters in the order of global_mechanism_name(): how many collections used each.
  virtual std::optional<std::vector<u64>> get_global_mechanisms() const = 0;
  // The allocation context of threads that have none of their own.
  virtual std::optional<AllocationContext> get_global_allocation_context() const = 0;

  // Heaps.

  // Returns the addresses of server GC's gc_heaps; for workstation GC a single 0, which stands for its only heap.
  virtual std::vector<Address> get_gc_heaps() const = 0;
  // `heap`: one of get_gc_heaps(). Throws for 0 under server GC, and for anything but 0 under workstation GC.
  virtual GCHeapData get_heap_data(Address heap) const = 0;
  virtual GCOomData get_oom_data(Address heap) const = 0;

  // Segments.

  virtual GCHeapSegmentData get_heap_segment_data(Address segment) const = 0;
  // Returns all segments of one heap, oldest generation first. A list that is cut short by missing memory, or has a
  // cycle, ends there, and the problem is added to `notes`.
  virtual std::vector<GCHeapSegmentInfo> enumerate_heap_segments(const GCHeapData &heap, Notes &notes) const = 0;
  // Rounds an object's size up to the bytes that it takes in the heap.
  static u64 align_object_size(u64 size, Format format, bool large) {
    return align_up(size, large ? 8 : format.pointer_size);
  }
  // Returns where the object after the one at `address` begins, if there is one: an allocation context that begins
  // there holds no objects and is skipped. `aligned_size` is the size of the object at `address`; `contexts` are those
  // of all threads, the global one and each heap's for gen0, in any order.
  static Address get_potential_next_object_address(Address address, u64 aligned_size, GCSegmentGeneration generation,
                                                   std::span<const AllocationContext> contexts, Format format);

  // Handles. Problems (tables or segments that are not in the dump, lists with a cycle) are added to `notes`; the
  // rest is returned.

  // The kinds of handles that this runtime's tables may hold. Kinds of features that it publishes as switched off are
  // left out.
  virtual std::vector<HandleType> get_supported_handle_types() const = 0;
  // Maps numbers to kinds; unknown numbers are left out.
  static std::vector<HandleType> get_handle_types(std::span<const u32> types);
  // Returns every handle of these kinds whose object is not null, by table, segment, kind and position.
  virtual std::vector<HandleData> get_handles(std::span<const HandleType> types, Notes &notes) const = 0;
  // Returns the second word of a handle; absent if its block has none (the specification returns 0 then).
  virtual std::optional<u64> get_handle_extra_info(Address handle) const = 0;
  // Returns one region per segment of a handle table; its `heap` is the number of the table.
  virtual std::vector<GCMemoryRegionData> get_handle_table_memory_regions(Notes &notes) const = 0;

  // Memory without objects.

  // Returns the card tables with all that is allocated together with them (bricks, bundles, mark array, …), in reserved
  // bytes. Absent if the runtime does not publish them.
  virtual std::optional<std::vector<GCMemoryRegionData>> get_gc_bookkeeping_memory_regions(Notes &notes) const = 0;
  // Returns the free regions and segments, in committed bytes: the GC keeps them for later, or is about to give them
  // back to the system.
  virtual std::vector<GCMemoryRegionData> get_gc_free_regions(Notes &notes) const = 0;

protected:
  Gc() = default;
  Gc(const Gc &) = default;
  Gc &operator=(const Gc &) = default;
};

// The reader for one version of the contract. Memory and descriptor must outlive the Gc that is made.
struct GcReader {
  std::string version; // as descriptors write it: "c1"
  std::unique_ptr<Gc> (*make)(const Memory &memory, const ContractDescriptor &descriptor);
};

// Returns dnheap's own readers, the oldest first.
std::span<const GcReader> gc_readers();
// Returns a reader for the version that the descriptor publishes, from dnheap's own and `more`; the newest of dnheap's
// own if none is published. Throws Error if there is no reader for that version.
std::unique_ptr<Gc> make_gc(const Memory &memory, const ContractDescriptor &descriptor, std::span<const GcReader> more);

} // namespace dnheap
