#include "runtime/layout/coreclr/derive.h"

#include "runtime/layout/coreclr/alloc_bytes.h"
#include "runtime/layout/coreclr/assemblies.h"
#include "runtime/layout/coreclr/code.h"
#include "runtime/layout/coreclr/field_desc.h"
#include "runtime/layout/coreclr/frames.h"
#include "runtime/layout/coreclr/gc_bounds.h"
#include "runtime/layout/coreclr/method_table.h"
#include "runtime/layout/coreclr/sync_blocks.h"
#include "runtime/layout/coreclr/thread.h"
#include "runtime/layout/coreclr/thread_id.h"
#include "runtime/layout/coreclr/thread_parts.h"
#include "runtime/layout/gc_dac_vars.h"
#include "runtime/layout/gc_structures.h"
#include "runtime/layout/handle_table.h"
#include "runtime/layout/object.h"
#include "runtime/layout/unpublished.h"

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
  derive_frames(derivation, gc_variable);
  derive_thread_id(derivation, gc_variable);
  derive_alloc_bytes(derivation);
  derive_sync_blocks(derivation, gc_variable);
  derive_code(derivation);
  for (const char *contract : {"Object", "RuntimeTypeSystem", "Loader", "EcmaMetadata", "Thread"})
    if (out.contracts.try_emplace(contract, "c1").second)
      out.contract_origin[contract] = Origin::discovered;
  record_unpublished(out);
  return out;
}

} // namespace dnheap
