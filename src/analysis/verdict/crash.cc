#include "analysis/verdict/crash.h"

#include "analysis/names/method_in_source.h"
#include "analysis/names/source_line_text.h"
#include "analysis/threads/exception_objects.h"
#include "analysis/threads/thread_text.h"
#include "analysis/verdict/collected_delegate.h"
#include "analysis/verdict/crash_signal.h"
#include "analysis/verdict/exception_cause.h"
#include "analysis/verdict/exception_message.h"
#include "analysis/verdict/fail_fast_message.h"
#include "analysis/verdict/native_overflow.h"
#include "analysis/verdict/native_place.h"
#include "analysis/verdict/noted_method.h"
#include "analysis/verdict/oom_text.h"
#include "analysis/verdict/own_call.h"
#include "analysis/verdict/passed_through_all.h"
#include "analysis/verdict/recursion.h"
#include "analysis/verdict/thrown_in_pieces.h"
#include "base/text.h"
#include "objects/interrupted_thread.h"
#include "runtime/facts/crash_info.h"
#include "runtime/thread_registers.h"
#include "snapshot/source_lines.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Fact;

constexpr std::string_view no_access = "Access Violation"; // the start of NativeAOT's message for one

enum class Cause : u8 { unhandled_exception, fail_fast, stack_overflow, fatal_error, signal, exception_code };
constexpr const char *cause_names[] = {"unhandled_exception", "fail_fast", "stack_overflow",
                                       "fatal_error",         "signal",    "exception_code"};

class Ending {
public:
  Ending(const Snapshot &snapshot, const CrashSignal &crash)
      : snapshot_(snapshot), runtime_(snapshot.runtime()), crash_(crash), objects_(snapshot),
        is_signal_(snapshot.target().os != OperatingSystem::windows && snapshot.target().os != OperatingSystem::macos) {
    cause_ = is_signal_ ? Cause::signal : Cause::exception_code;
    find_thread();
    if (thread_)
      read_stack();
    else if (crash_.thread)
      stack_ = native_stack(runtime_, crash_.thread);
    find_exception();
    find_cause();
    read_crash_info();
    find_overflow();
    find_native_overflow();
    if (cause_ == Cause::stack_overflow && native_.empty())
      find_recursion();
    if (cause_ == Cause::fatal_error && inner_of_fatal_error_.empty())
      find_collected_delegate();
    if (cause_ == Cause::fail_fast)
      message_ = fail_fast_message(snapshot_, stack_, stands_at_);
    if (exception_ && is_out_of_memory(type_name(exception_->method_table) + objects_.inner_types(*exception_)))
      oom_ = last_oom_text(snapshot);
    has_message_ =
        cause_ == Cause::unhandled_exception && exception_ && has_telling_message(snapshot_, objects_, *exception_);
  }

  const Notes &notes() const { return notes_; }
  // True if the runtime has looked for a handler in all calls of that thread, and found none.
  bool found_no_handler() const { return passed_through_all_calls(); }

  std::string text() {
    return text_of_reason() + (oom_.empty() ? "" : "; " + oom_) +
           (has_message_ ? ". It has a message, which exceptions --values shows" : "");
  }

  // The command that shows more.
  Crash crash() {
    Crash out{.text = text(), .verb = "stack", .options = "", .is_sent = is_sent(), .is_in_native = false};
    if (message_)
      out.verb = "show", out.options = " " + hex(message_) + " --values";
    else if (cause_ == Cause::unhandled_exception || (cause_ == Cause::fail_fast && !given_exception().empty()))
      out.verb = "exceptions", out.options = has_message_ ? " --values" : "";
    else if (out.is_sent)
      out.verb = "threads";
    else if (crash_.thread)
      out.options = " " + std::to_string(crash_.thread);
    out.is_in_native = !out.is_sent && delegate_.empty() &&
                       (cause_ == Cause::signal || cause_ == Cause::exception_code || cause_ == Cause::fatal_error);
    return out;
  }

