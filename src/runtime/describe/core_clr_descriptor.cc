#include "runtime/describe/core_clr_descriptor.h"

#include "runtime/coreclr/threads/thread_1.h"
#include "runtime/coreclr/types/loaded_types.h"
#include "runtime/layout/coreclr/alloc_bytes.h"
#include "runtime/layout/coreclr/assemblies.h"
#include "runtime/layout/coreclr/code.h"
#include "runtime/layout/coreclr/field_desc.h"
#include "runtime/layout/coreclr/frames.h"
#include "runtime/layout/coreclr/gc_bounds.h"
#include "runtime/layout/coreclr/loaded_modules.h"
#include "runtime/layout/coreclr/method_table.h"
#include "runtime/layout/coreclr/sync_blocks.h"
#include "runtime/layout/coreclr/thread.h"
#include "runtime/layout/coreclr/thread_id.h"
#include "runtime/layout/coreclr/thread_parts.h"
#include "runtime/layout/coreclr/thread_state.h"
#include "runtime/layout/gc_dac_vars.h"
#include "runtime/layout/gc_structures.h"
#include "runtime/layout/handle_table.h"
#include "runtime/layout/object.h"
#include "runtime/layout/renamed.h"
#include "runtime/layout/unpublished.h"
#include "runtime/thread_registers.h"

namespace dnheap {

namespace {

void derive_modules(Derivation &derivation) {
  const Target &target = derivation.target;
  const ContractDescriptor &descriptor = derivation.descriptor;
  std::vector<Address> modules;
  try {
    Loader1 loader(target, descriptor);
    RuntimeTypeSystem1 types(target.memory, descriptor, loader);
    Notes ignored; // callers that read the modules get these notes themselves
    modules = LoadedTypes(target.memory, descriptor, types).modules(ignored);
  } catch (const Error &) {
  }
  Loader1 loader(target, descriptor);
  derive_loaded_modules(derivation, modules, [&](Address module) { return loader.metadata(module); });
}

// Returns all threads that the runtime lists.
std::vector<ThreadData> threads_of(const Target &target, const Thread1 &thread, ContractDescriptor &descriptor) {
  Notes ignored; // callers that read the threads get these notes themselves
  try {
    std::vector<ThreadData> out = thread.get_threads(ignored);
    widen_first_stack(target, out);
    return out;
  } catch (const Error &e) {
    if (descriptor.try_number("ThreadStore") && descriptor.find_field("Thread", "LinkNext") &&
        descriptor.find_field("ThreadStore", "FirstThreadLink"))
      descriptor.missing["Thread.CachedStackBase"] = e.what();
    return {};
  }
}

std::vector<ContextInUse> contexts_of(const Thread1 &thread, const std::vector<ThreadData> &threads) {
  std::vector<ContextInUse> out;
  for (const ThreadData &data : threads)
    if (const AllocationContext &c = data.allocation_context; c.pointer && c.pointer <= c.limit)
      out.push_back({thread.find_context(data.address), c.limit - c.pointer});
  return out;
}

// Call it as a search (Memory::as_searched): it scans stacks, which hold the program's own values.
void derive_thread_layout(Derivation &derivation, const Target &target, Address gc_variable) {
  ContractDescriptor &out = derivation.descriptor;
  const Thread1 thread(target.memory, out);
  const std::vector<ThreadData> threads = threads_of(target, thread, out);
  derive_thread_parts(derivation, threads);
  derive_frames(derivation, threads_of(target, thread, out), gc_variable); // these threads now have their stack bounds
  derive_thread_id(derivation, threads, gc_variable);
  derive_alloc_bytes(derivation, contexts_of(thread, threads));
  derive_thread_state(derivation, threads);
}

} // namespace

ContractDescriptor derive_descriptor(const Target &target, const Module &runtime, ContractDescriptor published,
                                     std::span<const ShippedTable> tables, std::span<const GcReader> gc_readers) {
  ContractDescriptor out = std::move(published);
  enter_renamed(out);
  Derivation derivation(target, runtime, out, tables);
  // A runtime that describes its GC itself (.NET 11) may have no GcDacVars.
  const bool has_gc = out.contracts.contains("GC");
  const Address gc_variable = has_gc ? 0 : derive_gc(derivation);
  const std::unique_ptr<Gc> gc = make_gc(target.memory, out, gc_readers);
  if (!has_gc) {
    derive_gc_structures(derivation, *gc);
    derive_handle_table(derivation, *gc);
    derive_gc_bounds(derivation, gc_variable);
  }
  derive_object(out, derivation.pointer_size);
  set_unchanging(out, "DynamicMetadata", "Size", 0);
  set_unchanging(out, "DynamicMetadata", "Data", 4);
  derive_method_table(derivation);
  derive_field_desc(derivation);
  target.memory.as_searched([&] { derive_thread(derivation, *gc, gc_variable); });
  if (derive_assemblies(derivation, gc_variable))
    derive_modules(derivation);
  target.memory.as_searched([&] { derive_thread_layout(derivation, target, gc_variable); });
  derive_sync_blocks(derivation, gc_variable);
  derive_code(derivation);
  for (const char *contract : {"Object", "RuntimeTypeSystem", "Loader", "EcmaMetadata", "Thread"})
    if (out.contracts.try_emplace(contract, "c1").second)
      out.contract_origin[contract] = Origin::discovered;
  record_unpublished(out);
  return out;
}

} // namespace dnheap
