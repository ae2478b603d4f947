#include "analysis/waits/kinds/handle_waits.h"

#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/threads/thread_text.h"

#include <map>

namespace dnheap {

namespace {

constexpr const char *handle_type = "Microsoft.Win32.SafeHandles.SafeWaitHandle";
constexpr const char *words_of_handles = "a wait handle"; // a text of waits_for()

// Maps SafeWaitHandles to their WaitHandles, or to 0 if several WaitHandles share one.
std::map<Address, Address> objects_by_handle(const Snapshot &snapshot) {
  const BaseTypes bases(snapshot.runtime());
  FieldReader fields(snapshot.runtime());
  std::map<Address, Address> out;
  for (const TypedObject &object :
       objects_that(snapshot, [&](Address mt) { return bases.derives(mt, "System.Threading.WaitHandle"); }))
    if (const Address handle = fields.reference_or_null(object.address, "_waitHandle"))
      if (auto [known, is_new] = out.try_emplace(handle, object.address); !is_new)
        known->second = 0;
  return out;
}

} // namespace

std::vector<HandleWait> find_handle_waits(const Snapshot &snapshot, const std::vector<ThreadData> &threads) {
  const Runtime &runtime = snapshot.runtime();
  const BaseTypes bases(runtime);
  std::map<u32, Address> handles; // by thread
  for (u32 thread = 0; thread < threads.size(); ++thread) {
    snapshot.watch().check();
    if (threads[thread].os_id.value_or(0) == 0)
      continue;
    const WalkedStack stack = runtime.walk_stack(threads[thread]);
    const WaitText wait = waits_for(runtime, stack);
    if (wait.text != words_of_handles)
      continue;
    for (u64 i = 0; i < wait.frames; ++i)
      for (const StackReference &reference : stack.frames[i].references)
        if (const Address type = reference.interior ? 0 : method_table_of(runtime.memory(), reference.value);
            type && runtime.types().object_layout(type) && bases.derives(type, handle_type))
          handles.try_emplace(thread, reference.value);
  }
  std::vector<HandleWait> out;
  if (handles.empty())
    return out;
  const std::map<Address, Address> objects = objects_by_handle(snapshot);
  for (auto [thread, handle] : handles)
    if (auto object = objects.find(handle); object != objects.end() && object->second)
      out.push_back({thread, object->second,
                     bases.derives(method_table_of(runtime.memory(), object->second), "System.Threading.Mutex")});
  return out;
}

} // namespace dnheap
