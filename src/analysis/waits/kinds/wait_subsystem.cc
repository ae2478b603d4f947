#include "analysis/waits/kinds/wait_subsystem.h"

#include "analysis/shapes/collections/linked_nodes.h"
#include "analysis/threads/thread_objects.h"

namespace dnheap {

namespace {

constexpr u64 most_waited = 64;       // WaitHandle.MaxWaitHandles
constexpr u64 most_waiters = 1 << 20; // of one object
constexpr u8 not_waiting = 2;         // WaitSignalState: a smaller one waits; a larger one was signalled and has yet to
                                      // run
constexpr u32 is_closed = 1;          // a bit of SafeHandle._state
constexpr u8 last_kind = static_cast<u8>(WaitableObject::Kind::mutex);

} // namespace

WaitSubsystem::WaitSubsystem(const Runtime &runtime, std::span<const ThreadData> threads)
    : runtime_(runtime), fields_(runtime), thread_objects_(threads_by_object(runtime, threads)) {
  objects_.resize(threads.size());
  for (const auto &[object, thread] : thread_objects_) {
    objects_[thread] = object;
    const Address type = fields_.type_of(object);
    is_known_ |= type && runtime.types().object_layout(type) && fields_.offset(type, "_waitInfo");
  }
}

std::optional<u32> WaitSubsystem::thread_of(Address object) const {
  auto found = thread_objects_.find(object);
  return found != thread_objects_.end() ? std::optional(found->second) : std::nullopt;
}

// Returns the info that names this thread as its own; 0: the thread has never waited.
Address WaitSubsystem::wait_info_of(Address thread_object) {
  const Address info = fields_.reference_or_null(thread_object, "_waitInfo");
  return info && fields_.reference_or_null(info, "_thread") == thread_object ? info : 0;
}

std::optional<ManagedWait> WaitSubsystem::wait_of(u32 thread) {
  if (!is_known_ || thread >= objects_.size() || !objects_[thread])
    return std::nullopt;
  const Address info = wait_info_of(objects_[thread]);
  if (!info || fields_.number<u8>(info, "_waitSignalState").value_or(not_waiting) >= not_waiting)
    return std::nullopt;
  const std::optional<u32> count = fields_.number<u32>(info, "_waitedCount");
  if (!count || *count > most_waited)
    return std::nullopt;
  ManagedWait out;
  out.is_for_all = fields_.number<u8>(info, "_isWaitForAll").value_or(0) != 0;
  if (*count)
    out.objects = fields_.elements(fields_.reference_or_null(info, "_waitedObjects"), *count);
  if (out.objects.size() != *count)
    return std::nullopt;
  for (Address object : out.objects)
    if (!read(object))
      return std::nullopt;
  return out;
}

std::optional<WaitableObject> WaitSubsystem::read(Address waitable) {
  const Address type = fields_.type_of(waitable);
  if (!type || !runtime_.types().object_layout(type) || !fields_.offset(type, "_waitersHead"))
    return std::nullopt;
  const std::optional<u8> kind = fields_.number<u8>(waitable, "_type");
  const std::optional<u32> signals = fields_.number<u32>(waitable, "_signalCount"),
                           most = fields_.number<u32>(waitable, "_maximumSignalCount");
  if (!kind || *kind > last_kind || !signals || !most || *signals > *most)
    return std::nullopt;
  WaitableObject out;
  out.kind = static_cast<WaitableObject::Kind>(*kind);
  out.signals = *signals;
  out.most_signals = *most;
  if (const Address info = fields_.reference_or_null(waitable, "_ownershipInfo");
      info && out.kind == WaitableObject::Kind::mutex) {
    const Address owner = fields_.reference_or_null(info, "_thread");
    out.is_owned = owner != 0;
    out.owner = thread_of(owner);
    out.times = owner ? 1 + u64{fields_.number<u32>(info, "_reacquireCount").value_or(0)} : 0;
    out.is_abandoned = fields_.number<u8>(info, "_isAbandoned").value_or(0) != 0;
  }
  out.waiting = waiting_for(waitable);
  return out;
}

std::vector<u32> WaitSubsystem::waiting_for(Address waitable) {
  std::vector<u32> out;
  for (Address node : linked_nodes(fields_, fields_.reference_or_null(waitable, "_waitersHead"), "_next", most_waiters))
    if (const Address info = fields_.reference_or_null(node, "_waitInfo"))
      if (const std::optional<u32> thread = thread_of(fields_.reference_or_null(info, "_thread")))
        out.push_back(*thread);
  return out;
}

// The handle is a GC handle: the address of a word that holds the object. The word of a closed handle may belong to
// another one by now, or to none.
Address WaitSubsystem::behind(Address wait_handle) {
  const Address safe_handle = fields_.reference_or_null(wait_handle, "_waitHandle");
  if (fields_.number<u32>(safe_handle, "_state").value_or(0) & is_closed)
    return 0;
  const std::optional<u64> at = safe_handle ? fields_.offset(fields_.type_of(safe_handle), "handle") : std::nullopt;
  const u64 handle = at ? fields_.memory().try_pointer(safe_handle + *at).value_or(0) : 0;
  if (!handle || handle % fields_.pointer_size())
    return 0;
  return fields_.memory().try_pointer(handle).value_or(0);
}

std::optional<WaitableObject> WaitSubsystem::read_named_mutex(Address object) {
  const Address data =
      fields_.reference_or_null(fields_.reference_or_null(object, "_processDataHeader"), "_processData");
  const std::optional<Address> owner = data ? fields_.reference(data, "_lockOwnerThread") : std::nullopt;
  if (!owner)
    return std::nullopt;
  WaitableObject out;
  out.kind = WaitableObject::Kind::mutex;
  out.is_owned = *owner != 0;
  out.owner = thread_of(*owner);
  out.times = *owner ? fields_.number<u32>(data, "_lockCount").value_or(0) : 0;
  return out;
}

} // namespace dnheap
