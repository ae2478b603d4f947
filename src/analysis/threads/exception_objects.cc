#include "analysis/threads/exception_objects.h"

#include "analysis/shapes/largest_first.h"
#include "base/text.h"
#include "runtime/string_object.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_inners = 1000, most_types = 5;
constexpr u64 most_earlier = 1000, longest_trace = 1 << 18; // limits for a stack kept as text: calls, and characters

} // namespace

ExceptionObjects::ExceptionObjects(const Snapshot &snapshot)
    : snapshot_(snapshot), runtime_(snapshot.runtime()), bases_(runtime_), fields_(runtime_),
      records_(runtime_.exceptions()) {}

const std::vector<TypedObject> &ExceptionObjects::all() {
  if (!all_)
    all_ = objects_that(snapshot_, [&](Address mt) { return is_exception_type(mt); });
  return *all_;
}

bool ExceptionObjects::is_exception_type(Address method_table) const {
  auto [known, is_new] = types_.try_emplace(method_table);
  if (is_new)
    known->second = runtime_.types().object_layout(method_table) && bases_.derives(method_table, "System.Exception");
  return known->second;
}

bool ExceptionObjects::is_exception(Address object) const {
  // In a dump without heap segments the heap's extent may be unknown.
  const Heap &heap = snapshot_.heap();
  const bool may_be = object && (heap.holds(object) || heap.segments().empty());
  const Address type = may_be ? method_table_of(runtime_.memory(), object) : Address{0};
  return type && is_exception_type(type);
}

ExceptionObject ExceptionObjects::read(const TypedObject &object) {
  ExceptionObject out;
  out.address = object.address;
  out.method_table = object.method_table;
  out.hresult = fields_.number<u32>(object.address, "_HResult");
  out.inner = fields_.reference_or_null(object.address, "_innerException");
  out.inners = fields_.elements(fields_.reference_or_null(object.address, "_innerExceptions"), most_inners);
  if (out.inners.empty())
    out.inners.push_back(out.inner);
  std::erase_if(out.inners, [&](Address inner) { return !is_exception(inner); });
  out.message = fields_.reference_or_null(object.address, "_message");
  std::optional<Address> stack = fields_.reference(object.address, "_stackTrace");
  out.is_stack_known = false;
  if (!records_)
    read_native_stack(out);
  else if (stack)
    if (auto elements = records_->stack_trace(*stack)) {
      out.is_stack_known = true;
      for (const StackTraceElement &element : *elements) {
        out.methods.push_back(element.method);
        out.ips.push_back(element.ip);
      }
    }
  read_earlier(out);
  return out;
}

// Parses lines such as "   at Shop.Cart.Pay(Int32 sum) in /src/Cart.cs:line 12"; "at" and "in" may be translated.
void ExceptionObjects::read_earlier(ExceptionObject &to) {
  const Address text = fields_.reference_or_null(to.address, "_remoteStackTraceString");
  const std::optional<StringText> trace =
      text && snapshot_.heap().holds(text) ? string_text(runtime_, text, longest_trace) : std::nullopt;
  constexpr std::string_view indent = "   ";
  std::string_view rest = trace ? std::string_view(trace->text) : std::string_view();
  while (!rest.empty() && to.earlier.size() < most_earlier) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const u64 method = line.find(' ', indent.size()), end = line.find(')');
    if (line.starts_with(indent) && method < end && end != line.npos)
      to.earlier.emplace_back(line.substr(method + 1, end - method));
  }
}

// NativeAOT keeps the return address of each call, innermost first; a marker, which is not an address, shows where the
// exception was thrown again.
void ExceptionObjects::read_native_stack(ExceptionObject &to) {
  constexpr u64 most_calls = 1 << 16;
  const std::optional<Address> stack = fields_.reference(to.address, "_corDbgStackTrace");
  const std::optional<u32> used = fields_.number<u32>(to.address, "_idxFirstFreeStackTraceEntry");
  if (!stack || !used)
    return;
  const u64 p = fields_.pointer_size();
  const u64 count = *stack ? std::min<u64>({*used, fields_.length(*stack).value_or(0), most_calls}) : 0;
  for (u64 i = 0; i < count; ++i) {
    const std::optional<u64> ip = runtime_.memory().try_pointer(*stack + (2 + i) * p);
    const Address method = ip && *ip ? runtime_.method_at(*ip - 1) : 0;
    if (!method)
      continue;
    to.methods.push_back(method);
    to.ips.push_back(*ip);
  }
  to.is_stack_known = count == 0 || !to.methods.empty();
}

std::string ExceptionObjects::inner_types(const ExceptionObject &of) const {
  std::map<std::string, u64> counts;
  for (Address inner : of.inners)
    ++counts[runtime_.types().name(method_table_of(runtime_.memory(), inner))];
  const auto sorted = largest_first(counts, std::identity());
  std::string out;
  for (u64 i = 0; i < std::min<u64>(sorted.size(), most_types); ++i)
    out += (i ? ", " : "") + sorted[i]->first + (sorted[i]->second > 1 ? " ×" + count_text(sorted[i]->second) : "");
  return sorted.size() > most_types ? out + ", …" : out;
}

std::vector<ExceptionInFlight> ExceptionObjects::in_flight(Notes &problems) {
  std::vector<ExceptionInFlight> out;
  if (!records_) {
    problems.add(Subject::exceptions, Effect::numbers, "exceptions in flight are only known in CoreCLR");
    return out;
  }
  try {
    const std::vector<ThreadData> threads = runtime_.threads(problems);
    std::vector<HandleData> handles;
    try {
      handles = runtime_.gc().get_handles(std::vector{HandleType::strong}, problems);
    } catch (const Error &e) { // exceptions to which threads refer directly are known all the same
      problems.add(Subject::exceptions, Effect::numbers,
                   "exceptions to which only a thread's handle leads are missing: ", e);
    }
    for (const Thrown &one : records_->thrown(threads, handles, [&](Address object) { return is_exception(object); }))
      out.push_back(
          {one.object, threads[one.thread].os_id, threads[one.thread].managed_id, one.is_nested, one.is_at_hand});
  } catch (const Error &e) {
    problems.add(Subject::exceptions, Effect::numbers, "exceptions in flight are unknown: ", e);
  }
  return out;
}

} // namespace dnheap
