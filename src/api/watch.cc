#include "dnheap/watch.h"

#include "api/state.h"
#include "lookout/watch_running.h"

namespace dnheap::v0 {

bool watch(const WatchOptions &options, const std::function<void(const WatchEvent &)> &tell) {
  LookoutOptions lookout;
  for (const std::string &text : options.conditions)
    for (Condition &condition : parse_conditions(text))
      lookout.conditions.push_back(std::move(condition));
  if (lookout.conditions.empty() || options.folder.empty() || options.keep == 0 || options.every == 0)
    throw UsageError("watch needs a condition, a folder, and at least 1 core to keep and 1 second between looks");
  lookout.every = options.every;
  lookout.again = options.again;
  lookout.tell = [&](const Event &event) { tell({name_of(event.kind), text_of(event), json_of(event), event.file}); };
  return watch_running({.pid = options.pid,
                        .folder = options.folder,
                        .keep = options.keep,
                        .no_values = options.no_values,
                        .open = State::inner(options.open)},
                       lookout);
}

std::optional<std::string> condition_problem(std::string_view condition) {
  try {
    parse_conditions(condition);
    return std::nullopt;
  } catch (const UsageError &error) {
    return error.what();
  }
}

} // namespace dnheap::v0