  std::vector<Fact> facts() {
    const bool is_violation = !is_signal_ && crash_.code;
    return {{"cause", cause_names[static_cast<u8>(cause_)]},
            {"text", text()},
            {"signal", is_signal_ ? Cell(signal_name(crash_.number)) : Cell()},
            {"signal_code", is_signal_ ? Cell(crash_.code) : Cell()},
            {"exception_code", is_signal_ || !crash_.number ? Cell() : Cell(fmt::format("0x{:08x}", crash_.number))},
            {"access", is_violation ? Cell(*crash_.code == 0   ? "read"
                                           : *crash_.code == 1 ? "write"
                                                               : "execute")
                                    : Cell()},
            {"fault_address", crash_.address ? Cell(hex(*crash_.address)) : Cell()},
            {"sender", is_sent() ? Cell(u64{crash_.sender}) : Cell()},
            {"os_id", crash_.thread},
            {"managed_id", thread_ ? Cell(thread_->managed_id) : Cell()},
            {"method", report::text_cell(method_)},
            {"recursion", std::vector<Cell>(recursion_.begin(), recursion_.end())},
            {"exception", exception_ ? Cell(hex(exception_->address)) : Cell()},
            {"exception_type",
             exception_ ? Cell(type_name(exception_->method_table)) : report::text_cell(noted_exception_)},
            {"thrown_in", report::text_cell(thrown_in_)}};
  }

private:
  std::string text_of_reason() {
    if (!crash_.number)
      return fmt::format("ended by an unhandled {}, on thread {}", unhandled_text(), crash_.thread);
    std::string out = (is_signal_ ? "ended by " : "dumped for ") + signal_text(crash_, runtime_.target().os);
    if (is_sent())
      return out + fmt::format(", which process {} sent to it", crash_.sender);
    out += fmt::format(" on thread {}", crash_.thread);
    if (!thread_)
      out += ", which is not a thread of the runtime";
    switch (cause_) {
    case Cause::unhandled_exception: return out + ": unhandled " + unhandled_text();
    case Cause::stack_overflow:
      return out + ": stack overflow" +
             (native_.empty() ? in_method() + recursion_text(recursion_, method_) : " in " + native_ + which_called());
    case Cause::fail_fast:
      return out + ": Environment.FailFast" + with_method(", called by ") + given_exception() +
             (message_ ? "; its message is the string " + hex(message_) : "");
    case Cause::fatal_error:
      if (!delegate_.empty())
        return out + ": callback on a delegate of type " + delegate_ + " that had been garbage collected, by " +
               (native_.empty() ? "native code" : native_) + which_called() +
               "; the program must keep the delegate as long as native code may call it";
      return out + ": " + (inner_of_fatal_error_.empty() ? "fatal error of the runtime" : inner_of_fatal_error_) +
             in_method();
    default: break;
    }
    const bool aborted = is_signal_ && crash_.number == sig_abort;
    if (const std::string place = stands_in_method_ ? "" : native_place(snapshot_, stack_, aborted); !place.empty())
      out += ": in " + place + which_called() + (aborted ? failure_in_words(place) : "");
    else if (!method_.empty())
      out += stands_in_method_ ? ":" + in_method() : with_method(": in native code that ", " called");
    if (exception_)
      out += "; the last exception of that thread is " + exception_text();
    return out;
  }

  void find_thread() {
    try {
      Notes ignored; // the verbs that list threads report them
      for (const ThreadData &thread : runtime_.threads(ignored))
        if (thread.os_id == crash_.thread && crash_.thread)
          thread_ = thread;
    } catch (const Error &e) {
      notes_.add(Subject::crash_thread, Effect::none, "", e);
    }
  }

