#include "runtime/compiled/native_frames.h"

namespace dnheap {

ReadOutcome NativeFrames::leave(bool is_exact, Registers &registers) {
  const CallFrame *rules = nullptr;
  const ReadOutcome outcome = rules_at(registers.ip - !is_exact, rules);
  return outcome ? leave_call_frame(target_.memory, *rules, convention_, registers) : outcome;
}

// `at`: inside the call, which may be the last instruction of its function, or the last that its rules cover.
ReadOutcome NativeFrames::rules_at(Address at, const CallFrame *&to) {
  if (auto known = rules_.find(at); known != rules_.end()) {
    to = &known->second;
    return {};
  }
  const Module *module = target_.find_module(at);
  if (!module)
    return ReadOutcome::malformed("code that is in no module");
  auto [known, is_new] = modules_.try_emplace(module->base);
  if (is_new)
    known->second.outcome = EhFrame::open(target_.memory, module->base, known->second.frames);
  if (!known->second.frames)
    return known->second.outcome;
  FunctionFrame function;
  CallFrame frame;
  ReadOutcome outcome = known->second.frames->find(at, function);
  if (outcome)
    outcome = read_call_frame(function, at, target_.memory.format(), frame);
  if (outcome)
    to = &rules_.emplace(at, std::move(frame)).first->second;
  return outcome;
}

} // namespace dnheap
