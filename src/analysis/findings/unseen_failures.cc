#include "analysis/findings/unseen_failures.h"

#include "analysis/names/compiled_names.h"
#include "analysis/names/framework_names.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/state_machines.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/threads/exception_objects.h"
#include "analysis/waits/owner_fields.h"
#include "objects/object_index.h"
#include "runtime/object_1.h"

#include <algorithm>
#include <map>
#include <utility>

namespace dnheap {

namespace {

constexpr const char *record_of_exceptions = "System.Threading.Tasks.TaskExceptionHolder";
constexpr u64 most_described = 1000; // exceptions whose stacks are read; more are not looked at

// Returns the method in the source: a state machine's MoveNext is its asynchronous method.
std::string source_method(const Runtime &runtime, Address method) {
  std::string name = runtime.method_text(method).name;
  name.resize(std::min(name.size(), name.find('(')));
  constexpr std::string_view resume = ".MoveNext";
  return name.ends_with(resume) ? method_of_state_machine(std::string_view(name).substr(0, name.size() - resume.size()))
                                : name;
}

// Reads the records of failed tasks.
class FailureRecords {
public:
  explicit FailureRecords(const Snapshot &snapshot) : snapshot_(snapshot), fields_(snapshot.runtime()) {}

  // Returns the first exception of a task's record, if nobody looked at it; else 0.
  Address unseen(Address record) const {
    if (fields_.number<u8>(record, "m_isHandled") != u8{0})
      return 0;
    const Address list = object_in(object_in(record, "m_faultExceptions"), "_items");
    for (const Address one : list ? fields_.elements(list, 1) : std::vector<Address>())
      return one && snapshot_.index().is_object(one) ? object_in(one, "_exception") : 0;
    return 0;
  }

private:
  Address object_in(Address object, const char *field) const {
    const Address found = object ? fields_.reference_or_null(object, field) : 0;
    return found && snapshot_.index().is_object(found) ? found : 0;
  }

  const Snapshot &snapshot_;
  mutable FieldReader fields_;
};

} // namespace

UnseenFailure describe_failure(const Snapshot &snapshot, Address exception) {
  const Runtime &runtime = snapshot.runtime();
  const FrameworkNames framework(snapshot.assemblies());
  UnseenFailure out;
  out.exception = exception;
  out.count = 1;
  const Address type = method_table_of(runtime.memory(), exception);
  out.type = runtime.types().name(type);
  for (const Address method : ExceptionObjects(snapshot).read({exception, type}).methods) {
    const std::string name = source_method(runtime, method);
    if (name.empty() || framework.contain(name))
      continue;
    if (out.method.empty()) {
      out.method = method_in_words(name);
      out.thrown_in = type_of_member(name);
    }
    out.classes.emplace(type_of_member(name));
  }
  return out;
}

std::vector<UnseenFailure> find_unseen_failures(const Snapshot &snapshot) {
  if (!count_called(snapshot, record_of_exceptions))
    return {};
  const FailureRecords records(snapshot);
  std::map<std::pair<std::string, std::string>, UnseenFailure> found;
  u64 described = 0;
  for (const TypedObject &record : objects_called(snapshot, record_of_exceptions)) {
    snapshot.watch().check();
    const Address exception = records.unseen(record.address);
    if (!exception || described++ >= most_described)
      continue;
    UnseenFailure one = describe_failure(snapshot, exception);
    auto [known, is_new] = found.try_emplace({one.type, one.method}, std::move(one));
    known->second.count += !is_new;
  }
  std::vector<UnseenFailure> out;
  for (auto &[key, one] : found) {
    one.is_at_least = described > most_described;
    out.push_back(std::move(one));
  }
  std::ranges::stable_sort(out, [](const UnseenFailure &a, const UnseenFailure &b) { return a.count > b.count; });
  return out;
}

} // namespace dnheap
