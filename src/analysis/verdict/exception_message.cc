#include "analysis/verdict/exception_message.h"

#include "runtime/string_object.h"

#include <algorithm>
#include <iterator>

namespace dnheap {

namespace {

constexpr u64 most_causes_with_message = 16;

// Exceptions of the runtime that have the same message each time, and those that only contain another one.
constexpr std::string_view plain_types[] = {
    "System.NullReferenceException",      "System.IndexOutOfRangeException",
    "System.DivideByZeroException",       "System.OutOfMemoryException",
    "System.StackOverflowException",      "System.AccessViolationException",
    "System.ExecutionEngineException",    "System.AggregateException",
    "System.TypeInitializationException", "System.Reflection.TargetInvocationException"};

bool is_telling(const Snapshot &snapshot, const ExceptionObject &one) {
  const Runtime &runtime = snapshot.runtime();
  if (!one.message || !snapshot.heap().holds(one.message) ||
      std::ranges::find(plain_types, runtime.types().name(one.method_table)) != std::end(plain_types))
    return false;
  const std::optional<StringText> text = string_text(runtime, one.message, 1);
  return text && !text->text.empty();
}

} // namespace

bool has_telling_message(const Snapshot &snapshot, ExceptionObjects &objects, const ExceptionObject &exception) {
  ExceptionObject one = exception;
  for (u64 i = 0; i < most_causes_with_message; ++i) {
    if (is_telling(snapshot, one))
      return true;
    if (one.inners.empty())
      return false;
    const Address next = one.inners.front();
    one = objects.read({next, method_table_of(snapshot.runtime().memory(), next)});
  }
  return false;
}

} // namespace dnheap
