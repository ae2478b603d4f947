#include "analysis/threads/thread_text.h"

#include "analysis/names/subject.h"
#include "analysis/shapes/base_types.h"
#include "base/not_found.h"
#include "base/text.h"
#include "runtime/facts/thread_details.h"
#include "runtime/object_1.h"
#include "runtime/string_object.h"
#include "snapshot/native_functions.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace dnheap {

namespace {

constexpr u64 max_name = 256;       // characters of a thread's name
constexpr u64 frames_looked_at = 8; // a waiting method is near the innermost end of the stack

struct Wait {
  const char *method; // the beginning of the method's name, without parameters
  const char *text;
  bool is_idle = false;
};
// Native calls: the first has a time limit, the second has none. Names of stubs contain them too:
// "<LowLevelMonitor_Wait>g____PInvoke|72_0".
constexpr std::string_view timed_wait = "LowLevelMonitor_TimedWait", endless_wait = "LowLevelMonitor_Wait";
// This method rethrows the exception of a failed task: the wait is over.
constexpr std::string_view rethrows = "System.Threading.Tasks.Task.ThrowIfExceptional";
// The first match counts; inner methods come first.
constexpr Wait waits[] = {
    {"System.Threading.Thread.Sleep", "sleep"},
    {"System.Threading.Thread.Join", "the end of a thread"},
    {"System.Threading.Monitor.Wait", "a pulse (Monitor.Wait)"},
    {"System.Threading.Monitor.ObjWait", "a pulse (Monitor.Wait)"},
    {"System.Threading.Condition.Wait", "a pulse (Monitor.Wait)"},
    {"System.Threading.Monitor.", "a lock"},
    {"System.Threading.Lock.", "a lock (System.Threading.Lock)"},
    {"System.Threading.ReaderWriterLockSlim.", "a lock (ReaderWriterLockSlim)"},
    {"System.Threading.SemaphoreSlim.", "a semaphore"},
    {"System.Threading.ManualResetEventSlim.", "an event"},
    // in_collection() decides by the methods' names whether the wait is for an item or a place.
    {"System.Collections.Concurrent.BlockingCollection<", wait_for_item},
    {"System.Threading.CountdownEvent.", "a countdown"},
    {"System.Threading.Barrier.", "a barrier"},
    {"System.Threading.Tasks.Task.", "a task"},
    {"System.Threading.CancellationTokenSource+Registrations.WaitForCallbackToComplete", wait_for_callback},
    {"System.GC.WaitForPendingFinalizers", wait_for_finalizers},
    {"System.Threading.LowLevelLifoSemaphore.", "work (idle pool worker)", true},
    {"System.Threading.PortableThreadPool+GateThread.", "the pool's timer", true},
    {"System.Threading.TimerQueue.", "the next timer", true},
    {"System.Threading.WaitHandle.", "a wait handle"},
    {"System.Diagnostics.Process.WaitForExit", "the end of a process"},
    {"System.Diagnostics.ProcessWaitState.WaitForExit", "the end of a process"},
    {"System.Net.Sockets.SocketAsyncEngine.", "sockets", true},
    {"System.IO.RandomAccess.", "a file"},
    {"System.IO.Strategies.", "a file"},
    {"System.ConsolePal", "the console"},
};

// Adding and taking both wait for a semaphore inside.
const char *in_collection(std::string_view method) {
  const u64 name = method.rfind('.');
  const std::string_view last = method.substr(name == method.npos ? 0 : name + 1);
  return last.starts_with("Add") || last.starts_with("TryAdd") ? wait_for_place : wait_for_item;
}

// True for waits that other waits use inside: if SemaphoreSlim.Wait calls Monitor.Wait, the program called the outer
// one.
bool is_inner(std::string_view text) {
  return text == "a pulse (Monitor.Wait)" || text == "a wait handle" || text == "a lock" || text == "an event" ||
         text == "a lock (System.Threading.Lock)"; // NativeAOT uses it for Monitor
}

// True for native calls at the inner end of waits, and for CoreLib's managed wait code (WaitSubsystem), which replaces
// native waits in some runtimes on Unix.
bool is_stub(std::string_view method) {
  constexpr std::string_view begins[] = {"Interop+",
                                         stub_class,
                                         "Microsoft.Win32.",
                                         "System.Threading.WaitSubsystem",
                                         "System.Threading.LowLevelMonitor.",
                                         "System.Threading.LowLevelThreadBlocker.",
                                         "System.Threading.NamedMutex"};
  return std::any_of(std::begin(begins), std::end(begins),
                     [&](std::string_view begin) { return method.starts_with(begin); });
}

constexpr std::string_view waits_for_callbacks =
    "System.Threading.CancellationTokenSource+Registrations.WaitForCallbackToComplete";

// True for the library's loop, if it sleeps or computes until a callback has ended. Other waits spin in it for a short
// while before they begin.
bool spins_for_callback(const Runtime &runtime, const WalkedStack &stack, u64 frame) {
  constexpr std::string_view spins = "System.Threading.SpinWait.";
  constexpr u64 frames_of_loop = 3;
  for (u64 i = frame; i < std::min<u64>(stack.frames.size(), frame + frames_of_loop); ++i) {
    const std::string method =
        stack.frames[i].method_desc ? runtime.method_text(stack.frames[i].method_desc).qualified : "";
    if (!method.starts_with(spins))
      return i > frame && method.starts_with(waits_for_callbacks);
  }
  return false;
}

std::optional<u64> number(std::string_view text) {
  u64 out = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

// Peeks, so that the name is not noted as a value that was read: `extract --no-values` blanks names of threads like all
// strings.
std::string name_in(const Runtime &runtime, Address text) {
  const u64 length = std::min<u64>(string_length(runtime, text).value_or(0), max_name);
  const i64 first = runtime.descriptor().try_offset("String", "m_FirstChar").value_or(0);
  std::vector<std::byte> characters(2 * length);
  if (!first || !runtime.memory().peek(text + static_cast<u64>(first), characters) ||
      std::all_of(characters.begin(), characters.end(), [](std::byte b) { return b == std::byte{}; }))
    return "";
  return printable(utf16_to_utf8(characters, runtime.memory().format().byte_order), max_name);
}

} // namespace

std::string thread_name(const Runtime &runtime, const ThreadDetails &details) {
  const Address type = details.object ? method_table_of(runtime.memory(), details.object) : 0;
  if (type && runtime.types().object_layout(type))
    for (const InstanceField &field : runtime.fields().instance_fields(type))
      if (field.name == "_name" && field.is_reference())
        if (Address text = runtime.memory().try_pointer(details.object + field.offset).value_or(0))
          return name_in(runtime, text);
  return details.is_finalizer ? ".NET Finalizer" : ""; // the name that the runtime gives it in the operating system
}

std::string thread_state(const ThreadDetails &details) {
  if (!details.state)
    return "";
  const u32 state = *details.state;
  if (state & ThreadDetails::dead)
    return "dead";
  if (state & ThreadDetails::unstarted)
    return "unstarted";
  std::string out = state & ThreadDetails::background ? "background" : "foreground";
  if (state & ThreadDetails::pool_worker)
    out += ", pool worker";
  if (state & ThreadDetails::in_sta)
    out += ", STA";
  return out;
}

std::string wait_in_words(std::string_view text, bool is_many) {
  if (text == "sleep")
    return is_many ? "sleep" : "sleeps";
  return (is_many ? "wait for " : "waits for ") + std::string(text);
}

std::vector<const StackFrame *> method_frames(const WalkedStack &stack) {
  std::vector<const StackFrame *> out;
  for (const StackFrame &frame : stack.frames)
    if (frame.kind == StackFrame::Kind::method && !frame.is_unwound)
      out.push_back(&frame);
  return out;
}

MethodText place_text(const Target &target, Address ip) {
  MethodText out;
  out.name = hex(ip);
  if (const Module *module = target.find_module(ip)) {
    out.module = printable(module->file_name(), 200);
    out.name = out.module + "+" + hex(ip - module->base);
  }
  out.qualified = out.name;
  return out;
}

MethodText place_text(const Target &target, NativeFunctions &functions, Address ip, bool is_return) {
  MethodText out = place_text(target, ip);
  if (const Module *module = target.find_module(ip))
    if (const std::string function = functions.find(*module, ip, is_return); !function.empty())
      out.name = out.module + "!" + function;
  return out;
}

WalkedStack native_stack(const Runtime &runtime, u64 os_id) {
  ThreadData thread;
  thread.os_id = os_id;
  WalkedStack out = runtime.follow_stack(thread, ListedFrames::all);
  out.why_not.clear(); // the runtime does not know its bounds, and need not
  return out;
}

MethodText frame_text(const Runtime &runtime, const StackFrame &frame) {
  return frame.method_desc ? runtime.method_text(frame.method_desc) : place_text(runtime.target(), frame.ip);
}

// The method that waits is the first one that is not itself part of waiting.
WaitText waits_for(const Runtime &runtime, const WalkedStack &stack) {
  WaitText out;
  u64 looked_at = 0;
  for (u64 i = 0; i < stack.frames.size(); ++i) {
    const StackFrame &frame = stack.frames[i];
    if (!frame.method_desc || frame.is_unwound)
      continue;
    if (frame.is_active || ++looked_at > frames_looked_at)
      break;
    const MethodText text = runtime.method_text(frame.method_desc);
    if (frame.kind == StackFrame::Kind::explicit_ && text.module.empty())
      continue; // it has something else in place of a method
    const std::string &method = text.qualified;
    if (method.starts_with(rethrows))
      return {};
    const Wait *found = std::find_if(std::begin(waits), std::end(waits),
                                     [&](const Wait &wait) { return method.starts_with(wait.method); });
    if (found == std::end(waits)) {
      if ((is_stub(method) && out.text.empty()) || spins_for_callback(runtime, stack, i))
        continue;
      break;
    }
    out.frames = i + 1;
    const bool is_of_collection = found->text == wait_for_item;
    if (is_of_collection && out.text.empty())
      break; // the thread works
    if (is_of_collection ? out.text == "a semaphore"
                         : out.text.empty() || is_inner(out.text) || found->text == wait_for_callback) {
      out.text = is_of_collection ? in_collection(method) : found->text;
      out.is_idle = found->is_idle;
    }
  }
  return out;
}

std::optional<bool> wait_has_limit(const Runtime &runtime, const WalkedStack &stack) {
  for (u64 i = 0; i < std::min<u64>(stack.frames.size(), frames_looked_at); ++i) {
    const std::string name =
        stack.frames[i].method_desc ? runtime.method_text(stack.frames[i].method_desc).qualified : "";
    if (name.find(timed_wait) != name.npos)
      return true;
    if (name.find(endless_wait) != name.npos)
      return false;
  }
  return std::nullopt;
}

bool may_end_by_itself(const Runtime &runtime, const WalkedStack &stack, bool is_limit_noted) {
  constexpr std::string_view tries = "System.Threading.ReaderWriterLockSlim.TryEnter",
                             enters = "System.Threading.ReaderWriterLockSlim.Enter",
                             cancels = "System.Threading.CancellationTokenSource";
  const BaseTypes bases(runtime);
  const u64 waiting = waits_for(runtime, stack).frames;
  bool may_be = false;
  for (const StackFrame &frame : std::span(stack.frames).first(waiting)) {
    const std::string name = frame.method_desc ? runtime.method_text(frame.method_desc).qualified : "";
    may_be |= !is_limit_noted && name.starts_with(tries);
    if (name.starts_with(enters)) // has no time limit; a method with one may be inlined
      return false;
    for (const StackReference &reference : frame.references)
      if (const Address mt = method_table_of(runtime.memory(), reference.value);
          mt && runtime.types().object_layout(mt) && bases.derives(mt, cancels))
        return true;
  }
  return may_be;
}

Note partly_known_note() {
  return {Subject::stacks, Effect::numbers,
          "stacks, or the list of threads, are only partly known, so methods or threads may be missing: the table "
          "problems shows why"};
}

report::Table problems_table(const std::vector<StackProblem> &problems, bool is_asked) {
  using report::Cell;
  using report::Kind;
  using report::Shown;
  std::vector<std::string> reasons; // in the order of their first thread
  std::map<std::string, std::vector<u64>> threads_of;
  for (const StackProblem &problem : problems) {
    auto [it, is_new] = threads_of.try_emplace(problem.why);
    if (is_new)
      reasons.push_back(problem.why);
    if (problem.os_id)
      it->second.push_back(*problem.os_id);
  }
  report::Table table;
  table.name = "problems";
  table.title = "Stacks that could not be followed to their end";
  table.columns = {{"os_ids", "", Kind::nested, Shown::in_data},
                   {"threads", "OS id", Kind::text, Shown::in_text},
                   {"problem", "Why", Kind::text, report::Shown::everywhere, true}};
  std::vector<report::Row> rows;
  for (const std::string &why : reasons) {
    const std::vector<u64> &ids = threads_of[why];
    std::string text = ids.empty() ? "-" : std::to_string(ids[0]);
    if (ids.size() > 1)
      text += " and " + count_text(ids.size() - 1) + " more";
    rows.push_back({Cell(std::vector<Cell>(ids.begin(), ids.end())), std::move(text), why});
  }
  table.shown = rows.empty() && !is_asked ? Shown::in_data : Shown::everywhere;
  table.set_rows(std::move(rows));
  return table;
}

ThreadsOfSubject threads_of_subject(const std::vector<ThreadData> &threads, const std::string &subject) {
  ThreadsOfSubject out;
  if (subject.empty()) {
    out.threads = threads;
    return out;
  }
  auto those = [&](auto test) {
    std::vector<ThreadData> found;
    std::copy_if(threads.begin(), threads.end(), std::back_inserter(found), test);
    return found;
  };
  const std::optional<u64> decimal = number(subject);
  const std::optional<Address> address = written_address(subject);
  std::vector<ThreadData> by_managed_id;
  if (decimal && *decimal) {
    out.threads = those([&](const ThreadData &thread) { return thread.os_id == decimal; });
    by_managed_id =
        those([&](const ThreadData &thread) { return thread.managed_id == decimal && thread.os_id != u64{0}; });
  }
  // Managed ids and OS ids both count from 1 in a container.
  if (!out.threads.empty() && !by_managed_id.empty() && by_managed_id[0].os_id != decimal) {
    const ThreadData &other = by_managed_id[0];
    out.note = subject + " is taken for an OS id; it is also the managed id of another thread; for that thread give " +
               (other.os_id ? "its OS id " + std::to_string(*other.os_id) : hex(other.address));
  }
  if (out.threads.empty())
    out.threads = std::move(by_managed_id);
  if (out.threads.empty() && address)
    out.threads =
        those([&](const ThreadData &thread) { return thread.address == *address || thread.os_id == *address; });
  if (out.threads.empty())
    throw NotFound("the runtime has no thread " + printable(subject, 100) + ": dnheap threads lists them");
  return out;
}

} // namespace dnheap
