#include "analysis/shapes/context_allocators.h"

#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/typed_objects.h"

#include <algorithm>

namespace dnheap {

namespace {

// The native binder of a context has an ApplicationContext of some hundred bytes, the handle of the managed context,
// and the LoaderAllocator (src/coreclr/binder/inc/assemblybinder.h, customassemblybinder.h).
constexpr u64 binder_words = 128;

// Returns the managed LoaderAllocators by their native part.
std::unordered_map<Address, Address> allocators_by_native(const Snapshot &snapshot, FieldReader &fields) {
  std::unordered_map<Address, Address> out;
  for (const TypedObject &object : objects_called(snapshot, "System.Reflection.LoaderAllocator"))
    if (const Address native =
            fields.reference_or_null(fields.reference_or_null(object.address, "m_scout"), "m_nativeLoaderAllocator"))
      out.emplace(native, object.address);
  return out;
}

} // namespace

ContextAllocators::ContextAllocators(const Snapshot &snapshot, const std::vector<Address> &contexts) {
  if (contexts.empty())
    return;
  FieldReader fields(snapshot.runtime());
  const std::unordered_map<Address, Address> known = allocators_by_native(snapshot, fields);
  if (known.empty())
    return;
  for (Address context : contexts) {
    snapshot.watch().check();
    const Memory &memory = fields.memory();
    const Address native = fields.reference_or_null(context, "_nativeAssemblyLoadContext");
    bool leads_back = false;
    for (u64 i = 0; native && i < binder_words; ++i) {
      const std::optional<u64> word = memory.try_pointer(native + i * fields.pointer_size());
      if (!word)
        break;
      const Address object = *word ? memory.try_pointer(*word).value_or(0) : 0;
      leads_back = leads_back || object == context;
      if (object != context && std::binary_search(contexts.begin(), contexts.end(), object))
        break; // belongs to the next context
      if (const auto found = known.find(*word); found != known.end()) {
        if (leads_back)
          allocators_.emplace(context, Allocator{found->second, found->first});
        break;
      }
    }
  }
}

} // namespace dnheap
