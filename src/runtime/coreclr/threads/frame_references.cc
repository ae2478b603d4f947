#include "runtime/coreclr/threads/frame_references.h"

#include "base/text.h"

namespace dnheap {

namespace {

constexpr u64 max_candidate_bytes = 1 << 20;

} // namespace

void FrameReferences::add_words(Address from, Address to, std::vector<StackReference> &references) const {
  const Address end = std::min(to, add_clamped(from, max_candidate_bytes));
  const u64 p = memory_.format().pointer_size;
  for (Address at = align_up(from, p); at + p <= end; at += p)
    if (const u64 value = memory_.try_pointer(at).value_or(0)) {
      StackReference candidate;
      candidate.slot = at;
      candidate.value = value;
      candidate.interior = true;
      candidate.certain = false;
      references.push_back(candidate);
    }
}

void FrameReferences::add_registers(const Registers &registers, std::vector<StackReference> &to) const {
  for (unsigned reg = 0; reg < convention_.register_count; ++reg) {
    StackReference candidate;
    candidate.value = reg == convention_.stack_pointer ? 0 : registers.get(reg).value_or(0);
    candidate.slot = registers.saved_at[reg];
    candidate.reg = static_cast<u8>(reg);
    candidate.interior = true;
    candidate.certain = false;
    if (candidate.value)
      to.push_back(candidate);
  }
}

// At a point where the GC would not have stopped a method, GC info does not list what is live: every register, and
// every slot that holds a reference at some other point, may hold one.
void FrameReferences::add_possible_slots(const GcInfo &info, const Registers &registers, StackFrame &frame) const {
  add_registers(registers, frame.references);
  std::vector<GcSlot> slots;
  if (!info.slots(slots))
    return;
  for (const GcSlot &slot : slots) {
    std::optional<u64> base;
    if (slot.base == GcSlot::Base::sp)
      base = sp(registers);
    else if (slot.base == GcSlot::Base::frame_register)
      base = registers.get(info.stack_base_register().value_or(0));
    StackReference candidate;
    candidate.slot = base.value_or(0) + static_cast<u64>(i64{slot.offset});
    candidate.value = base && slot.tracked ? memory_.try_pointer(candidate.slot).value_or(0) : 0;
    candidate.interior = true;
    candidate.certain = false;
    if (candidate.value)
      frame.references.push_back(candidate);
  }
}

ReadOutcome FrameReferences::add(const CodeBlock &code, const WalkPosition &at, Address caller_sp, StackFrame &frame) {
  WalkedCode::Slots scratch;
  ReadOutcome outcome;
  const WalkedCode::Slots *slots = code_.slots_at(code, at, scratch, outcome);
  if (outcome.kind == ReadOutcome::Kind::malformed)
    return outcome;
  if (!slots) // its callers are still known
    doubt_("GC info at " + hex(code.gc_info) + ": " + code_.text_of(outcome));
  for (const GcSlot &slot : slots ? slots->list : std::vector<GcSlot>())
    add_slot(slot, *slots, at, caller_sp, frame);
  if (slots && (at.is_active || at.is_unsafe_call) && !at.is_aborted && code_.is_x86()) {
    add_registers(at.registers, frame.references); // GC info for x86 is not asked whether the GC can stop there
  } else if (slots && (at.is_active || at.is_unsafe_call) && !at.is_aborted) {
    const GcInfo info = code_.gc_info(code);
    CodePoint point;
    point.offset = code.offset_of(at.registers.ip);
    point.active = at.is_active;
    if (at.is_unsafe_call || !info.tells(point))
      add_possible_slots(info, at.registers, frame);
  }
  frame.references.insert(frame.references.end(), passed_on_.begin(), passed_on_.end());
  passed_on_.clear();
  return {};
}

void FrameReferences::add_slot(const GcSlot &slot, const WalkedCode::Slots &of, const WalkPosition &at,
                               Address caller_sp, StackFrame &frame) const {
  StackReference out;
  out.interior = slot.interior;
  out.pinned = slot.pinned;
  out.tracked = slot.tracked;
  if (slot.base == GcSlot::Base::none) {
    if (!at.is_active && !(convention_.may_hold_objects >> slot.reg & 1))
      return; // a call changes this register
    const std::optional<u64> value = at.registers.get(slot.reg);
    if (!value) {
      if (!registers_are_candidates_)
        doubt_("a register that holds a reference is unknown");
      return;
    }
    out.value = *value;
    out.slot = at.registers.saved_at[slot.reg];
    out.reg = slot.reg;
  } else {
    std::optional<u64> base = caller_sp;
    if (slot.base == GcSlot::Base::sp)
      base = sp(at.registers);
    else if (slot.base == GcSlot::Base::frame_register)
      base = of.base ? at.registers.get(*of.base) : std::nullopt;
    if (!base)
      return doubt_("the frame register is unknown");
    out.slot = *base + static_cast<u64>(i64{slot.offset});
    if (!at.is_active && slot.tracked && out.slot >= sp(at.registers) && out.slot - sp(at.registers) < of.scratch_area)
      return; // an argument: it belongs to the callee
    const std::optional<u64> value = memory_.try_pointer(out.slot);
    if (!value)
      return doubt_("memory at " + hex(out.slot) + " is not in this dump");
    out.value = *value;
  }
  if (out.value)
    frame.references.push_back(out);
}

u64 FrameReferences::room_for_arguments(const CodeBlock &caller, const WalkPosition &at) const {
  constexpr u64 usual_arguments = 32; // bytes: callees remove their arguments, and their size is unknown
  if (code_.is_x86())
    return usual_arguments;
  const GcInfo info = code_.gc_info(caller);
  Registers parent = at.registers;
  std::vector<GcSlot> slots;
  if (info.scratch_area() || !info.slots(slots))
    return info.outcome() ? info.scratch_area() : 0;
  if (const ReadOutcome outcome = code_.leave(caller, at.is_active, parent); !outcome) {
    doubt_(code_.text_of(outcome));
    return info.outcome() ? info.scratch_area() : 0;
  }
  const Address parent_sp = parent.value[convention_.stack_pointer];
  Address end = parent_sp;
  for (const GcSlot &slot : slots) {
    std::optional<u64> base;
    if (slot.base == GcSlot::Base::sp)
      base = sp(at.registers);
    else if (slot.base == GcSlot::Base::caller_sp)
      base = parent_sp;
    else if (slot.base == GcSlot::Base::frame_register)
      base = at.registers.get(info.stack_base_register().value_or(0));
    const Address place = base.value_or(0) + static_cast<u64>(i64{slot.offset});
    if (base && place >= sp(at.registers))
      end = std::min(end, place);
  }
  return end > sp(at.registers) ? end - sp(at.registers) : 0;
}

void FrameReferences::add_candidates(const FrameCaller &caller, StackFrame &frame) {
  registers_are_candidates_ = caller.candidates_to != 0;
  frame.references.insert(frame.references.end(), caller.candidates.begin(), caller.candidates.end());
  add_words(caller.candidates_from, caller.candidates_to, frame.references);
}

void FrameReferences::pass_on(const Registers &callee, const Registers &caller) {
  add_registers(callee, passed_on_);
  add_words(sp(callee), sp(caller), passed_on_);
}

} // namespace dnheap