  // Finds the innermost method that does more than throw or end, and notes how the frames further in throw or end.
  void read_stack() {
    stack_ = runtime_.walk_stack(*thread_, ListedFrames::all);
    for (const StackFrame &frame : stack_.frames) {
      if (frame.is_unwound || frame.kind == StackFrame::Kind::native)
        continue;
      if (frame.kind == StackFrame::Kind::explicit_) {
        const std::string_view kind = frame.frame_name;
        throws_ |= kind.starts_with("HelperMethodFrame") || kind == "SoftwareExceptionFrame";
        software_throws_ |= kind == "SoftwareExceptionFrame";
        faulted_ |= kind == "FaultingExceptionFrame";
        allocates_ |= kind == "DynamicHelperFrame"; // .NET 10: allocations throw OutOfMemoryException
        continue;
      }
      const MethodText text = runtime_.method_text(frame.method_desc);
      if (is_throwing(text.qualified)) {
        throws_ = true;
      } else if (text.qualified.starts_with(stub_class)) { // whoever called native code is further out
        continue;
      } else if (text.qualified == "System.Environment.FailFast") {
        fails_fast_ = true;
      } else {
        set_method(frame.method_desc);
        method_ip_ = frame.ip;
        stands_in_method_ = frame.is_active || faulted_;
        stands_at_ = frame.sp;
        return;
      }
    }
    find_interrupted_method();
    if (method_.empty() && !stack_.is_complete())
      notes_.add(Subject::crash_place, Effect::none, stack_.why_not);
  }

  // The thread handles the signal on another stack, from which its own stack cannot be followed.
  void find_interrupted_method() {
    const Target &target = runtime_.target();
    const Thread *registers = find_registers(target, *thread_);
    if (!registers || !thread_->stack_base || !thread_->stack_limit || in_stack(*thread_, registers->stack_pointer))
      return;
    interrupted_ = find_interrupted(target, *registers, *thread_->stack_limit, *thread_->stack_base);
    if (interrupted_ && set_method(runtime_.method_at(interrupted_->instruction_pointer))) {
      stands_in_method_ = true;
      method_ip_ = interrupted_->instruction_pointer;
    }
  }

  bool set_method(Address method_desc) {
    if (method_desc) {
      method_desc_ = method_desc;
      const MethodText text = runtime_.method_text(method_desc);
      method_ = text.name;
      method_in_words_ = method_in_source(text);
    }
    return method_desc != 0;
  }

  // The end of an overflowed stack consists of calls of the methods that recur.
  void find_recursion() {
    std::vector<Address> calls; // innermost first
    for (const StackFrame *frame : method_frames(stack_))
      if (frame->method_desc)
        calls.push_back(frame->method_desc);
    if (method_.empty() && interrupted_) { // the stack pointer may be beyond the end
      CallsLeft left = calls_left_on_stack(runtime_, std::max(interrupted_->stack_pointer, *thread_->stack_limit));
      if (set_method(left.most))
        notes_.remove(Subject::crash_place);
      calls = std::move(left.calls);
    }
    recursion_ = recursion_of(runtime_, calls);
  }

  // The runtime's handler of the signal may have failed, too, or may only name the method that called native code.
  void find_native_overflow() {
    if (thread_ && (cause_ == Cause::stack_overflow || (cause_ == Cause::signal && crash_.number == sig_segv)))
      native_ = native_overflow(snapshot_, *thread_, stack_, interrupted_);
    if (!native_.empty())
      cause_ = Cause::stack_overflow;
  }

  void find_collected_delegate() {
    if (stack_.frames.empty() || !stands_at_)
      return;
    delegate_ = collected_delegate(runtime_.memory(), stack_.frames.front().sp, stands_at_);
    if (!delegate_.empty())
      native_ = native_caller(snapshot_, stack_);
  }

