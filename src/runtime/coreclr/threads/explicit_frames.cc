#include "runtime/coreclr/threads/explicit_frames.h"

#include "base/text.h"

namespace dnheap {

namespace {

constexpr u64 max_places = 4096; // limit of places that one Frame protects
constexpr u64 max_protected = 1 << 16;

struct NamedRegister {
  Architecture architecture;
  const char *name;
  u8 number;
};
constexpr NamedRegister named_registers[] = {
    {Architecture::x64, "rbx", 3},    {Architecture::x64, "rbp", 5},    {Architecture::x64, "rsi", 6},
    {Architecture::x64, "rdi", 7},    {Architecture::x64, "r12", 12},   {Architecture::x64, "r13", 13},
    {Architecture::x64, "r14", 14},   {Architecture::x64, "r15", 15},   {Architecture::arm64, "x19", 19},
    {Architecture::arm64, "x20", 20}, {Architecture::arm64, "x21", 21}, {Architecture::arm64, "x22", 22},
    {Architecture::arm64, "x23", 23}, {Architecture::arm64, "x24", 24}, {Architecture::arm64, "x25", 25},
    {Architecture::arm64, "x26", 26}, {Architecture::arm64, "x27", 27}, {Architecture::arm64, "x28", 28},
    {Architecture::arm64, "fp", 29},  {Architecture::x86, "ebx", 3},    {Architecture::x86, "ebp", 5},
    {Architecture::x86, "esi", 6},    {Architecture::x86, "edi", 7},
};

} // namespace

ExplicitFrames::ExplicitFrames(const Target &target, const ContractDescriptor &d)
    : target_(&target), memory_(&target.memory), convention_(calling_convention(target.architecture, target.os)),
      p_(target.format().pointer_size), end_of_frames_(p_ == 8 ? ~u64{0} : ~u32{0}),
      layout_(frame_layout(target.architecture)), is_windows_(target.os == OperatingSystem::windows) {
  auto offset = [&](const char *type, const char *field, u64 otherwise) {
    std::optional<i64> found = d.try_offset(type, field);
    return found ? static_cast<u64>(*found) : otherwise;
  };
  for (const FrameKind &kind : frame_kinds())
    if (std::optional<u64> identifier = d.try_number(kind.identifier()))
      kinds_[*identifier] = kind;
  const std::optional<i64> head = d.try_offset("Thread", "Frame");
  if (!convention_ || !layout_ || (p_ == 4) != (target.architecture == Architecture::x86))
    why_not_ = "stacks of this processor are not understood";
  else if (!head)
    why_not_ = "the place of the threads' lists of Frames is unknown";
  head_ = static_cast<u64>(head.value_or(0));
  next_ = offset("Frame", "Next", p_);
  call_sp_ = offset("InlinedCallFrame", "CallSiteSP", 3 * p_);
  call_return_ = offset("InlinedCallFrame", "CallerReturnAddress", call_sp_ + p_);
  call_frame_pointer_ = offset("InlinedCallFrame", "CalleeSavedFP", call_sp_ + 2 * p_);
  call_method_ = offset("InlinedCallFrame", "Datum", 2 * p_);
  block_ = offset("FramedMethodFrame", "TransitionBlockPtr", 2 * p_);
  method_ = offset("FramedMethodFrame", "MethodDescPtr", 3 * p_);
  software_context_ = offset("SoftwareExceptionFrame", "TargetContext", layout_ ? layout_->software_context : 0);
  faulting_context_ = offset("FaultingExceptionFrame", "TargetContext", layout_ ? layout_->faulting_context : 0);
  resumable_context_ = offset("ResumableFrame", "TargetContextPtr", 2 * p_);
  hijack_return_ = offset("HijackFrame", "ReturnAddress", 2 * p_);
  hijack_args_ = offset("HijackFrame", "HijackArgsPtr", 4 * p_);
  if (convention_)
    resolve_transition(d);
  if (std::optional<i64> list = d.try_offset("Thread", "GCFrame"))
    protected_ = static_cast<u64>(*list);
  protected_next_ = offset("GCFrame", "Next", 0);
  protected_places_ = offset("GCFrame", "ObjRefs", 2 * p_);
  protected_count_ = offset("GCFrame", "NumObjRefs", 3 * p_);
  protected_flags_ = offset("GCFrame", "GCFlags", 3 * p_ + 4);
}

// If the target does not publish a value, the value of .NET 8 to 10 is used, which is the same in all three.
void ExplicitFrames::resolve_transition(const ContractDescriptor &d) {
  TransitionLayout &t = transition_;
  if (convention_->architecture == Architecture::x86) { // offsets behind ecx and edx
    t = {0, 8, 8, 24, 28, {{7, 0}, {6, 4}, {3, 8}, {5, 12}}};
  } else if (convention_->architecture == Architecture::arm64) {
    t = {104, 72, 0, 8, 176, {{29, 0}}};
    for (u8 i = 0; i < 10; ++i)
      t.registers.push_back({static_cast<u8>(19 + i), static_cast<u16>(16 + 8 * i)});
  } else if (is_windows_) {
    t = {72, 32, 0, 64, 72, {{7, 0}, {6, 8}, {3, 16}, {5, 24}, {12, 32}, {13, 40}, {14, 48}, {15, 56}}};
  } else {
    t = {0, 48, 48, 96, 104, {{12, 0}, {13, 8}, {14, 16}, {15, 24}, {3, 32}, {5, 40}}};
  }
  const DataType *block = d.find_type("TransitionBlock"), *saved = d.find_type("CalleeSavedRegisters");
  if (!block || !block->size || !saved)
    return;
  t.size = *block->size;
  t.return_address = static_cast<u64>(d.try_offset("TransitionBlock", "ReturnAddress").value_or(i64(t.return_address)));
  t.saved = static_cast<u64>(d.try_offset("TransitionBlock", "CalleeSavedRegisters").value_or(i64(t.saved)));
  std::vector<Saved> registers;
  for (const auto &[name, field] : saved->fields)
    for (const NamedRegister &known : named_registers)
      if (known.architecture == convention_->architecture && lower_case(name) == known.name)
        registers.push_back({known.number, static_cast<u16>(field.offset)});
  if (!registers.empty())
    t.registers = std::move(registers);
}

std::optional<Address> ExplicitFrames::first(Address thread) const {
  std::optional<u64> frame = word(thread + head_);
  return frame == end_of_frames_ ? std::optional<Address>(0) : frame;
}

std::optional<ExplicitFrame> ExplicitFrames::at(Address frame) const {
  const std::optional<u64> identifier = word(frame), next = word(frame + next_);
  if (!identifier || !next || frame % p_)
    return std::nullopt;
  auto kind = kinds_.find(*identifier);
  if (kind == kinds_.end())
    return std::nullopt;
  return ExplicitFrame{frame, *next == end_of_frames_ ? 0 : *next, kind->second};
}

ReadOutcome ExplicitFrames::from_context(Address context, FrameCaller &to) const {
  for (u8 i = 0; i < convention_->register_count; ++i) {
    const Address place = context + layout_->register_at(i);
    const std::optional<u64> value = word(place);
    if (!value)
      return ReadOutcome::missing(place);
    to.registers.set(i, *value, place);
  }
  const std::optional<u64> ip = word(context + layout_->ip_at);
  if (!ip)
    return ReadOutcome::missing(context + layout_->ip_at);
  to.registers.ip = *ip;
  to.is_told = true;
  return {};
}

// The registers that the throwing method saved lie further up the stack: the GC writes the new addresses of moved
// objects there, while the CONTEXT keeps the old ones.
void ExplicitFrames::follow_context_pointers(const ExplicitFrame &frame, Registers &to) const {
  if (software_context_ != layout_->software_context)
    return;
  for (const Saved &saved : transition_.registers)
    if (const u64 place =
            word(frame.address + layout_->pointers_at + 8 * u64(saved.reg - layout_->first_pointed)).value_or(0))
      if (const std::optional<u64> value = word(place))
        to.set(saved.reg, *value, place);
}

ReadOutcome ExplicitFrames::from_block(Address block, FrameCaller &to) const {
  const std::optional<u64> ip = word(block + transition_.return_address);
  if (!ip)
    return ReadOutcome::missing(block + transition_.return_address);
  for (const Saved &saved : transition_.registers) {
    const Address place = block + transition_.saved + saved.offset;
    const std::optional<u64> value = word(place);
    if (!value)
      return ReadOutcome::missing(place);
    to.registers.set(saved.reg, *value, place);
  }
  to.registers.ip = *ip;
  to.registers.set(convention_->stack_pointer, block + transition_.size);
  to.is_told = true;
  return {};
}

// Reads the Frame of a thread that the runtime stopped in this way: a method returned into the runtime instead of its
// caller. The Frame points at {returned values, of which there are one to three; callee-saved registers; on Windows the
// stack pointer; the return address, which the Frame has as well}.
ReadOutcome ExplicitFrames::from_hijack(const ExplicitFrame &frame, FrameCaller &to) const {
  const std::optional<u64> ip = word(frame.address + hijack_return_), args = word(frame.address + hijack_args_);
  if (!ip || !args)
    return ReadOutcome::missing(frame.address + hijack_return_);
  if (convention_->architecture != Architecture::x64)
    return ReadOutcome::malformed("a HijackFrame of this processor is not understood");
  const u64 behind = 8 * transition_.registers.size() + (is_windows_ ? 8 : 0);
  Address saved = 0;
  for (u64 values = 1; values <= 3 && !saved; ++values)
    if (word(*args + 8 * values + behind) == ip)
      saved = *args + 8 * values;
  if (!saved)
    return ReadOutcome::malformed("a HijackFrame whose return address does not follow the registers that it points at");
  // Returned values: in rax; on other systems than Windows also in rdx; since .NET 10 a Continuation in rcx.
  constexpr u8 of_unix[] = {0, 2, 1}, of_windows[] = {0, 1};
  const std::span<const u8> returned = is_windows_ ? std::span<const u8>(of_windows) : of_unix;
  for (u64 i = 0; *args + 8 * i < saved && i < returned.size(); ++i)
    if (const std::optional<u64> value = word(*args + 8 * i))
      to.registers.set(returned[i], *value, *args + 8 * i);
  for (const Saved &reg : transition_.registers) {
    const std::optional<u64> value = word(saved + reg.offset);
    if (!value)
      return ReadOutcome::missing(saved + reg.offset);
    to.registers.set(reg.reg, *value, saved + reg.offset);
  }
  const Address end = saved + behind;
  to.registers.ip = *ip;
  to.registers.set(convention_->stack_pointer, is_windows_ ? word(end - 8).value_or(0) : end + 8);
  to.is_told = true;
  return {};
}

ReadOutcome ExplicitFrames::caller(const ExplicitFrame &frame, Address stack_end, const Code &code,
                                   FrameCaller &to) const {
  FrameCaller found;
  ReadOutcome outcome;
  auto through = [&](u64 offset, auto read) {
    const std::optional<u64> at = word(frame.address + offset);
    return at ? read(*at) : ReadOutcome::missing(frame.address + offset);
  };
  auto context = [&](Address at) { return from_context(at, found); };
  switch (frame.kind.shape) {
  case FrameShape::none: break;
  case FrameShape::inlined_call: {
    const std::optional<u64> ip = word(frame.address + call_return_), sp = word(frame.address + call_sp_),
                             fp = word(frame.address + call_frame_pointer_);
    if (!ip || !sp || !fp)
      return ReadOutcome::missing(frame.address + call_sp_);
    if (*ip == 0) // no call is in progress
      break;
    found.registers.ip = *ip;
    found.registers.set(convention_->stack_pointer, *sp);
    found.registers.set(convention_->frame_pointer, *fp, frame.address + call_frame_pointer_);
    found.is_told = true;
    break;
  }
  case FrameShape::transition: outcome = through(block_, [&](Address at) { return from_block(at, found); }); break;
  case FrameShape::software_exception:
    outcome = context(frame.address + software_context_);
    if (outcome)
      follow_context_pointers(frame, found.registers);
    break;
  case FrameShape::faulting_exception: outcome = context(frame.address + faulting_context_); break;
  case FrameShape::resumable: outcome = through(resumable_context_, context); break;
  case FrameShape::hijack: outcome = from_hijack(frame, found); break;
  case FrameShape::helper_method: outcome = from_helper_method(frame, stack_end, code, found); break;
  }
  if (outcome)
    to = std::move(found);
  return outcome;
}

Address ExplicitFrames::method_desc(const ExplicitFrame &frame) const {
  switch (frame.kind.shape) {
  case FrameShape::inlined_call: {
    const u64 method = word(frame.address + call_method_).value_or(0);
    return method & 1 || word(frame.address + call_return_).value_or(0) == 0 ? 0 : method;
  }
  case FrameShape::transition: return word(frame.address + method_).value_or(0);
  case FrameShape::helper_method: // stale until the runtime has looked the method up
    return is_caller_known(frame) ? word(frame.address + method_).value_or(0) : 0;
  default: return 0;
  }
}

bool ExplicitFrames::caller_is_aborted(const ExplicitFrame &frame) const {
  constexpr u32 throws = 1; // FRAME_ATTR_EXCEPTION
  return frame.kind.caller_is_aborted() || (frame.kind.shape == FrameShape::helper_method &&
                                            memory_->try_load<u32>(frame.address + 16).value_or(0) & throws);
}

void ExplicitFrames::reference(Address place, bool interior, std::vector<StackReference> &to) const {
  StackReference out;
  out.slot = place;
  out.interior = interior;
  out.value = word(place).value_or(0);
  if (out.value)
    to.push_back(out);
}

void ExplicitFrames::references(const ExplicitFrame &frame, std::vector<StackReference> &to) const {
  if (!frame.kind.protected_places)
    return;
  const Address behind = frame.address + helper_method_layout().end;
  if (frame.kind.protected_places == FrameKind::all) {
    const Address places = word(behind).value_or(0);
    const u64 count = std::min<u64>(memory_->try_load<u32>(behind + 8).value_or(0), max_places);
    for (u64 i = 0; i < count; ++i)
      reference(places + 8 * i, false, to);
    return;
  }
  for (u64 i = 0; i < frame.kind.protected_places; ++i)
    if (const u64 place = word(behind + 8 * i).value_or(0))
      reference(place & ~u64{1}, place & 1, to);
}

void ExplicitFrames::words(Address from, Address end, std::vector<StackReference> &to) const {
  for (Address at = from; at < end; at += p_)
    if (const u64 value = word(at).value_or(0)) {
      StackReference candidate;
      candidate.slot = at;
      candidate.value = value;
      candidate.interior = true;
      candidate.certain = false;
      to.push_back(candidate);
    }
}

void ExplicitFrames::arguments(const ExplicitFrame &frame, u64 on_stack, std::vector<StackReference> &to) const {
  if (frame.kind.shape != FrameShape::transition)
    return;
  constexpr u64 most = 1 << 20;
  const Address block = word(frame.address + block_).value_or(0);
  if (!block)
    return;
  const TransitionLayout &t = transition_;
  words(block + t.arguments, block + t.arguments + t.arguments_size, to);
  const u64 passed = t.arguments >= t.size ? t.arguments - t.size + t.arguments_size : 0; // these were added above
  if (on_stack > passed)
    words(block + t.size + passed, block + t.size + std::min(on_stack, most), to);
}

// GCFrame {next, thread, places, u32 count, u32 interior}; no target publishes the offset of `thread`.
ReadOutcome ExplicitFrames::protected_references(Address thread, Address stack_limit, Address stack_base,
                                                 std::vector<StackReference> &to) const {
  if (!protected_)
    return {};
  std::optional<u64> frame = word(thread + *protected_);
  for (u64 i = 0; i < max_protected; ++i) {
    if (!frame)
      return ReadOutcome::missing(thread + *protected_);
    if (*frame == 0 || *frame == end_of_frames_)
      return {};
    const std::optional<u64> next = word(*frame + protected_next_), owner = word(*frame + protected_next_ + p_),
                             places = word(*frame + protected_places_);
    const std::optional<u32> count = memory_->try_load<u32>(*frame + protected_count_),
                             interior = memory_->try_load<u32>(*frame + protected_flags_);
    if (!next || !owner || !places || !count || !interior)
      return ReadOutcome::missing(*frame);
    const bool has_owner = protected_places_ != protected_next_ + p_;
    if (*frame < stack_limit || *frame >= stack_base || (has_owner && *owner != thread) || *count > max_places)
      return ReadOutcome::malformed("an invalid GCFrame");
    for (u64 place = 0; place < *count; ++place)
      reference(*places + p_ * place, *interior != 0, to);
    frame = next;
  }
  return ReadOutcome::malformed("the list of GCFrames does not end");
}

} // namespace dnheap
