#include "runtime/layout/coreclr/frames.h"

#include "runtime/layout/coreclr/dac_table.h"
#include "runtime/layout/coreclr/thread_size.h"
#include "runtime/layout/vote.h"
#include "runtime/thread_registers.h"
#include "runtime/vm/frame_kinds.h"
#include "runtime/vm/frame_layout.h"
#include "runtime/vm/helper_method_layout.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace dnheap {

namespace {

constexpr u64 no_frame = ~u64{0};
constexpr u64 max_frames = 1 << 16;    // of one thread
constexpr u64 first_pointer = 0x10000; // smaller words are numbers
constexpr i64 table_entries = 256;     // entries searched in g_dacTable on either side of the known entry
constexpr u32 max_protected = 4096;    // limit of references in one GCFrame
constexpr std::string_view inlined_call = "InlinedCallFrame", helper_method = "HelperMethodFrame",
                           thread_start = "DebuggerU2MCatchHandlerFrame", faulting_exception = "FaultingExceptionFrame";

class FramesDerivation {
public:
  FramesDerivation(Derivation &derivation, std::span<const ThreadData> threads, Address gc_variable)
      : d_(derivation), p_(static_cast<i64>(derivation.pointer_size)), table_(derivation, gc_variable),
        layout_(frame_layout(derivation.target.architecture)) {
    for (const ThreadData &thread : threads)
      if (thread.os_id != u64{0} && thread.stack_base && thread.stack_limit && *thread.stack_limit < *thread.stack_base)
        threads_.push_back({thread.address, *thread.stack_limit, *thread.stack_base});
  }

  void run() {
    if (threads_.empty() || p_ != 8 || !layout_)
      return;
    derive_head();
    read_frames();
    if (!frames_.empty() || !elsewhere_.empty()) {
      derive_kinds();
      derive_inlined_calls();
    }
    derive_protected();
  }

private:
  struct ThreadPlace {
    Address address, limit, base;
    bool holds(Address at) const { return limit <= at && at < base && at % 8 == 0; }
  };
  struct FramePlace {
    Address address;
    u64 identifier;
    const ThreadPlace *thread;
    bool is_last; // the outermost one
  };

  // Returns a list of records on the thread's stack, each further out than the one before; the last one's link is all
  // ones.
  std::optional<std::vector<Address>> frames_of(const ThreadPlace &thread, i64 head) const {
    std::vector<Address> out;
    for (std::optional<u64> at = d_.word(thread.address + u64(head)); at && *at != no_frame; at = d_.word(*at + 8)) {
      if (!thread.holds(*at) || (!out.empty() && *at <= out.back()) || out.size() >= max_frames)
        return std::nullopt;
      out.push_back(*at);
    }
    return d_.word(thread.address + u64(head)) ? std::optional(std::move(out)) : std::nullopt;
  }

  // True if the list begins with records on another stack, from which the runtime handles an overflow of the thread's
  // own stack. It ends as any list does.
  bool begins_elsewhere(const ThreadPlace &thread, i64 head) const {
    constexpr u64 most_elsewhere = 16;
    u64 count = 0;
    std::optional<u64> at = d_.word(thread.address + u64(head));
    for (; at && *at != no_frame && !thread.holds(*at); at = d_.word(*at + 8))
      if (*at < first_pointer || *at % 8 || ++count > most_elsewhere)
        return false;
    for (Address before = 0; at && *at != no_frame; before = *at, at = d_.word(*at + 8))
      if (!thread.holds(*at) || *at <= before)
        return false;
    return at && count;
  }

  // Passes if the offset fits all but a few threads: a thread may have been stopped while its list changed. Lists that
  // begin on another stack are no evidence.
  Verdict is_head(i64 x) const {
    Vote vote;
    for (const ThreadPlace &thread : threads_)
      if (const std::optional<std::vector<Address>> frames = frames_of(thread, x)) {
        if (!frames->empty())
          vote.add(true);
      } else if (!begins_elsewhere(thread, x)) {
        vote.add(false);
      }
    return vote.verdict();
  }
  void derive_head() {
    auto passes = [&](i64 x) { return is_head(x); };
    const std::vector<i64> places{p_, 2 * p_};
    const bool any = std::any_of(places.begin(), places.end(), [&](i64 x) { return is_head(x).passes(); });
    if (any || d_.descriptor.try_offset("Thread", "Frame")) // else no thread has a Frame
      d_.choose(
          "Thread", "Frame", [&] { return places; }, passes,
          "for most threads, it leads to a list of records on the thread's own stack, each further out than the one "
          "before");
  }
  void read_frames() {
    const std::optional<i64> head = d_.descriptor.try_offset("Thread", "Frame");
    for (const ThreadPlace &thread : threads_)
      if (std::optional<std::vector<Address>> list = head ? frames_of(thread, *head) : std::nullopt) {
        for (Address frame : *list)
          if (std::optional<u64> identifier = d_.word(frame))
            frames_.push_back({frame, *identifier, &thread, frame == list->back()});
      } else if (head && begins_elsewhere(thread, *head)) {
        read_overflow(thread, d_.word(thread.address + u64(*head)).value_or(no_frame));
      }
  }
  void read_overflow(const ThreadPlace &thread, Address at) {
    u64 next = no_frame;
    for (u64 count = 0; at != no_frame && count < max_frames; at = next, ++count) {
      const std::optional<u64> identifier = d_.word(at);
      next = d_.word(at + 8).value_or(no_frame);
      if (identifier)
        (thread.holds(at) ? frames_ : elsewhere_).push_back({at, *identifier, &thread, next == no_frame});
    }
  }

