// Queues that hold much and fill, because the task that should read them has failed, and nobody looked at its
// exception.
#include "analysis/findings/finding_rule.h"
#include "analysis/findings/unseen_failures.h"
#include "analysis/names/brief_type_name.h"
#include "analysis/names/compiled_names.h"
#include "analysis/names/framework_names.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/threads/tasks.h"
#include "analysis/verdict/verdict.h"
#include "base/text.h"
#include "objects/object_index.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_queue_bytes = 1 << 20;
constexpr const char *queue_types[] = {"System.Threading.Channels.", "System.Collections.Concurrent.ConcurrentQueue<",
                                       "System.Collections.Concurrent.BlockingCollection<",
                                       "System.Collections.Generic.Queue<"};

bool is_queue_type(const std::string &type) {
  return std::any_of(std::begin(queue_types), std::end(queue_types),
                     [&](const char *begin) { return type.starts_with(begin); });
}

// A failed task in a field of the object that has the queue.
struct FailedTask {
  std::string field;
  Address exception = 0;
};

class FailedTasks {
public:
  explicit FailedTasks(const Snapshot &snapshot)
      : snapshot_(snapshot), runtime_(snapshot.runtime()), bases_(runtime_), fields_(runtime_),
        framework_(snapshot.assemblies()) {}

  // Looks at the program's nearest object above the queue.
  std::optional<FailedTask> beside(const Suspect &queue) {
    bool has_queue = false;
    for (u64 i = queue.steps.size(); i-- > 0;) {
      const Suspect::Step &step = queue.steps[i];
      if (is_queue_type(step.type))
        has_queue = true;
      else if (has_queue && !framework_.contain(step.type))
        return task_of(step);
    }
    return std::nullopt;
  }

  // Returns "System.FormatException in Shop.Pipeline.ConsumeAsync".
  std::string words(Address exception) const {
    const UnseenFailure failure = describe_failure(snapshot_, exception);
    return failure.type + (failure.method.empty() ? "" : " in " + failure.method);
  }

private:
  std::optional<FailedTask> task_of(const Suspect::Step &holder) {
    for (const InstanceField &field : runtime_.fields().instance_fields(fields_.type_of(holder.address))) {
      if (!field.is_reference())
        continue;
      const Address task = runtime_.memory().try_pointer(holder.address + field.offset).value_or(0);
      if (task && snapshot_.index().is_object(task) &&
          bases_.derives(fields_.type_of(task), "System.Threading.Tasks.Task"))
        if (const Address exception = unseen_exception(task))
          return FailedTask{variable_in_words(holder.type + "." + field.name), exception};
    }
    return std::nullopt;
  }

  // Returns the first exception of a task that has failed, if nobody looked at it; else 0.
  Address unseen_exception(Address task) {
    const std::optional<u32> flags = fields_.number<u32>(task, "m_stateFlags");
    if (!flags || status_of(*flags) != TaskStatus::faulted)
      return 0;
    Address at = task;
    for (const char *field : {"m_contingentProperties", "m_exceptionsHolder"})
      at = object_in(at, field);
    if (!at || fields_.number<u8>(at, "m_isHandled") != u8{0})
      return 0;
    const Address list = object_in(object_in(at, "m_faultExceptions"), "_items");
    for (const Address one : list ? fields_.elements(list, 1) : std::vector<Address>())
      if (one && snapshot_.index().is_object(one))
        return object_in(one, "_exception");
    return 0;
  }

  Address object_in(Address object, const char *field) {
    const Address found = object ? fields_.reference_or_null(object, field) : 0;
    return found && snapshot_.index().is_object(found) ? found : 0;
  }

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  const BaseTypes bases_;
  FieldReader fields_;
  const FrameworkNames framework_;
};

} // namespace

void find_failed_readers(const Evidence &evidence, std::vector<Finding> &out) {
  std::optional<FailedTasks> tasks;
  for (const Suspect &suspect : evidence.suspects.list) {
    const bool is_queue = std::any_of(suspect.steps.begin(), suspect.steps.end(),
                                      [](const Suspect::Step &step) { return is_queue_type(step.type); });
    if (!is_queue || suspect.elements < least_elements || suspect.retained < least_queue_bytes)
      continue;
    if (!tasks)
      tasks.emplace(evidence.snapshot);
    if (const std::optional<FailedTask> failed = tasks->beside(suspect))
      out.push_back({.kind = "failed_reader",
                     .harm = Harm::resource,
                     .text = fmt::format("{} {} wait in {}, and the task in {}, beside it, ended with {}, which nobody "
                                         "looked at: if it is the reader, nothing takes them out any more.",
                                         count_text(suspect.elements), suspect.brief_element(), suspect.way(),
                                         failed->field, tasks->words(failed->exception)),
                     .count = suspect.elements,
                     .bytes = suspect.retained,
                     .example = failed->exception,
                     .holder = suspect.example,
                     .verb = "exceptions",
                     .options = " " + hex(failed->exception)});
  }
}

} // namespace dnheap
