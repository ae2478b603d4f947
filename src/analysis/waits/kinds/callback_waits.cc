#include "analysis/waits/kinds/callback_waits.h"

#include "analysis/shapes/typed_objects.h"
#include "analysis/threads/thread_text.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr const char *callbacks_of_token = "System.Threading.CancellationTokenSource+Registrations",
                     *timers = "System.Threading.TimerQueueTimer";
constexpr std::string_view methods_of_timers = "System.Threading.TimerQueueTimer.";

class CallbackWaitFinder {
public:
  CallbackWaitFinder(const Snapshot &snapshot, const LockSet &locks)
      : snapshot_(snapshot), runtime_(snapshot.runtime()), locks_(locks), fields_(runtime_) {}

  CallbackWaits find() {
    const std::map<Address, Address> signals = signals_of_timers();
    for (u32 thread = 0; thread < locks_.threads.size(); ++thread) {
      snapshot_.watch().check();
      if (locks_.threads[thread].os_id.value_or(0) == 0)
        continue;
      const WalkedStack stack = runtime_.walk_stack(locks_.threads[thread]);
      add_of_token(thread, stack);
      if (!signals.empty())
        add_of_timer(thread, stack, signals);
    }
    return std::move(out_);
  }

private:
  // Returns what timers are to signal when their callbacks have ended, by timer.
  std::map<Address, Address> signals_of_timers() {
    std::map<Address, Address> out;
    for (const TypedObject &timer : objects_called(snapshot_, timers))
      if (const Address signal = fields_.reference_or_null(timer.address, "_notifyWhenNoCallbacksRunning"))
        if (fields_.number<u32>(timer.address, "_callbacksRunning").value_or(0))
          out.emplace(timer.address, signal);
    return out;
  }

  // The waiting method holds the object that lists the callbacks.
  void add_of_token(u32 thread, const WalkedStack &stack) {
    if (waits_for(runtime_, stack).text != wait_for_callback)
      return;
    for (const StackFrame &frame : stack.frames)
      for (const StackReference &reference : frame.references)
        if (!reference.interior && is_called(reference.value, callbacks_of_token))
          if (const std::optional<u32> id = fields_.number<u32>(reference.value, "ThreadIDExecutingCallbacks"))
            if (const std::optional<u32> runs = locks_.thread_with_managed_id(*id); runs && runs != thread) {
              out_.by_token.emplace(thread, *runs);
              out_.tokens.emplace(thread, reference.value);
              return;
            }
  }

  void add_of_timer(u32 thread, const WalkedStack &stack, const std::map<Address, Address> &signals) {
    for (const StackFrame &frame : stack.frames) {
      if (!frame.method_desc || frame.is_unwound ||
          !runtime_.method_text(frame.method_desc).qualified.starts_with(methods_of_timers))
        continue;
      for (const StackReference &reference : frame.references)
        if (auto signal = signals.find(reference.value); signal != signals.end() && !reference.interior)
          out_.signals_of_timers.emplace(signal->second, thread);
    }
  }

  bool is_called(Address object, std::string_view name) {
    const Address type = fields_.type_of(object);
    return type && runtime_.types().object_layout(type) && runtime_.types().name(type) == name;
  }

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  const LockSet &locks_;
  FieldReader fields_;
  CallbackWaits out_;
};

} // namespace

CallbackWaits find_callback_waits(const Snapshot &snapshot, const LockSet &locks) {
  return CallbackWaitFinder(snapshot, locks).find();
}

bool runs_timer(const Runtime &runtime, const WalkedStack &stack) {
  return std::ranges::any_of(stack.frames, [&](const StackFrame &frame) {
    return frame.method_desc && !frame.is_unwound &&
           runtime.method_text(frame.method_desc).qualified.starts_with(methods_of_timers);
  });
}

} // namespace dnheap