  void find_exception() {
    if (!crash_.thread)
      return;
    Notes of_exceptions;
    for (const ExceptionInFlight &one : objects_.in_flight(of_exceptions)) {
      if (one.os_id != crash_.thread)
        continue;
      const ExceptionObject read = objects_.read({one.object, method_table_of(runtime_.memory(), one.object)});
      // The runtime swallows an exception that a filter throws: it was thrown last, but the thread is handling another
      // one. The runtime's own exceptions pass through no calls.
      if (!exception_ || (!is_at_hand_ && one.is_at_hand && !exception_->methods.empty())) {
        exception_ = read;
        is_at_hand_ = one.is_at_hand;
      } else if (!first_nested_) {
        first_nested_ = read;
      }
    }
    if (!exception_ && software_throws_ && !runtime_.why_no_heap().empty())
      exception_ = thrown_in_pieces(snapshot_, objects_, method_desc_);
    notes_.add_all(of_exceptions.up_to(Effect::none), Subject::crash_exception);
    if (exception_ && !exception_->methods.empty())
      thrown_in_ = runtime_.method_text(exception_->methods.front()).name;
  }

  void find_cause() {
    const bool is_abort = is_signal_ && crash_.number == sig_abort;
    if (!is_signal_ && crash_.number == windows_overflow)
      cause_ = Cause::stack_overflow;
    if (!is_signal_ && crash_.number == code_of_fail_fast)
      cause_ = Cause::fail_fast;
    if (!is_signal_ && crash_.number == code_of_fatal_error)
      cause_ = Cause::fatal_error;
    if (exception_ && !crash_.number)
      cause_ = Cause::unhandled_exception;
    if (is_abort && fails_fast_) // also if the objects are not in the dump
      cause_ = Cause::fail_fast;
    if (is_abort && !exception_ && software_throws_ && !runtime_.why_no_heap().empty())
      cause_ = Cause::unhandled_exception; // its object is not in the dump
    if (!exception_ || !(is_abort || !is_signal_))
      return;
    // The runtime has one object of each of these types for itself, which passes through no calls.
    const std::string type = type_name(exception_->method_table);
    const bool is_of_runtime = exception_->is_stack_known && exception_->methods.empty();
    if (is_of_runtime && type == "System.StackOverflowException")
      cause_ = Cause::stack_overflow;
    else if (is_of_runtime && type == "System.ExecutionEngineException")
      find_fatal_cause();
    else if ((is_abort || crash_.number == dotnet_exception) && (is_unhandled() || is_of_text()))
      cause_ = Cause::unhandled_exception;
  }

  // The runtime asks an unhandled exception for its text. An exception that ToString() throws meanwhile has unwound its
  // own calls only, and the unhandled exception is the one below it.
  bool is_of_text() {
    if (!first_nested_ || !throws_ || passed_through(*exception_) || !passed_through(*first_nested_))
      return false;
    exception_ = first_nested_;
    thrown_in_ = runtime_.method_text(exception_->methods.front()).name;
    return true;
  }
  // True if the exception passed through the method in which the thread is.
  bool passed_through(const ExceptionObject &exception) const {
    return std::find(exception.methods.begin(), exception.methods.end(), method_desc_) != exception.methods.end();
  }

  // FailFast puts the exception that it was given into the runtime's own.
  void find_fatal_cause() {
    cause_ = fails_fast_ || is_exception(exception_->inner) ? Cause::fail_fast : Cause::fatal_error;
    if (cause_ != Cause::fatal_error)
      return;
    if (faulted_)
      inner_of_fatal_error_ = first_nested_ ? type_name(first_nested_->method_table) : "invalid access to memory";
    else if (throws_)
      inner_of_fatal_error_ = "Environment.FailFast or a fatal error of the runtime";
  }

