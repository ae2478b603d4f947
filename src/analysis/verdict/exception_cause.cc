#include "analysis/verdict/exception_cause.h"

#include "analysis/names/method_in_source.h"
#include "analysis/names/source_line_text.h"
#include "analysis/verdict/own_call.h"
#include "base/text.h"
#include "runtime/facts/il_code.h"
#include "snapshot/snapshot.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 most_causes = 16, most_named_causes = 3;
constexpr u64 most_calls_of_cause = 1000; // of one exception
constexpr std::string_view throws_again = "System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw";

bool throws_in_pool(std::string_view method) {
  return method.starts_with("System.Threading.Tasks.Task+<>c.<ThrowAsync>b__");
}

// "the async void method Send of Shop.Mailer", "the async void lambda in Run of Shop.Program"
std::string as_async_void(const std::string &method) {
  constexpr std::string_view any = "the async or iterator method ", lambda = "a lambda ", local = "the local function ";
  if (method.starts_with(any))
    return "the async void method " + method.substr(any.size());
  if (method.starts_with(lambda))
    return "the async void lambda " + method.substr(lambda.size());
  return method.starts_with(local) ? "the async void local function " + method.substr(local.size()) : method;
}

// Takes a call of which only the text is left: "Shop.Cart..cctor()".
std::string earlier_call(const std::string &name) {
  return method_in_source({.name = name, .qualified = name.substr(0, name.find('(')), .module = ""});
}

} // namespace

ExceptionCause::ExceptionCause(const Snapshot &snapshot, ExceptionObjects &objects, SourceLines &lines)
    : snapshot_(snapshot), runtime_(snapshot.runtime()), objects_(objects), lines_(lines) {}

std::string ExceptionCause::text(const ExceptionObject &exception) {
  follow(exception);
  return runtime_.types().name(exception.method_table) + " " + hex(exception.address) + causes() + thrown_in() +
         async_void(exception);
}

void ExceptionCause::follow(const ExceptionObject &exception) {
  chain_ = {exception};
  while (!chain_.back().inners.empty()) {
    const Address next = chain_.back().inners.front();
    is_cut_ = chain_.size() > most_causes || std::any_of(chain_.begin(), chain_.end(), [&](const ExceptionObject &one) {
                return one.address == next;
              });
    if (is_cut_)
      return;
    chain_.push_back(objects_.read({next, method_table_of(runtime_.memory(), next)}));
  }
}

std::string ExceptionCause::causes() const {
  std::string out;
  for (u64 i = 1; i < chain_.size(); ++i) {
    const ExceptionObject &outer = chain_[i - 1];
    const bool is_left_out = i > most_named_causes && i + 1 < chain_.size();
    if (const std::string types = objects_.inner_types(outer); outer.inners.size() > 1 && !is_left_out)
      out += fmt::format(" of {}{}, the first: ", count_text(outer.inners.size()),
                         types.find(", ") == types.npos ? "" : " (" + types + ")");
    else if (!is_left_out)
      out += ", caused by ";
    if (!is_left_out)
      out += runtime_.types().name(chain_[i].method_table);
    else if (i == most_named_causes + 1)
      out += ", …";
  }
  return is_cut_ ? out + ", …" : out;
}

// The innermost exception that was thrown is the one to look at; some are only made, as parts of others.
std::string ExceptionCause::thrown_in() {
  for (u64 i = chain_.size(); i-- > 0;) {
    const ExceptionObject &one = chain_[i];
    if (!one.earlier.empty())
      return ", thrown in " + earlier_call(one.earlier.front());
    if (!one.methods.empty())
      return ", thrown in " + call(one, 0) +
             (OwnMethods(snapshot_).contain(runtime_.method_text(one.methods.front())) ? "" : passed_through(i));
  }
  return "";
}

// Returns the first call of the program itself, by the exception with that number or by one further out.
std::string ExceptionCause::passed_through(u64 from) {
  const OwnMethods own(snapshot_);
  for (u64 i = from + 1; i-- > 0;) {
    const std::vector<Address> &methods = chain_[i].methods;
    for (u64 k = 0; k < std::min<u64>(methods.size(), most_calls_of_cause); ++k)
      if (own.contain(runtime_.method_text(methods[k])))
        return ", passed through " + call(chain_[i], k);
  }
  return "";
}

std::string ExceptionCause::call(const ExceptionObject &of, u64 index) {
  const Address method = of.methods[index];
  return method_in_source(runtime_.method_text(method)) +
         (index < of.ips.size() ? line_in_brackets(lines_.find(method, of.ips[index], false).at) : "");
}

// An exception that leaves an async void method is thrown again by the pool or a SynchronizationContext: in a stack
// that the exception notes, that comes right after the method's state machine.
std::string ExceptionCause::async_void(const ExceptionObject &exception) {
  const u64 count = std::min<u64>(exception.methods.size(), most_calls_of_cause);
  Address before = 0;
  for (const Address method : std::span(exception.methods).first(count)) {
    const MethodText text = runtime_.method_text(method);
    if (throws_in_pool(text.qualified) && before && is_async_void(before))
      return ", and left " + as_async_void(method_in_source(runtime_.method_text(before))) +
             ", where no caller can catch it";
    if (!text.qualified.starts_with(throws_again))
      before = method;
  }
  return "";
}

bool ExceptionCause::is_async_void(Address method) {
  const std::unique_ptr<IlCode> code = runtime_.il_code();
  const Address machine = code && code->is_method(method) ? code->type_of(method) : 0;
  if (!machine || !runtime_.types().object_layout(machine))
    return false;
  const auto fields = runtime_.fields().instance_fields(machine);
  return std::any_of(fields.begin(), fields.end(), [](const InstanceField &one) {
    return one.type_name == "System.Runtime.CompilerServices.AsyncVoidMethodBuilder";
  });
}

} // namespace dnheap
