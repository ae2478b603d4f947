// `inspect sockets`, `inspect safehandles`: sockets, and other resources of the operating system.
#include "analysis/inspectors/safe_handles.h"

#include "analysis/inspectors/inspector.h"
#include "analysis/shapes/resources.h"

namespace dnheap {

namespace {

std::optional<std::string> socket_state(FieldReader &fields, const Runtime &runtime, Address object) {
  const std::optional<std::string> disposed = disposed_state(fields, runtime, object);
  const std::optional<u8> connected = fields.number<u8>(object, "_isConnected"),
                          listening = fields.number<u8>(object, "_isListening");
  if (!disposed || !connected || !listening)
    return std::nullopt;
  return *disposed == "disposed" ? "disposed" : *listening ? "listening" : *connected ? "connected" : "open";
}

} // namespace

// The two lowest bits are closed and disposed; above them is a count of uses.
std::optional<std::string> safe_handle_state(FieldReader &fields, const Runtime &, Address object) {
  const std::optional<u32> state = fields.number<u32>(object, "_state");
  const std::optional<Address> handle = fields.reference(object, "handle");
  if (!state || !handle)
    return std::nullopt;
  const Address all_ones = fields.pointer_size() == 8 ? ~u64{0} : 0xffffffff;
  return *state & 1 ? "closed" : *handle == 0 || *handle == all_ones ? "none" : "open";
}

void inspect_sockets(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  constexpr ResourceKind kinds[] = {{"System.Net.Sockets.Socket", socket_state}};
  add_resources(snapshot, "sockets", kinds, answer);
}

void inspect_safe_handles(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  constexpr ResourceKind kinds[] = {{"System.Runtime.InteropServices.SafeHandle", safe_handle_state}};
  add_resources(snapshot, "safehandles", kinds, answer);
}

} // namespace dnheap
