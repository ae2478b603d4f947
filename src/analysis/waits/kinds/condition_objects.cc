#include "analysis/waits/kinds/condition_objects.h"

#include "analysis/shapes/field_reader.h"
#include "runtime/gc.h"

#include <vector>

namespace dnheap {

void add_condition_objects(const Runtime &runtime, WaitTargets &to) {
  if (runtime.kind() != std::string_view("nativeaot"))
    return;
  FieldReader fields(runtime);
  Notes ignored; // the verb that lists handles reports them
  for (const HandleData &one : runtime.gc().get_handles(std::vector{HandleType::dependent}, ignored))
    if (one.secondary && one.object && to.is_condition(*one.secondary)) {
      to.add(*one.secondary);
      if (const Address lock = fields.reference_or_null(*one.secondary, "_lock"))
        to.add_monitor(lock, one.object);
    }
}

} // namespace dnheap
