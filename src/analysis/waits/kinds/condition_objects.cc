#include "analysis/waits/kinds/condition_objects.h"

#include "analysis/shapes/dependent_handles.h"
#include "analysis/shapes/field_reader.h"

namespace dnheap {

void add_condition_objects(const Runtime &runtime, WaitTargets &to) {
  if (runtime.kind() != std::string_view("nativeaot"))
    return;
  FieldReader fields(runtime);
  for (const HandleData &one : dependent_handles(runtime))
    if (one.object && to.is_condition(*one.secondary)) {
      to.add(*one.secondary);
      if (const Address lock = fields.reference_or_null(*one.secondary, "_lock"))
        to.add_monitor(lock, one.object);
    }
}

} // namespace dnheap
