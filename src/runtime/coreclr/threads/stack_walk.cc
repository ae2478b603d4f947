#include "runtime/coreclr/threads/stack_walk.h"

#include "base/text.h"
#include "runtime/coreclr/threads/frame_references.h"
#include "runtime/coreclr/threads/native_stretch.h"
#include "runtime/thread_registers.h"

namespace dnheap {

namespace {

constexpr u64 max_frames = 1 << 20;
constexpr u64 red_zone = 128;
constexpr const char *no_kinds = "the identifiers of the kinds of Frames are unknown: give the folder of the runtime's "
                                 "own file with --modules";
constexpr u64 most_of_a_thread = 8192; // bytes searched in the runtime's Thread, which is smaller

} // namespace

class OneWalk {
public:
  OneWalk(const StackWalk &walk, const ThreadData &thread, NativeFrames *native)
      : walk_(walk), memory_(walk.target_->memory), convention_(*walk.convention_), thread_(thread),
        end_(thread.stack_base.value_or(0)), code_(*walk.target_, convention_, walk.encoding_, walk.find_),
        native_(*walk.target_, convention_, code_, native),
        references_(memory_, convention_, code_, [this](const std::string &why) { doubt(why); }) {
    for_frames_.is_managed = [this](Address ip) { return code_.find(ip) != nullptr; };
    for_frames_.is_return_address = [this](Address ip) { return code_.is_return_address(ip); };
    for_frames_.frame_end = [this](Registers registers) {
      const CodeBlock *code = code_.find(registers.ip);
      return code && code_.leave(*code, false, registers) ? registers.value[convention_.stack_pointer] : 0;
    };
  }

  WalkedStack run();

private:
  struct Skipped { // an exception has left the frames up to this one
    Address method_start;
    u64 frame_pointer;
  };

  bool start();
  bool step_managed(const CodeBlock &code);
  bool step_explicit();
  void undo_hijack(Registers &parent);
  // Records why the stack is known only in part. Keeps the first reason. Always returns false.
  bool stop(const std::string &why, Address from);
  void doubt(const std::string &why) { stop(why, sp()); } // the walk goes on further out

  Address sp() const { return at_.registers.get(convention_.stack_pointer).value_or(0); }
  bool next_explicit();
  void leave_stub();
  bool runs_managed_code() const;
  void leave_native();
  void doubt_in_native(const ReadOutcome &outcome);
  void enter_caller(const Registers &caller);

  const StackWalk &walk_;
  const Memory &memory_;
  const CallingConvention &convention_;
  const ThreadData &thread_;
  const Address end_; // of the stack
  WalkedCode code_;
  NativeStretch native_;
  FrameReferences references_;
  ExplicitFrames::Code for_frames_;
  WalkedStack out_;