  // Offset of the stack pointer in a FaultingExceptionFrame, in its CONTEXT.
  u64 place_of_stack_pointer() const { return u64{layout_->faulting_context} + layout_->stack_pointer_at; }
  u64 fault_stack_pointer(const FramePlace &frame) const {
    return d_.word(frame.address + place_of_stack_pointer()).value_or(0);
  }

  // True for a kind of record on another stack whose stack pointer is near the end of the thread's own stack; no other
  // kind has that.
  bool tells_overflow(u64 identifier) const {
    return std::any_of(elsewhere_.begin(), elsewhere_.end(), [&](const FramePlace &frame) {
      const u64 sp = fault_stack_pointer(frame), limit = frame.thread->limit;
      return frame.identifier == identifier && std::max(sp, limit) - std::min(sp, limit) <= near_stack_end;
    });
  }

  // True if the Frames with this identifier contain the registers of a thread of this processor, with a stack pointer
  // further out.
  bool hold_registers(u64 identifier) const {
    bool any = false;
    for (const FramePlace &frame : frames_) {
      if (frame.identifier != identifier)
        continue;
      const Address context = frame.address + layout_->faulting_context;
      const u32 flags = d_.memory.try_load<u32>(context + layout_->flags_at).value_or(0);
      const u16 segment = d_.memory.try_load<u16>(context + layout_->code_segment_at).value_or(0);
      const u64 sp = fault_stack_pointer(frame);
      if ((flags & layout_->flags) != layout_->flags || (layout_->user_code && segment != layout_->user_code) ||
          !frame.thread->holds(sp) || sp <= frame.address)
        return false;
      any = true;
    }
    return any;
  }

  // True if most Frames with this identifier have their Thread at that offset. Some, which the runtime makes for
  // itself, do not.
  bool keep_thread(u64 identifier, i64 offset) const {
    u64 keep = 0, others = 0;
    for (const FramePlace &frame : frames_)
      if (frame.identifier == identifier)
        ++(d_.word(frame.address + u64(offset)) == frame.thread->address ? keep : others);
    return keep > others;
  }

  // True if the Frames with this identifier are those of native calls. These have three words at that offset: the stack
  // pointer, which is somewhat below the Frame, since the Frame lies in the calling method's frame; the return address;
  // and the caller's frame pointer. A null return address means that no call is in progress.
  bool are_calls(u64 identifier, i64 offset) const {
    constexpr u64 largest_frame = 1 << 20;
    bool any = false;
    for (const FramePlace &frame : frames_) {
      if (frame.identifier != identifier)
        continue;
      const std::optional<u64> sp = d_.word(frame.address + u64(offset)),
                               ip = d_.word(frame.address + u64(offset + p_));
      if (!sp || !ip)
        return false;
      if (*ip == 0)
        continue;
      if (*ip < first_pointer || frame.thread->holds(*ip) || !frame.thread->holds(*sp) || *sp > frame.address ||
          frame.address - *sp > largest_frame)
        return false;
      any = true;
    }
    return any;
  }
  i64 place_of_call() const { return (d_.descriptor.find_field("MethodTable", "Token") ? 4 : 3) * p_; }

  void derive_kinds() {
    if (d_.descriptor.try_number(std::string(inlined_call) + "Identifier"))
      return;
    auto is_number = [](const FramePlace &frame) { return frame.identifier < first_pointer; };
    const bool numbers = std::all_of(frames_.begin(), frames_.end(), is_number) &&
                         std::all_of(elsewhere_.begin(), elsewhere_.end(), is_number);
    numbers ? set_numbers() : derive_vtables();
  }
  // .NET 10 and later, if the target's descriptor is not in the dump: uses the numbers of 10.0.
  void set_numbers() {
    const FrameKind *call = find_frame_kind(inlined_call.data());
    const bool has_calls = std::any_of(frames_.begin(), frames_.end(),
                                       [&](const FramePlace &frame) { return frame.identifier == call->number; });
    if (has_calls && !are_calls(call->number, place_of_call())) {
      d_.descriptor.missing[call->identifier()] = "Frames with identifier 1 are not InlinedCallFrames";
      return;
    }
    for (const FrameKind &kind : frame_kinds())
      if (const u8 number = is_windows() ? kind.number_with_com : kind.number)
        d_.descriptor.set_number(kind.identifier(), number, false, Origin::table);
  }

