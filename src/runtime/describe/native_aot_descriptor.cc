#include "runtime/describe/native_aot_descriptor.h"

#include "base/text.h"
#include "runtime/layout/derivation.h"
#include "runtime/layout/gc_dac_vars.h"
#include "runtime/layout/gc_structures.h"
#include "runtime/layout/handle_table.h"
#include "runtime/layout/nativeaot/thread_statics.h"
#include "runtime/layout/object.h"
#include "runtime/nativeaot/thread_n1.h"

namespace dnheap {

namespace {

struct Translation {
  const char *header_name;
  const char *type, *field;
};

// Maps the header's names to those that newer runtimes publish. GcDacVars.*, dac_gc_heap.* and every SIZEOF are not
// here: see describe_native_aot().
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
    {"ThreadStore.m_ThreadList", "ThreadStore", "FirstThreadLink"},
    {"ThreadBuffer.m_pNext", "Thread", "LinkNext"},
    {"ThreadBuffer.m_rgbAllocContextBuffer", "Thread", "AllocContext"},
    {"ThreadBuffer.m_threadId", "Thread", "OSId"},
    {"ThreadBuffer.m_pExInfoStackHead", "Thread", "ExceptionTracker"},
    {"RuntimeThreadLocals.m_pNext", "Thread", "LinkNext"},
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
    throw Error(std::string("the debug header of ") + module.path + " does not show " + name);
  return *value;
}

void add_field(ContractDescriptor &to, const char *type, const char *field, i64 offset) {
  if (!to.find_field(type, field))
    to.set_field(type, field, offset, Origin::discovered);
}

void add_number(ContractDescriptor &to, const char *name, u64 number) {
  if (!to.find_global(name))
    to.set_number(name, number, false, Origin::discovered);
}

// u16 NumVtableSlots, NumInterfaces; u32 HashCode: directly before the virtual methods in every version.
// `optional_fields`: the runtime has them, as .NET 8 does.
void add_method_table(ContractDescriptor &to, bool optional_fields) {
  i64 methods = to.offset("MethodTable", "VTable");
  add_field(to, "MethodTable", "NumVtableSlots", methods - 8);
  add_field(to, "MethodTable", "NumInterfaces", methods - 6);
  add_field(to, "MethodTable", "HashCode", methods - 4);
  // In 8.0 another bit is this flag, and the bit that later versions use for it means that a type has optional fields.
  add_number(to, "MethodTableHasPointersFlag", optional_fields ? 0x00200000 : 0x01000000);
  add_number(to, "MethodTableHasOptionalFieldsFlag", optional_fields ? 0x01000000 : 0);
  // The definition of a generic type has its number of parameters in place of its component size, or of its base size.
  add_field(to, "MethodTable", "GenericArity", to.offset("MethodTable", optional_fields ? "Flags" : "BaseSize"));
  add_number(to, "MethodTableGenericArityMask", optional_fields ? 0xffff : 0xffffffff);
}

// Adds the header's values on other subjects than the GC, unless there is a better source.
void add_header(ContractDescriptor &to, const Module &module, const DebugHeader &header) {
  for (const Translation &t : translations)
    if (std::optional<u32> offset = header.offset(t.header_name); offset && !to.find_field(t.type, t.field))
      to.set_field(t.type, t.field, *offset, Origin::published);
  if (!to.find_global("ThreadStore")) {
    Address instance = require(header.global("g_pTheRuntimeInstance"), "where the runtime's instance lies", module);
    to.set_number("ThreadStore", instance + header.offset("RuntimeInstance.m_pThreadStore").value_or(0), true,
                  Origin::published);
  }
  if (!to.find_global("FreeObjectMethodTable"))
    to.set_number("FreeObjectMethodTable",
                  require(header.global("g_pFreeObjectEEType"), "which type Free objects have", module), false,
                  Origin::published);
  if (std::optional<u32> size = header.offset("Globals.MinObjectSize"); size && !to.find_global("MinObjectSize"))
    to.set_number("MinObjectSize", *size, false, Origin::published);
}

std::string found_by(const DebugHeaderPlace &place) {
  return (place.header ? "debug header " + std::to_string(place.major) + "." + std::to_string(place.minor)
                       : "debug header (lost)") +
         ", " + place.how;
}

// NativeAOT's Thread.OSId has 64 bits, even if pointers have 32; compact descriptors leave out types.
void add_types(ContractDescriptor &to) {
  if (auto thread = to.types.find("Thread"); thread != to.types.end())
    if (auto id = thread->second.fields.find("OSId"); id != thread->second.fields.end() && id->second.type.empty())
      id->second.type = "uint64";
}

void derive_native_gc(Derivation &derivation, const DebugHeader *header, const Module &module) {
  ContractDescriptor &out = derivation.descriptor;
  if (out.contracts.contains("GC"))
    return;
  if (header) {
    const Address vars = require(header->global("g_gcDacGlobals"), "where GcDacVars lies (g_gcDacGlobals)", module);
    derive_gc_at(derivation, vars, vars + header->offset("GcDacVars.SIZEOF").value_or(0));
  } else {
    derive_gc(derivation);
  }
  const std::unique_ptr<Gc> gc = make_gc(derivation.memory, out, {});
  derive_gc_structures(derivation, *gc);
  derive_handle_table(derivation, *gc);
}

} // namespace

bool is_native_aot(const ContractDescriptor &descriptor) {
  auto version = descriptor.contracts.find("RuntimeTypeSystem");
  return version != descriptor.contracts.end() && version->second != "c1";
}

ContractDescriptor describe_native_aot(const Target &target, const Module &module, ContractDescriptor published,
                                       const DebugHeader *header) {
  ContractDescriptor out = std::move(published);
  add_types(out);
  const bool has_descriptor = is_native_aot(out);
  if (header) {
    add_header(out, module, *header);
    if (!has_descriptor)
      out.found_by = found_by(header->place);
  }
  Derivation derivation(target, module, out, {});
  derive_native_gc(derivation, header, module);
  derive_object(out, target.format().pointer_size);
  add_method_table(out, header && !has_descriptor && header->place.major <= 3);
  std::optional<u64> thread_size;
  for (const char *name : {"ThreadBuffer.SIZEOF", "RuntimeThreadLocals.SIZEOF"})
    if (std::optional<u32> size = header && !has_descriptor ? header->offset(name) : std::nullopt)
      thread_size = *size;
  try {
    Notes ignored; // callers that read the threads get these notes themselves
    const std::vector<ThreadData> threads = ThreadN1(target.memory, out).get_threads(ignored);
    target.memory.as_searched([&] { derive_thread_statics(derivation, threads, thread_size); });
  } catch (const Error &) { // there is no list
  }
  for (const char *contract : {"RuntimeTypeSystem", "Thread"}) {
    std::string &version = out.contracts[contract];
    if (version.empty() || version == "c1001") // the first builds' name for n1
      version = "n1";
    out.contract_origin[contract] = Origin::published;
  }
  if (out.contracts.try_emplace("Object", "c1").second)
    out.contract_origin["Object"] = Origin::discovered;
  return out;
}

} // namespace dnheap
