#include "runtime/layout/derive.h"

#include "runtime/layout/alloc_bytes.h"
#include "runtime/layout/assemblies.h"
#include "runtime/layout/field_desc.h"
#include "runtime/layout/gc_bounds.h"
#include "runtime/layout/gc_dac_vars.h"
#include "runtime/layout/gc_structures.h"
#include "runtime/layout/handle_table.h"
#include "runtime/layout/method_table.h"
#include "runtime/layout/object.h"
#include "runtime/layout/sync_blocks.h"
#include "runtime/layout/thread.h"
#include "runtime/layout/thread_id.h"
#include "runtime/layout/thread_parts.h"

namespace dnheap {

ContractDescriptor derive_descriptor(const Target &target, const Module &runtime, ContractDescriptor published,
                                     std::span<const ShippedTable> tables) {
  ContractDescriptor out = std::move(published);
  Derivation derivation(target, runtime, out, tables);
  // A runtime that describes its GC itself (.NET 11) may have no GcDacVars.
  Address gc_variable = 0;
  if (!out.contracts.contains("GC")) {
    gc_variable = derive_gc(derivation);
    derive_gc_structures(derivation);
    derive_handle_table(derivation);
    derive_gc_bounds(derivation, gc_variable);
  }
  derive_object(out, derivation.pointer_size);
  set_unchanging(out, "DynamicMetadata", "Size", 0);
  set_unchanging(out, "DynamicMetadata", "Data", 4);
  derive_method_table(derivation);
  derive_field_desc(derivation);
  derive_thread(derivation, gc_variable);
  derive_assemblies(derivation, gc_variable);
  derive_thread_parts(derivation);
  derive_thread_id(derivation, gc_variable);
  derive_alloc_bytes(derivation);
  derive_sync_blocks(derivation, gc_variable);
  for (const char *contract : {"Object", "RuntimeTypeSystem", "Loader", "EcmaMetadata", "Thread"})
    if (out.contracts.try_emplace(contract, "c1").second)
      out.contract_origin[contract] = Origin::discovered;
  record_unpublished(out);
  return out;
}

void record_unpublished(ContractDescriptor &d) {
  auto origin = d.contract_origin.find("GC");
  if (origin == d.contract_origin.end() || origin->second != Origin::published)
    return;
  const Global *identifiers = d.find_global("GCIdentifiers");
  const bool server = identifiers && identifiers->text.find("server") != std::string::npos;
  for (const std::string &name :
       {std::string("CFinalize.FillPointers"), std::string("CFinalizeFillPointersLength"),
        std::string("HeapSegment.BackgroundAllocated"), std::string("GCLowestAddress"), std::string("GCHighestAddress"),
        std::string("GCAllocContext.AllocBytes"), std::string("GCAllocContext.AllocBytesLoh"),
        std::string(server ? "GCHeap.FinalizeQueue" : "GCHeapFinalizeQueue")}) {
    const std::size_t dot = name.find('.');
    if (dot == name.npos ? !d.find_global(name) : !d.find_field(name.substr(0, dot), name.substr(dot + 1)))
      d.missing.try_emplace(name, "the target does not publish it");
  }
}

void leave_out(ContractDescriptor &descriptor, std::span<const std::string> values) {
  for (const std::string &value : values) {
    const std::size_t dot = value.rfind('.');
    if (auto type = descriptor.types.find(value.substr(0, dot)); dot != value.npos && type != descriptor.types.end())
      type->second.fields.erase(value.substr(dot + 1));
    descriptor.globals.erase(value);
    descriptor.missing[value] = "left out";
  }
}

} // namespace dnheap