  // Reads what a NativeAOT program recorded before it ended itself.
  void read_crash_info() {
    const std::optional<CrashInfo> info =
        is_signal_ && crash_.number == sig_abort ? runtime_.crash_info() : std::nullopt;
    if (!info || info->thread != crash_.thread)
      return;
    if (is_exception(info->exception)) {
      exception_ = objects_.read({info->exception, method_table_of(runtime_.memory(), info->exception)});
      notes_.remove(Subject::crash_exception);
      if (const std::string &type = type_name(exception_->method_table);
          !info->exception_type.empty() && type != printable(info->exception_type, longest_noted))
        notes_.add("the program recorded that an exception of type " + printable(info->exception_type, longest_noted) +
                   " ended it, but the exception at the recorded address is of type " + type);
    } else if (!info->exception_type.empty()) {
      noted_exception_ = printable(info->exception_type, longest_noted);
      noted_inner_ = printable(info->inner_type, longest_noted);
    }
    is_place_noted_ = !info->stack.empty() && has_exception();
    if (is_place_noted_)
      thrown_in_ = noted_method(runtime_, info->stack.front());
    if (info->message.starts_with(no_access)) {
      cause_ = Cause::fatal_error;
      inner_of_fatal_error_ = "invalid access to memory";
    } else if (info->reason == CrashInfo::Reason::unhandled_exception && has_exception()) {
      cause_ = Cause::unhandled_exception;
      if (!thrown_in_.empty()) // the thread is still in that method, but its stack may not be readable that far
        method_ = method_in_words_ = thrown_in_;
    } else if (info->reason == CrashInfo::Reason::fail_fast) {
      cause_ = Cause::fail_fast;
      given_ = exception_ ? exception_->address : 0;
    } else if (info->reason == CrashInfo::Reason::internal_failure) {
      cause_ = Cause::fatal_error;
    }
  }

  bool has_exception() const { return exception_ || !noted_exception_.empty(); }

  // Recognizes a stack overflow. CoreCLR aborts on another stack. NativeAOT leaves it to the system, which sends
  // SIGSEGV for an address near the stack's end.
  void find_overflow() {
    if (cause_ != Cause::signal || !thread_ || !thread_->stack_limit || !thread_->stack_base)
      return;
    const Address limit = *thread_->stack_limit;
    auto is_near = [&](Address at) { return std::max(at, limit) - std::min(at, limit) < near_stack_end; };
    // The runtime aborts on another stack; its exception may not be in the dump.
    if (crash_.number == sig_abort && !exception_ && is_near(interrupted_ ? interrupted_->stack_pointer : stands_at_))
      cause_ = Cause::stack_overflow;
    if (crash_.number != sig_segv)
      return;
    const Thread *registers = find_registers(runtime_.target(), *thread_);
    // If there is no room for a signal's handler either, the system reports no address.
    if (!registers || (crash_.address ? !is_near(*crash_.address) : crash_.code != code_of_kernel))
      return;
    if (!is_near(registers->stack_pointer) && !interrupted_)
      interrupted_ = find_interrupted(runtime_.target(), *registers, limit, *thread_->stack_base);
    if (is_near(interrupted_ ? interrupted_->stack_pointer : registers->stack_pointer))
      cause_ = Cause::stack_overflow;
  }

  // If no call has a handler, the runtime's first pass ends before anything is unwound: the thread is still in the call
  // that threw.
  bool is_unhandled() const {
    return ((throws_ || faulted_ || allocates_) && passed_through(*exception_)) || passed_through_all_calls();
  }
  bool passed_through_all_calls() const {
    return is_at_hand_ && exception_ && has_passed_through_all(runtime_, stack_, *exception_);
  }

