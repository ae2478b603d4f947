#include "analysis/threads/hang_hints.h"

#include "analysis/threads/thread_text.h"
#include "base/integers.h"

#include <algorithm>

namespace dnheap {

namespace {

struct Hint {
  std::string_view type, method; // the begin of the method's name, and its end
  std::string_view text;
};

constexpr std::string_view looks_at_all = "It looks at, or moves, one entry after the other: a loop of such calls "
                                          "takes time with the square of their number, "
                                          "where a HashSet, a Dictionary or a Queue does not.";
constexpr std::string_view copies_all =
    "Text that grows by + is copied each time, so a loop takes time with the square of its length: a StringBuilder "
    "does not.";

// The first that fits counts.
constexpr Hint hints_of_calls[] = {
    {"System.Text.RegularExpressions.", "",
     "A Regex that repeats what repeats itself, as (a+)* does, may backtrack for hours on a text that nearly matches: "
     "give it a match timeout, or RegexOptions.NonBacktracking."},
    {"System.Collections.Generic.List<", ".RemoveAt", looks_at_all},
    {"System.Collections.Generic.List<", ".Insert", looks_at_all},
    {"System.Collections.Generic.List<", ".Remove", looks_at_all},
    {"System.Collections.Generic.List<", ".Contains", looks_at_all},
    {"System.Collections.Generic.List<", ".IndexOf", looks_at_all},
    {"System.Collections.Generic.List<", ".Find", looks_at_all},
    {"System.Collections.Generic.List<", ".FindIndex", looks_at_all},
    {"System.Collections.Generic.List<", ".Exists", looks_at_all},
    {"System.Linq.Enumerable.", "", looks_at_all},
    {"System.Array.", ".IndexOf", looks_at_all},
    {"System.Collections.Generic.", ".IndexOf", looks_at_all},
    {"System.SpanHelpers.", "",
     "It compares or searches entries one after the other, as List.Contains and IndexOf do: a loop of such calls takes "
     "time with the square of their number, where a HashSet or a Dictionary does not."},
    {"System.String.", ".Concat", copies_all},
    {"System.Threading.SpinWait.", "",
     "It turns round until somebody sets a field; an event waits without a processor."},
};

struct WaitHint {
  std::string_view begin, text;
};
constexpr WaitHint hints_of_waits[] = {
    {"HTTP",
     "Look at the server that is called; a shorter HttpClient.Timeout, or a CancellationToken, ends such calls."},
    {"the end of a process",
     "A process whose redirected output nobody reads stops when the pipe is full (64 KiB), and never ends: read "
     "StandardOutput and StandardError first, or meanwhile."},
    {"data of a socket",
     "It waits as long as the other side is silent: look at that side; Socket.ReceiveTimeout, or a CancellationToken, "
     "ends such waits."},
    {"a socket", "Look at the other side; a CancellationToken ends such waits."},
    {"a TaskCompletionSource", "Look at who is to call SetResult, and at where an exception or a return goes past it."},
    {"a channel",
     "Look at who is at its other end: who has ended with an exception neither writes, reads nor completes."},
    {"a pulse", "A pulse that comes before the wait is lost: look at the state first (while (…) Monitor.Wait(…))."},
    {wait_for_place, "It is full: look at who is to take from it, and whether that has ended with an exception."},
    {wait_for_item, "It is empty: look at who is to add to it, and whether that has ended without CompleteAdding."},
    {"a Mutex", "A thread that waits for something else, or another process, has it."},
    {"a file", "A pipe, or a file on another computer, may never answer."},
    {"a semaphore", "Look at where it is released: an exception skips that, unless it is in a finally."},
    {"an event", "Look at who is to set it, and whether that has ended with an exception."},
    {"a barrier", "Look at whether a participant has ended with an exception."},
    {"a countdown", "Look at whether a participant has ended with an exception."},
};

// Returns "System.Array.IndexOf" for "System.Array.IndexOf<System.__Canon>".
std::string_view without_arguments(std::string_view method) {
  u64 depth = 0;
  for (u64 i = method.size(); i-- > 0 && method.ends_with('>');) {
    depth += method[i] == '>';
    depth -= method[i] == '<';
    if (!depth)
      return method.substr(0, i);
  }
  return method;
}

} // namespace

std::string_view hang_hint(std::string_view waits_for, std::string_view calls) {
  calls = without_arguments(calls);
  for (const Hint &hint : hints_of_calls)
    if (calls.starts_with(hint.type) && calls.ends_with(hint.method))
      return hint.text;
  for (const WaitHint &hint : hints_of_waits)
    if (waits_for.starts_with(hint.begin))
      return hint.text;
  return "";
}

} // namespace dnheap
