#include "runtime/layout/derive.h"

#include "runtime/layout/assemblies.h"
#include "runtime/layout/field_desc.h"
#include "runtime/layout/gc_bounds.h"
#include "runtime/layout/gc_dac_vars.h"
#include "runtime/layout/gc_structures.h"
#include "runtime/layout/handle_table.h"
#include "runtime/layout/method_table.h"
#include "runtime/layout/thread.h"
#include "runtime/layout/thread_parts.h"

namespace dnheap {

namespace {

// Where an object's MethodTable, and an array's or string's length, lie has never changed: the first words.
void derive_object(Derivation &d) {
  i64 p = static_cast<i64>(d.pointer_size);
  struct Known {
    const char *type, *field;
    i64 offset;
  };
  for (const Known &k : {Known{"Object", "m_pMethTab", 0},
                         {"Array", "m_NumComponents", p},
                         {"String", "m_StringLength", p},
                         {"String", "m_FirstChar", p + 4},
                         {"DynamicMetadata", "Size", 0},
                         {"DynamicMetadata", "Data", 4}})
    if (d.descriptor.try_offset(k.type, k.field).value_or(k.offset) != k.offset)
      throw Error(std::string("this runtime publishes ") + k.type + "." + k.field + " at offset " +
                  std::to_string(d.descriptor.offset(k.type, k.field)) +
                  "; this program can only walk heaps in which it is at " + std::to_string(k.offset));
    else if (!d.descriptor.find_field(k.type, k.field))
      d.descriptor.set_field(k.type, k.field, k.offset, Origin::discovered);
}

} // namespace

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
  derive_object(derivation);
  derive_method_table(derivation);
  derive_field_desc(derivation);
  derive_thread(derivation, gc_variable);
  derive_assemblies(derivation, gc_variable);
  derive_thread_parts(derivation);
  for (const char *contract : {"Object", "RuntimeTypeSystem", "Loader", "EcmaMetadata", "Thread"})
    if (out.contracts.try_emplace(contract, "c1").second)
      out.contract_origin[contract] = Origin::discovered;
  return out;
}

} // namespace dnheap
