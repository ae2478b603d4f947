// ExplicitFrames, second part: the caller of a HelperMethodFrame.
#include "runtime/coreclr/code/native_entry.h"
#include "runtime/coreclr/code/native_functions.h"
#include "runtime/coreclr/threads/explicit_frames.h"

namespace dnheap {

namespace {

constexpr unsigned max_native_frames = 64; // limit for the frames of the runtime function and its callees

} // namespace

bool ExplicitFrames::is_caller_known(const ExplicitFrame &frame) const {
  const HelperMethodLayout layout = helper_method_layout();
  return layout.is_known(word(frame.address + layout.known).value_or(0));
}

ReadOutcome ExplicitFrames::from_helper_method(const ExplicitFrame &frame, Address stack_end, const Code &code,
                                               FrameCaller &to) const {
  if (convention_->architecture != Architecture::x64 &&
      (convention_->architecture != Architecture::arm64 || is_windows_))
    return ReadOutcome::malformed("a HelperMethodFrame of this processor is not understood");
  const HelperMethodLayout layout = helper_method_layout();
  const Address at = frame.address;
  for (u64 offset = 0; offset < layout.end; offset += 8)
    if (!word(at + offset))
      return ReadOutcome::missing(at + offset);
  auto value = [&](u64 offset) { return *word(at + offset); };
  if (is_caller_known(frame)) { // the runtime has already unwound out of the function
    to.registers.ip = value(layout.ip);
    to.registers.set(convention_->stack_pointer, value(layout.sp));
    for (u64 i = 0; i < layout.registers.size(); ++i) {
      const Address place = value(layout.places + 8 * i);
      if (std::optional<u64> saved = place ? word(place) : std::nullopt)
        to.registers.set(layout.registers[i], *saved, place);
      else if (layout.unwound)
        to.registers.set(layout.registers[i], value(layout.unwound + 8 * i));
    }
    to.is_told = true;
    return {};
  }
  if (by_native_functions(frame, code, to))
    return {};
  return is_windows_ ? by_return_addresses(frame, stack_end, code, to) : by_frame_pointers(frame, stack_end, code, to);
}

// Adds as candidates the captured registers, and all words of the stack from the captured stack pointer to the
// caller's. Each unknown register of the caller has its value there: the register was either unchanged at the capture,
// or saved on that part of the stack before the capture.
void ExplicitFrames::captured_may_count(const ExplicitFrame &frame, FrameCaller &to) const {
  const HelperMethodLayout layout = helper_method_layout();
  to.candidates_from = word(frame.address + layout.captured_sp).value_or(0);
  to.candidates_to = to.registers.value[convention_->stack_pointer];
  words(frame.address + layout.captured, frame.address + layout.captured + 8 * layout.registers.size(), to.candidates);
}

// Linux: the runtime's functions keep frame pointers. The prologue of the function that managed code called shows which
// registers it has saved, and where; but it may have jumped to another function, with another prologue.
ReadOutcome ExplicitFrames::by_frame_pointers(const ExplicitFrame &frame, Address stack_end, const Code &code,
                                              FrameCaller &to) const {
  const HelperMethodLayout layout = helper_method_layout();
  const Address at = frame.address;
  const u64 last = layout.registers.size() - 1; // the frame pointer
  Address frame_pointer = word(at + layout.captured + 8 * last).value_or(0);
  for (unsigned i = 0; i < max_native_frames; ++i) {
    const std::optional<u64> ip = word(frame_pointer + 8), before = word(frame_pointer);
    if (!ip || !before)
      return ReadOutcome::missing(frame_pointer);
    if (code.is_managed(*ip)) {
      to.registers.ip = *ip;
      const std::optional<NativeEntry> entry =
          read_native_entry(*memory_, *convention_, word(at + layout.entry).value_or(0));
      const NativeEntry found = entry.value_or(NativeEntry());
      to.registers.set(convention_->stack_pointer, frame_pointer + u64(found.end));
      to.registers.set(convention_->frame_pointer, *before, frame_pointer);
      to.is_told = true;
      constexpr u64 longest_function = 4096;
      const Address begin = word(at + layout.entry).value_or(0),
                    captured_ip = word(at + layout.captured_sp - 8).value_or(0);
      const bool stands_elsewhere = i == 0 && convention_->architecture == Architecture::x64 &&
                                    (captured_ip < begin || captured_ip - begin > longest_function);
      if (!entry || stands_elsewhere) {
        captured_may_count(frame, to);
        return {};
      }
      // Registers that the function did not save have their captured values.
      for (u64 r = 0; r < last; ++r)
        if (std::optional<u64> value = word(at + layout.captured + 8 * r))
          to.registers.set(layout.registers[r], *value);
      for (const NativeEntry::Saved &saved : found.saved)
        if (const Address place = frame_pointer + u64(saved.at); std::optional<u64> value = word(place))
          to.registers.set(saved.reg, *value, place);
      return {};
    }
    if (*before <= frame_pointer || *before >= stack_end)
      break;
    frame_pointer = *before;
  }
  return ReadOutcome::malformed("no managed caller of a HelperMethodFrame is found");
}

// Unwinds the runtime's functions by their image, as the runtime itself would. On Windows, the
// captured stack pointer still points at the return address of the capturing function.
ReadOutcome ExplicitFrames::by_native_functions(const ExplicitFrame &frame, const Code &code, FrameCaller &to) const {
  const HelperMethodLayout layout = helper_method_layout();
  Registers now;
  now.ip = word(frame.address + layout.captured_sp - 8).value_or(0);
  now.set(convention_->stack_pointer, word(frame.address + layout.captured_sp).value_or(0) + (is_windows_ ? 8 : 0));
  for (u64 i = 0; i < layout.registers.size(); ++i) {
    const Address place = frame.address + layout.captured + 8 * i;
    now.set(layout.registers[i], word(place).value_or(0), place);
  }
  for (unsigned i = 0; i < max_native_frames; ++i) {
    const Address before = now.value[convention_->stack_pointer];
    if (const ReadOutcome outcome = leave_native_function(*target_, *convention_, now); !outcome)
      return outcome;
    if (now.value[convention_->stack_pointer] <= before)
      break;
    if (code.is_managed(now.ip)) {
      to.registers = now;
      to.is_told = true;
      return {};
    }
  }
  return ReadOutcome::malformed("no managed caller of a HelperMethodFrame is found");
}

// Without the image, takes the first word behind the Frame to which a call can return. Fails if another such word lies
// between it and the end of the caller's frame, as words of earlier calls lie there, too.
ReadOutcome ExplicitFrames::by_return_addresses(const ExplicitFrame &frame, Address stack_end, const Code &code,
                                                FrameCaller &to) const {
  const HelperMethodLayout layout = helper_method_layout();
  Address end = 0; // end of the caller's frame, return address included
  for (Address place = frame.address + layout.end; place + 8 <= (end ? end - 8 : stack_end); place += 8) {
    const std::optional<u64> ip = word(place);
    if (!ip)
      return ReadOutcome::missing(place);
    if (!code.is_return_address(*ip))
      continue;
    if (end)
      return ReadOutcome::malformed(
          "several methods may have called, and only the runtime's image shows which one did");
    to.registers.ip = *ip;
    to.registers.set(convention_->stack_pointer, place + 8);
    end = code.frame_end(to.registers);
    if (!end)
      return ReadOutcome::malformed("only the runtime's image shows which method called");
  }
  if (!end)
    return ReadOutcome::malformed("no managed caller of a HelperMethodFrame is found");
  to.is_told = true;
  captured_may_count(frame, to);
  return {};
}

} // namespace dnheap
