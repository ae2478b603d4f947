// CoreClrStatics: every static field and thread static of CoreCLR that refers to an object, by type and field name: the
// list that StaticRoot (static_root.h) describes. Visits every loaded type, and names those with such fields: some 10
// ms for a small application. In .NET 9 and later, a type's statics are found by its MethodTable's auxiliary data, in
// 8.0 by its module; the descriptor shows which. Nothing is kept. Not for several threads at once. Sources:
// dotnet/runtime src/coreclr/vm/methodtable.h, threadstatics.h; of 8.0: appdomain.hpp, threadstatics.h.
#pragma once
#include "base/notes.h"
#include "runtime/coreclr/threads/thread_1.h"
#include "runtime/coreclr/types/field_descs.h"
#include "runtime/coreclr/types/loaded_types.h"
#include "runtime/facts/static_root.h"
#include "runtime/gc.h"

#include <span>

namespace dnheap {

class CoreClrStatics {
public:
  CoreClrStatics(const Memory &memory, const ContractDescriptor &descriptor, RuntimeTypeSystem1 &types,
                 const FieldDescs &fields, const Gc &gc)
      : memory_(&memory), descriptor_(&descriptor), types_(&types), fields_(&fields), gc_(&gc),
        p_(memory.format().pointer_size) {}

  // Returns the static fields and thread statics by slot.
  std::vector<StaticRoot> static_roots(std::span<const ThreadData> threads, Notes &notes) const;

private:
  const Memory *memory_;
  const ContractDescriptor *descriptor_;
  RuntimeTypeSystem1 *types_;
  const FieldDescs *fields_;
  const Gc *gc_;
  const u64 p_;
};

} // namespace dnheap
