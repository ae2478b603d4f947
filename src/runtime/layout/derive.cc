#include "runtime/layout/derive.h"

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
  derive_sync_blocks(derivation, gc_variable);
  for (const char *contract : {"Object", "RuntimeTypeSystem", "Loader", "EcmaMetadata", "Thread"})
    if (out.contracts.try_emplace(contract, "c1").second)
      out.contract_origin[contract] = Origin::discovered;
  return out;
}

} // namespace dnheap
