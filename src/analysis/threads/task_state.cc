#include "analysis/threads/task_state.h"

#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"

namespace dnheap {

std::optional<TaskStatus> task_status(const Runtime &runtime, Address object, Address method_table) {
  if (!BaseTypes(runtime).derives(method_table, "System.Threading.Tasks.Task"))
    return std::nullopt;
  const std::optional<u32> flags = FieldReader(runtime).number<u32>(object, "m_stateFlags");
  return flags ? std::optional(status_of(*flags)) : std::nullopt;
}

} // namespace dnheap
