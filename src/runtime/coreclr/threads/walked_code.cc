#include "runtime/coreclr/threads/walked_code.h"

#include "runtime/compiled/unwind_arm64.h"
#include "runtime/compiled/unwind_x64.h"
#include "runtime/compiled/x86/unwind_x86.h"

namespace dnheap {

// The user can supply data from a module's file.
std::string WalkedCode::text_of(const ReadOutcome &outcome) const {
  const Module *module = target_.find_module(outcome.at); // at 0, nothing is missing
  return outcome.text() + (module ? "; --modules may name the folder of " + std::string(module->file_name()) : "");
}

WalkedCode::Known &WalkedCode::known(Address ip) {
  auto [it, is_new] = at_.try_emplace(ip);
  if (is_new)
    it->second.code = find_(ip); // if it throws, the next call tries again
  return it->second;
}

const CodeBlock *WalkedCode::find(Address ip) {
  const Known &found = known(ip);
  return found.code ? &*found.code : nullptr;
}

bool WalkedCode::is_return_address(Address ip) {
  const CodeBlock *code = find(ip);
  if (!code || is_x86())
    return code;
  const GcInfo info = gc_info(*code);
  return info.outcome().kind == ReadOutcome::Kind::missing || info.is_return_point(code->offset_of(ip));
}

GcInfo WalkedCode::gc_info(const CodeBlock &code) const {
  return {target_.memory, code.gc_info, *encoding_, code.gc_info_version};
}

ReadOutcome WalkedCode::leave(const CodeBlock &code, bool is_active, Registers &registers) const {
  if (is_x86())
    return unwind_x86(target_.memory, GcInfoX86(target_.memory, code.gc_info, code.gc_info_version),
                      code.offset_of(registers.ip), code.is_funclet, registers);
  const FunctionUnwind function{code.function_start, code.function_end, code.image_base, code.unwind_info};
  return convention_.architecture == Architecture::x64
             ? unwind_x64(target_.memory, function, convention_, is_active, registers)
             : unwind_arm64(target_.memory, function, convention_, registers);
}

const WalkedCode::Slots *WalkedCode::slots_at(const CodeBlock &code, const WalkPosition &at, Slots &scratch,
                                              ReadOutcome &outcome) {
  Known &kept = known(at.registers.ip);
  const bool is_usual = !at.is_active && !at.is_aborted && !at.is_unsafe_call;
  if (is_usual && kept.slots)
    return &*kept.slots;
  CodePoint point;
  point.offset = code.offset_of(at.registers.ip);
  point.active = at.is_active;
  point.aborted = at.is_aborted;
  point.filter = code.is_funclet && code.is_filter;
  if (is_x86()) {
    const GcInfoX86 info(target_.memory, code.gc_info, code.gc_info_version);
    outcome = info.outcome() ? info.live_slots(point, code.is_funclet, scratch.list) : info.outcome();
    scratch.base = convention_.frame_pointer;
  } else {
    const GcInfo info = gc_info(code);
    outcome = info.live_slots(point, scratch.list);
    if (outcome && point.offset > info.code_length())
      outcome = ReadOutcome::malformed("code behind a method's end");
    scratch.scratch_area = outcome ? info.scratch_area() : 0;
    scratch.base = outcome ? info.stack_base_register() : std::nullopt;
  }
  if (!outcome)
    return nullptr;
  if (!is_usual)
    return &scratch;
  kept.slots = std::move(scratch);
  return &*kept.slots;
}

} // namespace dnheap
