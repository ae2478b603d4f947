#include "objects/stack_roots.h"

#include "base/text.h"
#include "objects/interrupted_thread.h"
#include "runtime/thread_registers.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

constexpr u64 red_zone = 128;
constexpr u64 max_stack = 64 << 20; // most bytes scanned of one stack
constexpr u64 least_page = 4096;

class StackScan {
public:
  StackScan(const Memory &memory, const ObjectAt &object_at, RootSet &to)
      : memory_(memory), object_at_(object_at), to_(to), format_(memory.format()) {}

  void registers(std::vector<u64> values, u32 number) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (u64 value : values)
      look_at(0, value, number);
  }

  void stack(Address start, Address end, u32 number) {
    const u64 p = format_.pointer_size;
    start = align_up(start, p);
    if (end - start > max_stack) {
      to_.notes.add(Subject::stacks, Effect::liveness,
                    "only the first " + bytes_text(max_stack) + " of the " + bytes_text(end - start) +
                        " of the stack of " + to_.threads[number - 1].text() +
                        " were scanned, so it may hold objects that are not shown");
      end = start + max_stack;
    }
    u64 missing = end - std::min(start, end);
    // Holes may be as large as stacks, so they are skipped by range.
    const std::span<const Range> ranges = memory_.ranges();
    auto range = std::partition_point(ranges.begin(), ranges.end(), [&](const Range &r) { return r.end() <= start; });
    for (; range != ranges.end() && range->address < end; ++range)
      missing -= known_part(align_up(std::max(start, range->address), p), std::min(end, range->end()), number);
    if (missing >= p)
      to_.notes.add(Subject::stacks, Effect::liveness,
                    bytes_text(missing / p * p) + " of the stack of " + to_.threads[number - 1].text() +
                        " are not in this dump, so it may hold objects that are not shown");
  }

private:
  // Returns how many bytes were read: a live process may not give all that its ranges promise.
  u64 known_part(Address at, Address end, u32 number) {
    const u64 p = format_.pointer_size;
    u64 looked_at = 0;
    while (at + p <= end) {
      const Bytes bytes = memory_.peek_up_to(at, end - at);
      const u64 words = bytes.size() / p;
      for (u64 i = 0; i < words; ++i)
        look_at(at + i * p, load_pointer(bytes.data() + i * p, format_), number);
      looked_at += words * p;
      at = words ? at + words * p : at / least_page * least_page + least_page;
    }
    return looked_at;
  }

  // A pointer into an object (a Span, a ref) keeps it alive as a pointer to its beginning does.
  void look_at(Address slot, u64 value, u32 number) {
    const Address object = value ? object_at_(value) : 0;
    if (!object)
      return;
    Root root;
    root.slot = slot;
    root.object = object;
    root.interior = object != value;
    root.kind = RootKind::stack_conservative;
    root.thread = number;
    to_.roots.push_back(root);
  }

  const Memory &memory_;
  const ObjectAt &object_at_;
  RootSet &to_;
  const Format format_;
};

// The registers and the stretch of a thread's stack to scan.
struct StackExtent {
  std::vector<u64> registers;
  Address start = 0, end = 0; // equal: unknown where the stack lies
  bool is_all = false;        // true: the whole stack, as it is unknown how much of it is in use
};

std::optional<StackExtent> stack_of(const Target &target, const ThreadData &thread) {
  const Thread *found = find_registers(target, thread);
  if (!found)
    return std::nullopt;
  StackExtent out{found->registers};
  if (!thread.stack_base || !*thread.stack_base || !thread.stack_limit || *thread.stack_limit >= *thread.stack_base)
    return out;
  const Address limit = *thread.stack_limit;
  out.end = *thread.stack_base;
  Address from = found->stack_pointer;
  if (!in_stack(thread, from)) {
    std::optional<InterruptedThread> before = find_interrupted(target, *found, limit, out.end);
    out.is_all = !before;
    from = before ? before->stack_pointer : limit;
    if (before)
      out.registers.insert(out.registers.end(), before->registers.begin(), before->registers.end());
  }
  out.start = std::max(from - std::min(red_zone, from), from < limit + red_zone ? limit : Address{0});
  return out;
}

} // namespace

std::vector<std::pair<Address, Address>> scanned_stacks(const Target &target, std::span<const ThreadData> threads) {
  std::vector<std::pair<Address, Address>> out;
  for (const ThreadData &thread : threads)
    if (thread.os_id != u64{0})
      if (std::optional<StackExtent> stack = stack_of(target, thread); stack && stack->start < stack->end)
        out.emplace_back(stack->start, std::min(stack->end, add_clamped(stack->start, max_stack)));
  return out;
}

namespace {

class StackRoots {
public:
  StackRoots(const Runtime &runtime, std::span<const ThreadData> threads, const ObjectAt &object_at, RootSet &to)
      : runtime_(runtime), target_(runtime.target()), threads_(threads), object_at_(object_at), to_(to),
        scan_(runtime.memory(), object_at, to) {}

