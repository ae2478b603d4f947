#include "cli/shell/state_words.h"

#include "cli/options/values.h"
#include "dnheap/address.h"
#include "dnheap/error.h"
#include "dnheap/text.h"

#include <optional>
#include <utility>

namespace dnheap::cli {

namespace {

// By bit: TS_… of dotnet/runtime src/coreclr/vm/threads.h.
constexpr const char *thread_states[] = {"Thread Abort Requested",
                                         "GC Suspend Pending",
                                         "User Suspend Pending",
                                         "Debug Suspend Pending",
                                         "GC On Transitions",
                                         "Legal to Join",
                                         "Yield Requested",
                                         "Hijacked by the GC",
                                         "Blocking GC for Stack Overflow",
                                         "Background",
                                         "Unstarted",
                                         "Dead",
                                         "CLR Owns",
                                         "CoInitialized",
                                         "In Single Threaded Apartment",
                                         "In Multi Threaded Apartment",
                                         "Reported Dead",
                                         "Fully initialized",
                                         "Task Reset",
                                         "Sync Suspended",
                                         "Debug Will Sync",
                                         "Stack Crawl Needed",
                                         "Suspend Unstarted",
                                         "Aborted",
                                         "Thread Pool Worker Thread",
                                         "Interruptible",
                                         "Interrupted",
                                         "Completion Port Thread",
                                         "Abort Initiated",
                                         "Finalized",
                                         "Failed to Start",
                                         "Detached"};

// In the order in which Task.Status looks at m_stateFlags.
constexpr std::pair<u64, const char *> task_states[] = {{0x200000, "Faulted"},
                                                        {0x400000, "Canceled"},
                                                        {0x1000000, "RanToCompletion"},
                                                        {0x800000, "WaitingForChildrenToComplete"},
                                                        {0x20000, "Running"},
                                                        {0x10000, "WaitingToRun"},
                                                        {0x2000000, "WaitingForActivation"}};

[[noreturn]] void refuse(const char *command, const std::vector<std::string> &arguments, const char *wanted) {
  throw UsageError(std::string(command) + (arguments.empty() ? " needs " : ": '" + arguments[0] + "' is not ") +
                   wanted);
}

} // namespace

std::string thread_state_words(const std::vector<std::string> &arguments) {
  const std::optional<Address> state = arguments.size() == 1 ? Address::parse(arguments[0]) : std::nullopt;
  if (!state || state->value() >> 32)
    refuse("threadstate", arguments, "the state of a thread in hexadecimal, such as 20020");
  std::string out;
  for (u32 bit = 0; bit < 32; ++bit)
    if (state->value() >> bit & 1)
      out += std::string(thread_states[bit]) + "\n";
  return out.empty() ? "no state is set\n" : out;
}

std::string task_state_words(const std::vector<std::string> &arguments) {
  const std::optional<u64> flags = arguments.size() == 1 ? parse_number(arguments[0]) : std::nullopt;
  if (!flags || *flags >> 32)
    refuse("taskstate -v", arguments, "a Task's m_stateFlags in decimal, such as 73728");
  for (const auto &[bit, name] : task_states)
    if (*flags & bit)
      return std::string(name) + "\n";
  return "Created\n";
}

} // namespace dnheap::cli
