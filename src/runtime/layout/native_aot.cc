#include "runtime/layout/native_aot.h"

#include "base/text.h"
#include "runtime/layout/derivation.h"
#include "runtime/layout/gc_dac_vars.h"
#include "runtime/layout/gc_structures.h"
#include "runtime/layout/handle_table.h"

namespace dnheap {

namespace {

struct Translation {
  const char *header_name;
  const char *type, *field;
};

// GcDacVars.*, dac_gc_heap.* and every SIZEOF are not here: see describe_native_aot(). Threads are linked to one
// another themselves, not by a link inside: hence names that CoreCLR does not have.
constexpr Translation translations[] = {
    {"gc_alloc_context.alloc_ptr", "GCAllocContext", "Pointer"},
    {"gc_alloc_context.alloc_limit", "GCAllocContext", "Limit"},
    {"gc_alloc_context.alloc_bytes", "GCAllocContext", "AllocBytes"},
    {"gc_alloc_context.alloc_bytes_uoh", "GCAllocContext", "AllocBytesLoh"},
    {"ee_alloc_context.m_rgbAllocContextBuffer", "EEAllocContext", "GCAllocationContext"},
    {"dac_generation.allocation_context", "Generation", "AllocationContext"},
    {"dac_generation.start_segment", "Generation", "StartSegment"},
    {"dac_heap_segment.allocated", "HeapSegment", "Allocated"},
    {"dac_heap_segment.committed", "HeapSegment", "Committed"},
    {"dac_heap_segment.reserved", "HeapSegment", "Reserved"},
    {"dac_heap_segment.used", "HeapSegment", "Used"},
    {"dac_heap_segment.mem", "HeapSegment", "Mem"},
    {"dac_heap_segment.flags", "HeapSegment", "Flags"},
    {"dac_heap_segment.next", "HeapSegment", "Next"},
    {"dac_heap_segment.background_allocated", "HeapSegment", "BackgroundAllocated"},
    {"ThreadStore.m_ThreadList", "ThreadStore", "FirstThread"},
    {"ThreadBuffer.m_pNext", "Thread", "Next"},
    {"ThreadBuffer.m_rgbAllocContextBuffer", "Thread", "AllocContext"},
    {"ThreadBuffer.m_threadId", "Thread", "OSId"},
    {"ThreadBuffer.m_pExInfoStackHead", "Thread", "ExceptionTracker"},
    {"RuntimeThreadLocals.m_pNext", "Thread", "Next"},
    {"RuntimeThreadLocals.m_rgbAllocContextBuffer", "Thread", "AllocContext"},
    {"RuntimeThreadLocals.m_eeAllocContext", "Thread", "AllocContext"},
    {"RuntimeThreadLocals.m_threadId", "Thread", "OSId"},
    {"RuntimeThreadLocals.m_pExInfoStackHead", "Thread", "ExceptionTracker"},
    {"ExInfo.m_pPrevExInfo", "ExceptionInfo", "PreviousNestedInfo"},
    {"ExInfo.m_exception", "ExceptionInfo", "ThrownObject"},
    {"MethodTable.m_uFlags", "MethodTable", "Flags"},
    {"MethodTable.m_uBaseSize", "MethodTable", "BaseSize"},
    {"MethodTable.m_pRelatedParameterType", "MethodTable", "RelatedType"},
    {"MethodTable.m_VTable", "MethodTable", "VTable"},
};

u64 require(const std::optional<u64> &value, const char *name, const Module &module) {
  if (!value)
    throw Error(std::string("the debug header of ") + module.path + " does not say " + name);
  return *value;
}

// Compiled code relies on these, as under CoreCLR.
void add_object(ContractDescriptor &to, i64 p) {
  to.set_field("Object", "m_pMethTab", 0, Origin::discovered);
  to.set_field("Array", "m_NumComponents", p, Origin::discovered);
  to.set_field("String", "m_StringLength", p, Origin::discovered);
  to.set_field("String", "m_FirstChar", p + 4, Origin::discovered);
  to.contracts.emplace("Object", "c1");
  to.contract_origin.emplace("Object", Origin::discovered);
}

// u16 NumVtableSlots, NumInterfaces; u32 HashCode: directly before the virtual methods in every version.
void add_method_table(ContractDescriptor &to, const DebugHeader &header) {
  i64 methods = to.offset("MethodTable", "VTable");
  to.set_field("MethodTable", "NumVtableSlots", methods - 8, Origin::discovered);
  to.set_field("MethodTable", "NumInterfaces", methods - 6, Origin::discovered);
  to.set_field("MethodTable", "HashCode", methods - 4, Origin::discovered);
  // 8.0 has this bit elsewhere, and optional fields where it is since.
  bool optional_fields = header.place.major <= 3;
  to.set_number("MethodTableHasPointersFlag", optional_fields ? 0x00200000 : 0x01000000, false, Origin::discovered);
  to.set_number("MethodTableHasOptionalFieldsFlag", optional_fields ? 0x01000000 : 0, false, Origin::discovered);
  // Where the definition of a generic type says how many parameters it has: as its component size, or its base size.
  to.set_field("MethodTable", "GenericArity", to.offset("MethodTable", optional_fields ? "Flags" : "BaseSize"),
               Origin::discovered);
  to.set_number("MethodTableGenericArityMask", optional_fields ? 0xffff : 0xffffffff, false, Origin::discovered);
}

} // namespace

ContractDescriptor describe_native_aot(const Target &target, const Module &module, const DebugHeader &header) {
  ContractDescriptor out;
  const DebugHeaderPlace &place = header.place;
  out.found_by = (place.header ? "debug header " + std::to_string(place.major) + "." + std::to_string(place.minor)
                               : "debug header (lost)") +
                 ", " + place.how;
  for (const Translation &t : translations)
    if (std::optional<u32> offset = header.offset(t.header_name))
      out.set_field(t.type, t.field, *offset, Origin::published);

  const Address vars = require(header.global("g_gcDacGlobals"), "where GcDacVars lies (g_gcDacGlobals)", module);
  Derivation derivation(target, module, out, {});
  derive_gc_at(derivation, vars, vars + header.offset("GcDacVars.SIZEOF").value_or(0));
  derive_gc_structures(derivation);
  derive_handle_table(derivation);

  const Address instance = require(header.global("g_pTheRuntimeInstance"), "where the runtime's instance lies", module);
  out.set_number("ThreadStore", instance + header.offset("RuntimeInstance.m_pThreadStore").value_or(0), true,
                 Origin::published);
  out.set_number("FreeObjectMethodTable",
                 require(header.global("g_pFreeObjectEEType"), "which type Free objects have", module), false,
                 Origin::published);
  if (std::optional<u32> size = header.offset("Globals.MinObjectSize"))
    out.set_number("MinObjectSize", *size, false, Origin::published);
  add_object(out, target.format().pointer_size);
  add_method_table(out, header);
  for (const char *contract : {"RuntimeTypeSystem", "Thread"}) {
    out.contracts[contract] = "n1";
    out.contract_origin[contract] = Origin::published;
  }
  return out;
}

} // namespace dnheap
