#include "dnheap/sample.h"

#include "analysis/sampling/sample_process.h"
#include "api/answer_parts.h"
#include "api/state.h"
#include "dnheap/error.h"

namespace dnheap::v0 {

Answer sample(std::uint64_t pid, const SampleOptions &options) {
  constexpr double longest = 86400;
  if (!(options.seconds > 0 && options.seconds <= longest && options.every > 0 && options.every <= longest))
    throw UsageError("sample takes samples for more than 0 seconds, and for a day at most");
  return AnswerParts::answer(sample_process(pid, State::inner(options.open), {options.seconds, options.every}));
}

} // namespace dnheap::v0
