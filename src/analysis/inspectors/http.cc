// `inspect http`: HTTP clients, their handlers, connection pools, and connections.
#include "analysis/inspectors/inspector.h"
#include "analysis/shapes/resources.h"

namespace dnheap {

namespace {

u64 start_of_connection(FieldReader &fields, Address connection) {
  return fields.number<u64>(connection, "_creationTickCount").value_or(0);
}

} // namespace

void inspect_http(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  constexpr ResourceKind kinds[] = {{"System.Net.Http.HttpMessageInvoker", disposed_state},
                                    {"System.Net.Http.HttpMessageHandler", nullptr},
                                    {"System.Net.Http.HttpConnectionPool", nullptr},
                                    {"System.Net.Http.HttpConnectionBase", nullptr, start_of_connection}};
  add_resources(snapshot, "http", kinds, answer);
}

} // namespace dnheap
