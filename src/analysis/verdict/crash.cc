#include "analysis/verdict/crash.h"

#include "algorithms/repeats.h"
#include "analysis/names/call_text.h"
#include "analysis/names/source_line_text.h"
#include "analysis/threads/exception_objects.h"
#include "analysis/threads/thread_text.h"
#include "analysis/verdict/oom_text.h"
#include "base/text.h"
#include "objects/interrupted_thread.h"
#include "runtime/facts/crash_info.h"
#include "runtime/thread_registers.h"
#include "snapshot/native_functions.h"
#include "snapshot/source_lines.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

using report::Cell;
using report::Fact;

constexpr const char *signal_names[] = {
    "",          "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
    "SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
    "SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
    "SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS"};
constexpr u32 sig_abort = 6, sig_fpe = 8, sig_segv = 11;
constexpr i32 code_of_kernel = 0x80; // SI_KERNEL

struct CodeName {
  u32 code;
  const char *name;
};
constexpr u32 access_violation = 0xc0000005, in_page_error = 0xc0000006, windows_overflow = 0xc00000fd,
              dotnet_exception = 0xe0434352, code_of_fail_fast = 0x80131623, code_of_fatal_error = 0x80131506;
constexpr CodeName exception_codes[] = {
    {access_violation, "access violation"},      {in_page_error, "in-page error"},
    {windows_overflow, "stack overflow"},        {0xc000001d, "illegal instruction"},
    {0xc0000094, "integer division by zero"},    {0xc0000374, "damaged native heap"},
    {0xc0000409, "fail fast in native code"},    {dotnet_exception, ".NET exception"},
    {code_of_fail_fast, "Environment.FailFast"}, {code_of_fatal_error, "fatal error of the runtime"},
};

const char *name_of_code(u32 code) {
  for (const CodeName &one : exception_codes)
    if (one.code == code)
      return one.name;
  return "exception";
}

std::string signal_name(u32 number) {
  return number && number < std::size(signal_names) ? signal_names[number] : "signal " + std::to_string(number);
}

const char *access_name(i32 code) { return code == 0 ? "reading" : code == 1 ? "writing to" : "running"; }

// Returns why Linux sent the signal, as far as siginfo_t shows it.
std::string reason_of_signal(const CrashSignal &crash) {
  constexpr i32 no_access = 2, division_by_zero = 1;
  if (crash.number == sig_segv && crash.address)
    return (crash.code == no_access ? "no access to address " : "invalid address ") + hex(*crash.address);
  if (crash.number == sig_segv && crash.code == code_of_kernel)
    return "an invalid address, which the system does not report";
  if (crash.number == sig_fpe && crash.code == division_by_zero)
    return "division by zero" + (crash.address ? " at " + hex(*crash.address) : "");
  if (crash.address)
    return "at address " + hex(*crash.address);
  return "";
}

// True for calls that throw or end the process, between the call that does so and the runtime.
bool is_throwing(const std::string &method) {
  return method.starts_with("System.Runtime.EH.") || method.starts_with("System.RuntimeExceptionHelpers.");
}

// True for calls that exceptions do not record: stubs, calls that throw, and the caller of Main (.NET 11).
bool is_no_call_of_program(const std::string &method) {
  return method.starts_with(stub_class) || is_throwing(method) || method == "System.Environment.CallEntryPoint";
}

constexpr std::string_view no_access = "Access Violation"; // the start of NativeAOT's message for one