  bool is_exception(Address object) const { return object && objects_.is_exception(object); }
  const std::string &type_name(Address method_table) const { return runtime_.types().name(method_table); }
  std::string exception_text() const {
    return exception_ ? type_name(exception_->method_table) + " " + hex(exception_->address) : noted_exception_;
  }
  std::string unhandled_text() {
    if (exception_ && !is_place_noted_)
      return ExceptionCause(snapshot_, objects_, lines()).text(*exception_);
    if (!has_exception())
      return "exception, which is not in this dump" + with_method(", thrown in ");
    const std::string inners = exception_ ? objects_.inner_types(*exception_) : noted_inner_;
    return exception_text() + (inners.empty() ? "" : " (inside: " + inners + ")") +
           (thrown_in_.empty() ? "" : ", thrown in " + thrown_in_);
  }
  bool is_sent() const { return is_signal_ && is_sent_from_outside(crash_, snapshot_.target().pid); }
  // The method between two texts; empty if it is unknown.
  std::string with_method(const char *before, const char *after = "") {
    if (method_.empty())
      return "";
    const std::string line = method_ip_ ? line_at(method_desc_, method_ip_, !stands_in_method_) : "";
    return before + method_in_words_ + line + after + own_call(snapshot_, stack_, method_desc_, lines());
  }
  std::string which_called() { return with_method(", which ", " called"); }
  std::string in_method() { return with_method(" in "); }
  // " (Cart.cs:41)"; empty: unknown. Looks for the module's symbols.
  std::string line_at(Address method_desc, Address ip, bool returns_there) {
    return line_in_brackets(lines().find(method_desc, ip, returns_there).at);
  }
  SourceLines &lines() { return lines_ ? *lines_ : lines_.emplace(snapshot_); }
  std::string given_exception() const {
    const Address inner = given_ ? given_ : exception_ ? exception_->inner : 0;
    if (!is_exception(inner))
      return "";
    return ", with " + type_name(method_table_of(runtime_.memory(), inner)) + " " + hex(inner);
  }

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  const CrashSignal &crash_;
  ExceptionObjects objects_;
  const bool is_signal_;
  Cause cause_ = Cause::signal;
  std::optional<ThreadData> thread_;
  WalkedStack stack_;
  std::optional<InterruptedThread> interrupted_;
  Address stands_at_ = 0; // the stack pointer of `method_`
  std::string native_,
      delegate_; // the function that overflowed the stack or called the delegate, and the delegate's type
  bool throws_ = false, faulted_ = false, allocates_ = false, fails_fast_ = false, stands_in_method_ = false;
  Address method_desc_ = 0, method_ip_ = 0; // 0: unknown where in the method
  std::optional<SourceLines> lines_;        // once somebody asks
  Address given_ = 0;                       // to FailFast, if the program recorded it
  Address message_ = 0;                     // given to FailFast
  std::string method_, method_in_words_, thrown_in_, inner_of_fatal_error_;
  std::string noted_exception_, noted_inner_; // types of an exception that is not found on the heap
  std::vector<std::string> recursion_;        // outermost first
  std::optional<ExceptionObject> exception_, first_nested_;
  bool is_at_hand_ = false, is_place_noted_ = false, software_throws_ = false, has_message_ = false;
  std::string oom_; // the GC's record, if memory was the reason
  Notes notes_;
};

// The runtime's own dumps on Windows (createdump.exe) do not name their reason. The reason is an exception that a
// thread is handling, and for which no handler was found; the result has no exception code. Nullopt: no thread has such
// an exception, or several have.
std::optional<CrashSignal> unhandled_in(const Snapshot &snapshot) {
  if (snapshot.target().container != "minidump" || snapshot.runtime().kind() != std::string_view("coreclr"))
    return std::nullopt;
  std::optional<CrashSignal> found;
  Notes ignored;
  for (const ExceptionInFlight &one : ExceptionObjects(snapshot).in_flight(ignored)) {
    const CrashSignal crash{.thread = one.os_id.value_or(0)};
    if (one.is_nested || !one.is_at_hand || !crash.thread || !Ending(snapshot, crash).found_no_handler())
      continue;
    if (found)
      return std::nullopt;
    found = crash;
  }
  return found;
}

} // namespace

std::optional<Crash> add_crash(const Snapshot &snapshot, report::Answer &answer) {
  const std::optional<CrashSignal> signal = snapshot.target().crash ? snapshot.target().crash : unhandled_in(snapshot);
  if (!signal)
    return std::nullopt;
  Ending ending(snapshot, *signal);
  Crash crash = ending.crash();
  auto facts = ending.facts();
  if (const std::optional<CoreRecord> &record = snapshot.target().stored; record && record->seconds) {
    const std::string time = utc_text(*record->seconds);
    crash.text += "; at " + time;
    facts.push_back({"time", time});
  }
  answer.lead = crash.text;
  answer.target.push_back({"crash", std::move(facts)});
  answer.completeness->notes.add_all(ending.notes());
  return crash;
}

} // namespace dnheap
