#include "runtime/gc.h"

#include "base/text.h"
#include "runtime/gc/gc_1.h"

namespace dnheap {

namespace {

template <class Reader> std::unique_ptr<Gc> make(const Memory &memory, const ContractDescriptor &descriptor) {
  return std::make_unique<Reader>(memory, descriptor);
}

} // namespace

// The specification skips an allocation context only behind an object; this walk skips contexts wherever they lie, also
// at a segment's start.
Address Gc::get_potential_next_object_address(Address address, u64 aligned_size, GCSegmentGeneration generation,
                                              std::span<const AllocationContext> contexts, Format format) {
  Address next = add_clamped(address, aligned_size);
  if (generation != GCSegmentGeneration::gen0)
    return next;
  for (const AllocationContext &context : contexts)
    if (context.pointer == next)
      return add_clamped(context.limit, align_object_size(3 * u64{format.pointer_size}, format, false));
  return next;
}

std::vector<HandleType> Gc::get_handle_types(std::span<const u32> types) {
  std::vector<HandleType> out;
  for (u32 type : types)
    if (type < handle_type_count)
      out.push_back(static_cast<HandleType>(type));
  return out;
}

// A new version needs a file in gc/ and a row here.
std::span<const GcReader> gc_readers() {
  static const GcReader readers[] = {{"c1", make<Gc1>}};
  return readers;
}

std::unique_ptr<Gc> make_gc(const Memory &memory, const ContractDescriptor &descriptor,
                            std::span<const GcReader> more) {
  const auto published = descriptor.contracts.find("GC");
  if (published == descriptor.contracts.end())
    return gc_readers().back().make(memory, descriptor);
  for (std::span<const GcReader> readers : {gc_readers(), more})
    for (const GcReader &reader : readers)
      if (reader.version == published->second)
        return reader.make(memory, descriptor);
  throw Error("the contract GC is of version " + printable(published->second, 100) + ", for which there is no reader");
}

} // namespace dnheap
