#include "dnheap/collect.h"

#include "analysis/verbs/collect.h"
#include "api/answer_parts.h"
#include "api/state.h"

namespace dnheap::v0 {

Answer collect(std::uint64_t pid, const CollectOptions &options) {
  return AnswerParts::answer(
      collect_dump(pid, State::inner(options.open), {options.file, options.kind, options.extract, options.no_values}));
}

} // namespace dnheap::v0