constexpr u64 longest_noted = 1024; // of a name that the program recorded

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
    if (cause_ == Cause::stack_overflow)
      find_recursion();
    if (exception_ && type_name(exception_->method_table) == "System.OutOfMemoryException")
      oom_ = last_oom_text(snapshot);
  }

  const Notes &notes() const { return notes_; }
  // True if the runtime has looked for a handler in all calls of that thread, and found none.
  bool found_no_handler() const { return exception_ && has_passed_through_all(); }

  std::string text() { return oom_.empty() ? text_of_reason() : text_of_reason() + "; " + oom_; }

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
      return fmt::format("ended by an unhandled {}{}{}, on thread {}", exception_text(), inner_text(), thrown_text(),
                         crash_.thread);
    std::string out = (is_signal_ ? "ended by " : "dumped for ") + signal_text(crash_, runtime_.target().os);
    out += fmt::format(" on thread {}", crash_.thread);
    if (!thread_)
      out += ", which is not a thread of the runtime";
    switch (cause_) {
    case Cause::unhandled_exception: return out + ": unhandled " + exception_text() + inner_text() + thrown_text();
    case Cause::stack_overflow: return out + ": stack overflow" + in_method() + recursion_text();
    case Cause::fail_fast:
      return out + ": Environment.FailFast" + (method_.empty() ? "" : ", called by " + method_ + method_line()) +
             given_exception();
    case Cause::fatal_error:
      return out + ": " + (inner_of_fatal_error_.empty() ? "fatal error of the runtime" : inner_of_fatal_error_) +
             in_method();
    default: break;
    }
    if (const std::string place = stands_in_method_ ? "" : native_place(); !place.empty())
      out += ": in " + place + (method_.empty() ? "" : ", which " + method_ + method_line() + " called");
    else if (!method_.empty())
      out += stands_in_method_ ? ":" + in_method() : ": in native code that " + method_ + method_line() + " called";
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
        faulted_ |= kind == "FaultingExceptionFrame";
        allocates_ |= kind == "DynamicHelperFrame"; // .NET 10: allocations throw OutOfMemoryException
        continue;
      }
      const MethodText text = runtime_.method_text(frame.method_desc);
      if (is_throwing(text.qualified)) {
        throws_ = true;
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

  // Returns the native function in which the signal came, "libc.so.6!strlen+0x12": the one behind the signal's return
  // point, if the thread handles the signal; else the innermost. Empty: that is a managed method, or unknown. Opens the
  // module's files.
  std::string native_place() const {
    const StackFrame *place = nullptr;
    for (const StackFrame &frame : stack_.frames) {
      if (frame.kind == StackFrame::Kind::explicit_)
        continue;
      if (frame.kind != StackFrame::Kind::native)
        break;
      if (!place || frame.is_active)
        place = &frame;
    }
    if (!place)
      return "";
    NativeFunctions functions(snapshot_);
    return place_text(runtime_.target(), functions, place->ip, !place->is_active).name;
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
      method_ = runtime_.method_text(method_desc).name;
    }
    return method_desc != 0;
  }

  // The end of an overflowed stack consists of calls of the methods that recur.
  void find_recursion() {
    std::vector<Address> calls; // innermost first
    for (const StackFrame *frame : method_frames(stack_))
      if (frame->method_desc)
        calls.push_back(frame->method_desc);
    if (method_.empty() && interrupted_)
      calls = calls_left_on_stack();
    set_recursion(calls);
  }

  // For a stack that cannot be walked: finds the method whose return address is most frequent at the end of the stack.
  std::vector<Address> calls_left_on_stack() {
    constexpr u64 looked_at = 64 << 10, enough = 100;
    const Memory &memory = runtime_.memory();
    const u64 p = memory.format().pointer_size;
    const Address start = std::max(interrupted_->stack_pointer, *thread_->stack_limit); // it may be beyond the end
    const Bytes stack = memory.peek_up_to(start, looked_at);
    std::vector<Address> calls;
    std::map<Address, u64> counts;
    std::pair<u64, Address> most;
    for (u64 at = 0; at + p <= stack.size() && most.first < enough; at += p)
      if (const Address method = runtime_.method_at(load_pointer(stack.data() + at, memory.format()))) {
        calls.push_back(method);
        if (const u64 count = ++counts[method]; count > most.first)
          most = {count, method};
      }
    if (set_method(most.second)) {
      memory.note_read(start, stack.size());
      notes_.remove(Subject::crash_place);
    }
    return calls;
  }

  void set_recursion(const std::vector<Address> &calls) {
    constexpr u64 few = 10; // times
    Repeat most;
    for (const Repeat &repeat : repeats_of(calls))
      if (repeat.times >= few && repeat.times * repeat.length > most.times * most.length)
        most = repeat;
    for (u64 i = most.length; most.times > 1 && i > 0; --i)
      recursion_.push_back(runtime_.method_text(calls[most.first + i - 1]).name);
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
    if (!info->stack.empty() && has_exception())
      thrown_in_ = name_of_noted(info->stack.front());
    if (info->message.starts_with(no_access)) {
      cause_ = Cause::fatal_error;
      inner_of_fatal_error_ = "invalid access to memory";
    } else if (info->reason == CrashInfo::Reason::unhandled_exception && has_exception()) {
      cause_ = Cause::unhandled_exception;
      if (!thrown_in_.empty()) // the thread is still in that method, but its stack may not be readable that far
        method_ = thrown_in_;
    } else if (info->reason == CrashInfo::Reason::fail_fast) {
      cause_ = Cause::fail_fast;
      given_ = exception_ ? exception_->address : 0;
    } else if (info->reason == CrashInfo::Reason::internal_failure) {
      cause_ = Cause::fatal_error;
    }
  }

  // The recorded text may name methods that nothing else names.
  std::string name_of_noted(const CrashInfo::Frame &frame) const {
    const std::string noted = printable(frame.name.substr(0, frame.name.find('(')), longest_noted);
    const std::string found = frame.method ? runtime_.method_text(frame.method).name : "";
    const Module &module = runtime_.module();
    const bool is_place = found.starts_with(std::string(module.file_name()) + "+");
    return found.empty() || (is_place && !noted.empty()) ? noted : found;
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
    return ((throws_ || faulted_ || allocates_) && passed_through(*exception_)) || has_passed_through_all();
  }
  // If native code of the runtime threw the exception, the stack does not show that. But the thread is handling the
  // exception, no handler (which would be a funclet) runs, and each call, up to the outermost one, is where the
  // exception recorded it. Only the innermost call is elsewhere: the exception recorded the address to which the native
  // code would have returned.
  bool has_passed_through_all() const {
    constexpr u64 most_of_call = 4; // the exception recorded an address inside the call, the frame has the return
                                    // address: at most this far apart
    if (!is_at_hand_ || !stack_.is_complete())
      return false;
    const u64 noted = std::min(exception_->methods.size(), exception_->ips.size());
    u64 left = noted;
    for (u64 i = stack_.frames.size(); i-- > 0;) {
      const StackFrame &frame = stack_.frames[i];
      if (frame.is_funclet || frame.is_unwound)
        return false;
      if (frame.kind != StackFrame::Kind::method)
        continue;
      if (left > 0 && exception_->methods[left - 1] == frame.method_desc &&
          (left == 1 || frame.ip - exception_->ips[left - 1] <= most_of_call)) {
        --left;
      } else if (!frame.method_desc || !is_no_call_of_program(runtime_.method_text(frame.method_desc).qualified)) {
        return false;
      }
    }
    return left < noted;
  }

  bool is_exception(Address object) const { return object && objects_.is_exception(object); }
  const std::string &type_name(Address method_table) const { return runtime_.types().name(method_table); }
  std::string exception_text() const {
    return exception_ ? type_name(exception_->method_table) + " " + hex(exception_->address) : noted_exception_;
  }
  std::string inner_text() const {
    const std::string inners = exception_ ? objects_.inner_types(*exception_) : noted_inner_;
    return inners.empty() ? "" : " (inside: " + inners + ")";
  }
  std::string in_method() { return method_.empty() ? "" : " in " + method_ + method_line(); }
  std::string thrown_text() {
    if (thrown_in_.empty())
      return "";
    const bool has_place = exception_ && !exception_->methods.empty() && !exception_->ips.empty();
    return ", thrown in " + thrown_in_ +
           (has_place ? line_at(exception_->methods.front(), exception_->ips.front(), false) : "");
  }
  std::string method_line() { return method_ip_ ? line_at(method_desc_, method_ip_, !stands_in_method_) : ""; }
  // " (Cart.cs:41)"; empty: unknown. Looks for the module's symbols.
  std::string line_at(Address method_desc, Address ip, bool returns_there) {
    if (!lines_)
      lines_.emplace(snapshot_);
    return line_in_brackets(lines_->find(method_desc, ip, returns_there).at);
  }
  // Empty if the recursion is only a method that calls itself.
  std::string recursion_text() const {
    if (recursion_.empty() || (recursion_.size() == 1 && recursion_[0] == method_))
      return "";
    return ": " + calls_text(recursion_, " → ") + ", again and again";
  }
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
  bool throws_ = false, faulted_ = false, allocates_ = false, fails_fast_ = false, stands_in_method_ = false;
  Address method_desc_ = 0, method_ip_ = 0; // 0: unknown where in the method
  std::optional<SourceLines> lines_;        // once somebody asks
  Address given_ = 0;                       // to FailFast, if the program recorded it
  std::string method_, thrown_in_, inner_of_fatal_error_;
  std::string noted_exception_, noted_inner_; // types of an exception that is not found on the heap
  std::vector<std::string> recursion_;        // outermost first
  std::optional<ExceptionObject> exception_, first_nested_;
  bool is_at_hand_ = false;
  std::string oom_; // the GC's record, if memory was the reason
  Notes notes_;
};

} // namespace

std::string signal_text(const CrashSignal &crash, OperatingSystem os) {
  if (os == OperatingSystem::windows || os == OperatingSystem::macos) {
    std::string out = fmt::format("{} (0x{:08x}", name_of_code(crash.number), crash.number);
    if (crash.code && crash.address)
      out += fmt::format(", {} {}", access_name(*crash.code), hex(*crash.address));
    return out + ")";
  }
  const std::string reason = reason_of_signal(crash);
  return signal_name(crash.number) + (reason.empty() ? "" : " (" + reason + ")");
}

namespace {

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

void add_crash(const Snapshot &snapshot, report::Answer &answer) {
  const std::optional<CrashSignal> crash = snapshot.target().crash ? snapshot.target().crash : unhandled_in(snapshot);
  if (!crash)
    return;
  Ending ending(snapshot, *crash);
  answer.lead = ending.text();
  answer.target.push_back({"crash", ending.facts()});
  answer.completeness->notes.add_all(ending.notes());
}

} // namespace dnheap