  void run() {
    for (u64 i = 0; i < threads_.size(); ++i)
      if (threads_[i].os_id != u64{0}) // else it has not started, or has ended
        add_thread(threads_[i], static_cast<u32>(i + 1));
    add_notes();
  }

private:
  void add_thread(const ThreadData &thread, u32 number) {
    const WalkedStack walked = runtime_.follow_stack(thread, ListedFrames::managed);
    for (const StackFrame &frame : walked.frames)
      for (const StackReference &reference : frame.references)
        add_reference(reference, frame, number);
    for (const StackReference &reference : walked.of_runtime)
      add_reference(reference, {}, number);
    if (walked.is_complete() && walked.are_references_known)
      ++walked_;
    else
      add_words(thread, walked, number);
  }

  // A reference that is not certain is added as a conservative root.
  void add_reference(const StackReference &reference, const StackFrame &frame, u32 number) {
    const Address object = object_at_(reference.value);
    if (!object || (object != reference.value && !reference.interior)) {
      not_objects_ += object == 0 && !reference.interior && reference.certain && reference.tracked;
      return; // a byref into a stack or static memory, or an old value in an untracked slot
    }
    Root root;
    root.slot = reference.slot;
    root.object = object;
    root.interior = object != reference.value;
    root.pinned = reference.pinned;
    root.thread = number;
    root.kind = reference.certain ? RootKind::stack : RootKind::stack_conservative;
    if (reference.certain)
      root.name = name_of(frame);
    to_.roots.push_back(root);
  }

  // The word that holds a method in an explicit Frame may be something else, so its name must be confirmed.
  u32 name_of(const StackFrame &frame) {
    auto [it, is_new] = names_.try_emplace({frame.method_desc, frame.frame_name}, static_cast<u32>(to_.names.size()));
    if (is_new) {
      const MethodText method = frame.method_desc ? runtime_.method_text(frame.method_desc) : MethodText();
      const bool is_method = frame.kind == StackFrame::Kind::method || !method.module.empty();
      std::string name = is_method ? method.name : frame.frame_name;
      to_.names.push_back(name.empty() ? "<runtime>" : std::move(name));
    }
    return it->second;
  }

  void add_words(const ThreadData &thread, const WalkedStack &walked, u32 number) {
    if (walked.are_references_known)
      not_walked_[walked.why_not].push_back(to_.threads[number - 1].text());
    std::optional<StackExtent> stack = stack_of(target_, thread);
    if (!stack) {
      ++unknown_registers_;
      return;
    }
    scan_.registers(stack->registers, number);
    const Address known = walked.frames.empty() || !walked.are_references_known ? 0 : walked.unknown_from;
    const Address start = std::min(std::max(stack->start, known), stack->end);
    if (stack->start == stack->end)
      ++unknown_stack_;
    else
      scan_.stack(start, stack->end, number);
    if (stack->is_all)
      to_.notes.add(
          Subject::stacks, Effect::liveness,
          to_.threads[number - 1].text() +
              " is on another stack, as in the handler of a signal, so the used part of its own stack is unknown: the "
              "whole stack was looked at, and may seem to hold objects that it does not hold");
  }

  // If no stack at all could be walked, for a single reason, the kind of the roots already shows that.
  void add_notes() {
    if (unknown_stack_)
      to_.notes.add(Subject::stacks, Effect::liveness,
                    "the ends of the stacks of " + count_text(unknown_stack_) +
                        (unknown_stack_ == 1 ? " thread" : " threads") +
                        " are unknown, so of these threads only the registers were looked at");
    if (unknown_registers_)
      to_.notes.add(Subject::stacks, Effect::liveness,
                    "the registers of " + count_text(unknown_registers_) +
                        (unknown_registers_ == 1 ? " thread" : " threads") +
                        " of the runtime are not in the dump, so the stacks of these were not looked at");
    if (not_objects_)
      to_.notes.add(Subject::stacks, Effect::none,
                    count_text(not_objects_) +
                        (not_objects_ == 1 ? " reference of methods' variables leads"
                                           : " references of methods' variables lead") +
                        " to no object");
    if (walked_ == 0 && not_walked_.size() <= 1)
      return;
    constexpr u64 shown = 8;
    for (const auto &[why, threads] : not_walked_) {
      std::string text;
      for (u64 i = 0; i < std::min<u64>(shown, threads.size()); ++i)
        text += (i ? ", " : "") + threads[i];
      if (threads.size() > shown)
        text += " and " + count_text(threads.size() - shown) + " more";
      to_.notes.add(Note{.subject = Subject::stacks,
                         .text = "the stack of " + text +
                                 " was looked at word by word from where it could not be followed: " + why,
                         .key = why});
    }
  }

  const Runtime &runtime_;
  const Target &target_;
  std::span<const ThreadData> threads_;
  const ObjectAt &object_at_;
  RootSet &to_;
  StackScan scan_;
  std::map<std::pair<Address, std::string_view>, u32> names_;  // by MethodDesc and name of an explicit Frame
  std::map<std::string, std::vector<std::string>> not_walked_; // threads, by reason
  u64 walked_ = 0, unknown_stack_ = 0, unknown_registers_ = 0, not_objects_ = 0;
};

} // namespace

void add_stack_roots(const Runtime &runtime, std::span<const ThreadData> threads, const ObjectAt &object_at,
                     RootSet &to) {
  if (runtime.target().threads.empty()) {
    to.notes.add(Subject::stacks, Effect::liveness,
                 "the stacks were not looked at: the threads' registers are not in the dump");
    return;
  }
  StackRoots(runtime, threads, object_at, to).run();
}

} // namespace dnheap