  // The order of the vtables in g_dacTable is known, but not where they begin. The vtable of native calls shows that,
  // since no other Frame looks like that of a native call.
  bool is_windows() const { return d_.target.os == OperatingSystem::windows; }
  static bool is_of_com(std::string_view name) {
    return name == "ComMethodFrame" || name == "CLRToCOMMethodFrame" || name == "ComPrestubMethodFrame";
  }
  std::vector<std::string_view> order() const {
    const bool is_8 = d_.descriptor.find_field("MethodTable", "Token") != nullptr;
    std::vector<std::string_view> out;
    for (std::string_view name : frame_vtable_order())
      if ((is_8 || name != "MulticastFrame") && (is_windows() || !is_of_com(name)))
        out.push_back(name);
    return out;
  }

  struct Seen {
    std::optional<i64> index; // in g_dacTable
    bool is_call = false, may_be_helper = false, is_overflow = false, is_fault = false;
  };
  void derive_vtables() {
    const std::vector<std::string_view> names = order();
    std::map<u64, Seen> seen; // by vtable
    for (const std::vector<FramePlace> *frames : {&frames_, &elsewhere_})
      for (const FramePlace &frame : *frames)
        seen.try_emplace(frame.identifier);
    for (i64 i = -table_entries; i < table_entries; ++i)
      if (std::optional<Address> entry = table_.variable(i))
        if (auto vtable = seen.find(*entry); vtable != seen.end())
          vtable->second.index = i;
    for (auto &[vtable, of] : seen) {
      of.is_call = are_calls(vtable, place_of_call());
      of.may_be_helper = keep_thread(vtable, 4 * p_);
      of.is_overflow = tells_overflow(vtable);
      of.is_fault = hold_registers(vtable);
    }
    const std::optional<u64> start = start_of_threads(seen);
    auto passes = [&](i64 first) -> Verdict {
      bool told = false;
      for (const auto &[vtable, of] : seen) {
        const i64 place = of.index ? *of.index - first : -1;
        if (place < 0 || place >= static_cast<i64>(names.size()))
          return false;
        const std::string_view name = names[static_cast<u64>(place)];
        const bool is_helper = name.substr(0, helper_method.size()) == helper_method;
        if ((name == inlined_call) != of.is_call || (is_helper && !of.may_be_helper) ||
            (vtable == start && name != thread_start) || (of.is_overflow && name != faulting_exception) ||
            !may_be(vtable, *find_frame_kind(name.data())))
          return false;
        told |= of.is_call || is_helper || of.is_overflow || (of.is_fault && name == faulting_exception);
      }
      return told ? Verdict(true) : Verdict::cannot_tell();
    };
    auto candidates = [&] {
      std::vector<i64> out;
      for (i64 i = 0; i < static_cast<i64>(names.size()); ++i)
        for (const auto &[vtable, of] : seen)
          if (of.index)
            out.push_back(*of.index - i);
      std::sort(out.begin(), out.end());
      out.erase(std::unique(out.begin(), out.end()), out.end());
      return out;
    };
    if (!d_.choose("DacTable", "FirstFrameVtable", candidates, passes,
                   "from this entry of g_dacTable on, the vtables of all kinds of Frames follow each other, and each "
                   "Frame on the threads' stacks has the form of the kind that its vtable stands for",
                   [&](i64 first) { return kinds_told(names, seen, first); }))
      return;
    const i64 first = d_.descriptor.offset("DacTable", "FirstFrameVtable");
    for (u64 i = 0; i < names.size(); ++i)
      if (std::optional<Address> vtable = table_.variable(first + static_cast<i64>(i)))
        d_.descriptor.set_number(find_frame_kind(names[i].data())->identifier(), *vtable, false, Origin::discovered);
  }
  // Returns the kind that most lists end with, apart from calls and helper methods: the runtime starts threads under
  // it.
  std::optional<u64> start_of_threads(const std::map<u64, Seen> &seen) const {
    std::map<u64, u64> ends;
    for (const FramePlace &frame : frames_)
      if (const Seen &of = seen.at(frame.identifier); frame.is_last && !of.is_call && !of.may_be_helper)
        ++ends[frame.identifier];
    u64 most = 0, second = 0, vtable = 0;
    for (auto [identifier, count] : ends)
      if (count > most) {
        second = most;
        most = count;
        vtable = identifier;
      } else {
        second = std::max(second, count);
      }
    return most > second ? std::optional(vtable) : std::nullopt;
  }
  // True if the kind's pointers lead where they should: to a CONTEXT with this stack, to places of references.
  bool may_be(u64 vtable, const FrameKind &kind) const {
    const HelperMethodLayout helper(d_.target.architecture, d_.target.os);
    for (const FramePlace &frame : frames_) {
      if (frame.identifier != vtable)
        continue;
      auto is_on_stack = [&](u64 offset) {
        return frame.thread->holds(d_.word(frame.address + offset).value_or(0) & ~u64{1});
      };
      if (kind.shape == FrameShape::faulting_exception && !is_on_stack(place_of_stack_pointer()))
        return false;
      if ((kind.shape == FrameShape::transition || kind.shape == FrameShape::resumable) && !is_on_stack(16))
        return false;
      const u64 places = kind.protected_places == FrameKind::all ? 1 : kind.protected_places;
      for (u64 i = 0; i < places; ++i)
        if (!is_on_stack(helper.end + 8 * i))
          return false;
      if (kind.protected_places == FrameKind::all &&
          d_.memory.try_load<u32>(frame.address + helper.end + 8).value_or(max_protected + 1) > max_protected)
        return false;
    }
    return true;
  }
  // Returns the kinds that the existing Frames have if the vtables begin at `first`. Only the shapes of kinds count, as
  // nothing else matters to readers.
  std::vector<u64> kinds_told(const std::vector<std::string_view> &names, const std::map<u64, Seen> &seen,
                              i64 first) const {
    std::vector<u64> out;
    for (const auto &[vtable, of] : seen) {
      const i64 place = of.index ? *of.index - first : -1;
      if (place < 0 || place >= static_cast<i64>(names.size()))
        return {};
      const FrameKind *kind = find_frame_kind(names[static_cast<u64>(place)].data());
      out.push_back(static_cast<u64>(kind->shape) << 8 | kind->protected_places);
    }
    return out;
  }

