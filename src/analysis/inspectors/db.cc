// `inspect db`: database connections of any library, and whether they are open.
#include "analysis/inspectors/inspector.h"
#include "analysis/shapes/resources.h"

#include <algorithm>

namespace dnheap {

namespace {

std::optional<u32> state_in(FieldReader &fields, const Runtime &runtime, Address object) {
  const std::vector<InstanceField> &all = runtime.fields().instance_fields(fields.type_of(object));
  const auto field = std::find_if(all.rbegin(), all.rend(), [](const InstanceField &one) {
    return one.type_name == "System.Data.ConnectionState" && one.count == 1;
  });
  if (field == all.rend())
    return std::nullopt;
  return fields.memory().try_load<u32>(object + field->offset);
}

} // namespace

// The state is in the connection itself or, for SqlClient and System.Data.Odbc, in the object that `_innerConnection`
// refers to.
std::optional<std::string> connection_state(FieldReader &fields, const Runtime &runtime, Address connection) {
  std::optional<u32> state = state_in(fields, runtime, connection);
  if (const Address inner = state ? 0 : fields.reference_or_null(connection, "_innerConnection"))
    state = state_in(fields, runtime, inner);
  if (!state)
    return std::nullopt;
  switch (*state) {
  case 0: return "closed";
  case 1: return "open";
  case 2: return "connecting";
  case 4:
  case 5: return "executing";
  case 8:
  case 9: return "fetching";
  case 16: return "broken";
  }
  return std::nullopt;
}

void inspect_db(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  constexpr ResourceKind kinds[] = {{"System.Data.Common.DbConnection", connection_state}};
  add_resources(snapshot, "db", kinds, answer);
}

} // namespace dnheap