  WalkPosition at_;
  Address passed_ = 0; // end of the managed frames so far
  std::optional<Skipped> skipped_;
  std::optional<ExplicitFrame> frame_; // the next one
  Address unknown_frame_ = 0;          // the next one, if nothing shows of which kind it is; 0: there is none
};

bool OneWalk::stop(const std::string &why, Address from) {
  if (!out_.is_complete())
    return false;
  out_.why_not = why;
  // Methods further in may have saved this method's registers below `from`; those slots may hold references, too.
  for (unsigned reg = 0; reg < convention_.register_count; ++reg)
    if (at_.registers.knows(reg) && in_stack(thread_, at_.registers.saved_at[reg]))
      from = std::min(from, at_.registers.saved_at[reg]);
  out_.unknown_from = from;
  return false;
}

// If a thread is in native code, its registers do not lead to managed code; the first Frame does.
bool OneWalk::start() {
  out_.thread = thread_.address;
  auto by_number = walk_.registers_.find(thread_.os_id.value_or(0));
  const Thread *thread = by_number != walk_.registers_.end() && in_stack(thread_, by_number->second->stack_pointer)
                             ? by_number->second
                             : find_registers(*walk_.target_, thread_);
  std::optional<Registers> registers = thread ? registers_of(*walk_.target_, *thread) : std::nullopt;
  if (registers) {
    at_.registers = *registers;
    native_.list(at_.registers, true, out_);
  }
  const Address from = thread_.stack_limit.value_or(0);
  const Address stack_pointer = sp();
  const Address all = in_stack(thread_, stack_pointer) ? stack_pointer - std::min(red_zone, stack_pointer) : from;
  if (!thread_.stack_base || !thread_.stack_limit)
    return stop("the place of its stack is unknown", 0);
  if (!walk_.why_not().empty())
    return stop(walk_.why_not(), all);
  if (!registers)
    return stop("its registers are not in the dump", all);
  const std::optional<Address> first = walk_.frames_.first(thread_.address);
  if (!first)
    return stop("memory at " + hex(thread_.address) + " is not in this dump", all);
  if (!walk_.frames_.knows_kinds())
    unknown_frame_ = *first;
  else if (*first && !(frame_ = walk_.frames_.at(*first)))
    return stop("the data at " + hex(*first) + " is not a Frame of a known kind", all);
  if (code_.find(at_.registers.ip) && !in_stack(thread_, stack_pointer))
    return stop("it runs on another stack", from);
  if (const ReadOutcome outcome =
          walk_.frames_.protected_references(thread_.address, *thread_.stack_limit, end_, out_.of_runtime);
      !outcome)
    return stop(outcome.text(), all);
  if (!code_.find(at_.registers.ip))
    leave_stub();
  if (!code_.find(at_.registers.ip))
    leave_native();
  return true;
}

// Between two methods, a thread may be in a few instructions that the runtime generated: stubs, write barriers. They
// are in no module and have no frame: the caller's return address is the first word of the stack, or in its register.
void OneWalk::leave_stub() {
  Registers caller = at_.registers;
  if (native_.is_stub(at_.registers.ip) && in_stack(thread_, sp()) && native_.take_return_address(caller))
    enter_caller(caller);
}

void OneWalk::enter_caller(const Registers &caller) {
  references_.pass_on(at_.registers, caller);
  at_.registers = caller;
  at_.is_active = false;
  at_.is_unsafe_call = !code_.is_return_address(caller.ip);
}

// True if a collection must wait for the thread. It need not if the thread itself waits, or is in native code that
// leaves a Frame.
bool OneWalk::runs_managed_code() const {
  return walk_.cooperative_ && memory_.try_load<u32>(thread_.address + *walk_.cooperative_) == 1u;
}

// Short helpers of the runtime (casts, allocation, copies) leave no Frame: the method that called such a helper is
// further in than the first Frame's caller.
void OneWalk::leave_native() {
  if (walk_.target_->os != OperatingSystem::linux_os || !in_stack(thread_, sp()) || !runs_managed_code())
    return;
  Address limit = unknown_frame_ ? unknown_frame_ : end_; // from there on, the first Frame continues the walk
  if (frame_) {
    FrameCaller caller;
    limit = frame_->address;
    if (walk_.frames_.caller(*frame_, end_, for_frames_, caller) && caller.is_told)
      limit = caller.registers.get(convention_.stack_pointer).value_or(limit);
  }
  ReadOutcome outcome;
  if (const std::optional<Registers> caller = native_.leave(at_.registers, limit, outcome))
    enter_caller(*caller);
  else if (!outcome)
    doubt_in_native(outcome);
}

// If a helper has made a Frame, nothing is missing. The walk goes on further out in any case.
void OneWalk::doubt_in_native(const ReadOutcome &outcome) {
  if (frame_ && frame_->kind.shape == FrameShape::helper_method)
    return;
  const Module *module = walk_.target_->find_module(at_.registers.ip);
  const std::string place = module ? std::string(module->file_name()) : "native code";
  doubt("it stands in a helper of the runtime (" + place + "), which could not be unwound: " + code_.text_of(outcome));
}

// To stop a thread, the runtime replaces a method's return address by one of its own, and keeps the original in the
// Thread, beside the address of the place that it took it from.
void OneWalk::undo_hijack(Registers &parent) {
  if (convention_.architecture != Architecture::x64 || code_.find(parent.ip))
    return;
  const Address place = parent.value[convention_.stack_pointer] - 8;
  const Bytes thread = memory_.peek_up_to(thread_.address, most_of_a_thread); // neighbouring words are other data
  for (u64 at = 8; at + 16 <= thread.size(); at += 8)
    if (load_pointer(thread.data() + at, memory_.format()) == place)
      for (const u64 beside : {at - 8, at + 8})
        if (const Address ip = load_pointer(thread.data() + beside, memory_.format()); code_.find(ip)) {
          memory_.note_read(thread_.address + at - 8, 24);
          parent.ip = ip;
          return;
        }
}

WalkedStack OneWalk::run() {
  try {
    if (!start())
      return std::move(out_);
    while (true) {
      if (out_.frames.size() >= max_frames) {
        stop("it has more frames than this program reads", sp());
        break;
      }
      const CodeBlock *code = code_.find(at_.registers.ip);
      if (!code && !out_.frames.empty() && out_.frames.back().kind == StackFrame::Kind::method)
        native_.list(at_.registers, false, out_); // a managed method was called from here
      if (code ? !step_managed(*code) : !step_explicit())
        break;
    }
  } catch (const Error &e) {
    stop(e.what(), out_.frames.empty() && !sp() ? thread_.stack_limit.value_or(0) : sp());
  }
  return std::move(out_);
}

// Goes to the next Frame; Frames are sorted by stack address.
bool OneWalk::next_explicit() {
  const ExplicitFrame last = *frame_;
  frame_.reset();
  if (last.next == 0)
    return true;
  // The first Frame may lie on the signal stack, if the thread's own stack is full.
  const bool leads_back = last.next <= last.address && in_stack(thread_, last.address);
  if (leads_back || !in_stack(thread_, last.next))
    return stop("the list of Frames leads back, or out of the stack, at " + hex(last.address), last.address);
  frame_ = walk_.frames_.at(last.next);
  return frame_ ? true : stop("the data at " + hex(last.next) + " is not a Frame of a known kind", last.address);
}

bool OneWalk::step_managed(const CodeBlock &code) {
  Registers parent = at_.registers;
  if (const ReadOutcome outcome = code_.leave(code, at_.is_active, parent); !outcome)
    return stop(code_.text_of(outcome), sp());
  undo_hijack(parent);
  const Address parent_sp = parent.value[convention_.stack_pointer];
  if (parent_sp <= sp() || parent_sp > end_)
    return stop("a frame at " + hex(sp()) + " does not lead up the stack", sp());
  StackFrame frame;
  frame.ip = at_.registers.ip;
  frame.sp = sp();
  frame.method_desc = code.method_desc;
  frame.code_offset = code.offset_of(at_.registers.ip);
  frame.is_active = at_.is_active;
  frame.is_funclet = code.is_funclet;
  frame.is_filter = code.is_filter;
  if (unknown_frame_ && unknown_frame_ < parent_sp)
    return stop(no_kinds, sp());
  // Frames within this frame belong to it.
  while (frame_ && frame_->address < parent_sp) {
    walk_.frames_.references(*frame_, frame.references);
    if (!next_explicit())
      return false;
  }
  const u64 frame_pointer = at_.registers.get(convention_.frame_pointer).value_or(0);
  if (skipped_) {
    frame.is_unwound = true;
    if (!code.is_funclet && code.start == skipped_->method_start && frame_pointer == skipped_->frame_pointer)
      skipped_.reset();
  } else {
    if (const ReadOutcome outcome = references_.add(code, at_, parent_sp, frame); !outcome)
      return stop("GC info at " + hex(code.gc_info) + ": " + outcome.text(), sp());
    // An exception handler reports its own references, and those of the method that it belongs to; the frames in
    // between have been left. A filter runs before any frame is left.
    if (code.is_funclet && !code.is_filter)
      skipped_ = Skipped{code.start, frame_pointer};
  }
  out_.frames.push_back(std::move(frame));
  at_.registers = parent;
  passed_ = parent_sp;
  at_.is_active = at_.is_aborted = at_.is_unsafe_call = false;
  return true;
}

// Passes native code: the next Frame shows where managed code continues.
bool OneWalk::step_explicit() {
  if (unknown_frame_)
    return stop(no_kinds, out_.frames.empty() ? thread_.stack_limit.value_or(0) : sp());
  if (!frame_)
    return false; // the walk is complete
  const ExplicitFrame now = *frame_;
  FrameCaller caller;
  if (const ReadOutcome outcome = walk_.frames_.caller(now, end_, for_frames_, caller); !outcome)
    return stop(std::string(now.kind.name) + " at " + hex(now.address) + ": " + outcome.text(), now.address);
  StackFrame frame;
  frame.kind = StackFrame::Kind::explicit_;
  frame.sp = now.address;
  frame.ip = caller.is_told ? caller.registers.ip : 0;
  frame.method_desc = walk_.frames_.method_desc(now);
  frame.frame_name = now.kind.name;
  walk_.frames_.references(now, frame.references);
  if (caller.is_told) {
    const Address caller_sp = caller.registers.get(convention_.stack_pointer).value_or(0);
    const bool is_full = now.kind.shape == FrameShape::faulting_exception && is_beyond_stack(thread_, caller_sp);
    if ((!in_stack(thread_, caller_sp) && !is_full) || caller_sp < passed_)
      return stop(std::string(now.kind.name) + " at " + hex(now.address) + " leads back, or out of the stack",
                  now.address);
    at_.registers = caller.registers;
    at_.is_active = now.kind.caller_is_active();
    at_.is_aborted = walk_.frames_.caller_is_aborted(now);
    references_.add_candidates(caller, frame);
  }
  out_.frames.push_back(std::move(frame));
  if (caller.is_told && now.kind.shape == FrameShape::transition) {
    const CodeBlock *code = code_.find(at_.registers.ip);
    walk_.frames_.arguments(now, code ? references_.room_for_arguments(*code, at_) : 0, out_.frames.back().references);
  }
  // An InlinedCallFrame lies within its caller's frame, and is passed together with that.
  if (caller.is_told && now.kind.shape == FrameShape::inlined_call) {
    if (!code_.find(at_.registers.ip))
      return stop("InlinedCallFrame at " + hex(now.address) + " leads to no managed code", now.address);
    return true;
  }
  return next_explicit();
}

StackWalk::StackWalk(const Target &target, const ContractDescriptor &descriptor, FindCode find)
    : target_(&target), find_(std::move(find)), frames_(target, descriptor),
      encoding_(gc_info_encoding(target.architecture)), convention_(calling_convention(target.architecture, target.os)),
      cooperative_(descriptor.try_offset("Thread", "PreemptiveGCDisabled")), why_not_(frames_.why_not()) {
  const bool is_x86 = convention_ && convention_->architecture == Architecture::x86;
  if (!convention_ || (!encoding_ && !is_x86))
    why_not_ = "stacks of this processor are not understood";
  for (const Thread &thread : target.threads)
    registers_.emplace(thread.id, &thread);
}

WalkedStack StackWalk::walk(const ThreadData &thread, NativeFrames *native) const {
  if (!convention_ || (!encoding_ && convention_->architecture != Architecture::x86)) {
    WalkedStack out;
    out.thread = thread.address;
    out.why_not = why_not_;
    out.unknown_from = thread.stack_limit.value_or(0);
    return out;
  }
  return OneWalk(*this, thread, native).run();
}

} // namespace dnheap