  void derive_inlined_calls() {
    const std::optional<u64> identifier = d_.descriptor.try_number(std::string(inlined_call) + "Identifier");
    const bool any = identifier && std::any_of(frames_.begin(), frames_.end(), [&](const FramePlace &frame) {
                       return frame.identifier == *identifier;
                     });
    if (!any || d_.descriptor.find_field("InlinedCallFrame", "CallerReturnAddress"))
      return;
    d_.choose(
        "InlinedCallFrame", "CallSiteSP",
        [&] {
          return std::vector{3 * p_, 4 * p_};
        },
        [&](i64 x) { return are_calls(*identifier, x); },
        "for every Frame of a native call, it is the caller's stack pointer, below the Frame, and the return address "
        "follows");
  }

  // Records on the stack by which native code of the runtime protects references; their second word is their Thread. If
  // no thread has one, nothing is lost.
  bool is_protected(const ThreadPlace &thread, u64 at) const {
    const std::optional<u64> places = d_.word(at + 16);
    const std::optional<u32> count = d_.memory.try_load<u32>(at + 24);
    return thread.holds(at) && d_.word(at + 8) == thread.address && places && d_.word(*places) && count &&
           *count <= max_protected;
  }
  void derive_protected() {
    std::vector<Address> addresses;
    for (const ThreadPlace &thread : threads_)
      addresses.push_back(thread.address);
    const std::vector<i64> words = Derivation::offsets(0, largest_thread(d_, addresses), p_);
    auto passes = [&](i64 x) -> Verdict {
      bool any = false;
      Vote vote;
      for (const ThreadPlace &thread : threads_) {
        const std::optional<u64> head = d_.word(thread.address + u64(x));
        const bool has_one = head && *head != 0 && *head != no_frame;
        const bool is_sound = head && (!has_one || is_protected(thread, *head));
        vote.add(is_sound);
        any |= has_one && is_sound;
      }
      return any || vote.verdict().fails() ? vote.verdict() : Verdict::cannot_tell();
    };
    const bool any = std::any_of(words.begin(), words.end(), [&](i64 x) { return passes(x).passes(); });
    if (any || d_.descriptor.try_offset("Thread", "GCFrame"))
      d_.choose(
          "Thread", "GCFrame", [&] { return words; }, passes,
          "for most threads, it is null or leads to a record on the thread's own stack that holds the Thread and the "
          "references that it protects");
  }

  Derivation &d_;
  const i64 p_;
  const DacTable table_;
  const FrameLayout *const layout_; // for the processor
  std::vector<ThreadPlace> threads_;
  std::vector<FramePlace> frames_, elsewhere_; // on the threads' own stacks, and on others
};

} // namespace

void derive_frames(Derivation &derivation, std::span<const ThreadData> threads, Address gc_variable) {
  FramesDerivation(derivation, threads, gc_variable).run();
}

} // namespace dnheap
