#include "dnheap/collect.h"

#include "analysis/verbs/collect.h"
#include "api/answer_parts.h"
#include "api/state.h"

namespace dnheap::v0 {

namespace {

CollectingOptions inner_collecting(const CollectOptions &options) {
  return {options.file, options.kind, options.extract, options.no_values};
}

} // namespace

Answer collect(std::uint64_t pid, const CollectOptions &options) {
  return AnswerParts::answer(collect_dump(pid, State::inner(options.open), inner_collecting(options)));
}

Answer collect(const CollectPort &port, const CollectOptions &options) {
  return AnswerParts::answer(collect_dump({port.path, port.listen, port.seconds, port.on_listening},
                                          State::inner(options.open), inner_collecting(options)));
}

} // namespace dnheap::v0
