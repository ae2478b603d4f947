// `inspect http`: HTTP clients, their handlers, connection pools, and connections.
#include "analysis/inspectors/inspector.h"
#include "analysis/shapes/resources.h"

namespace dnheap {

void inspect_http(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  constexpr ResourceKind kinds[] = {{"System.Net.Http.HttpMessageInvoker", disposed_state},
                                    {"System.Net.Http.HttpMessageHandler", nullptr},
                                    {"System.Net.Http.HttpConnectionPool", nullptr},
                                    {"System.Net.Http.HttpConnectionBase", nullptr}};
  add_resources(snapshot, "http", kinds, answer);
}

} // namespace dnheap
