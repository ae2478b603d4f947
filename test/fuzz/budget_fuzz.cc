// Budgets: understood, with patterns that hold and figures in their range, or a UsageError of one line that names the
// file.
#include "analysis/records/budget.h"
#include "base/error.h"
#include "fuzz/check.h"

using namespace dnheap;
using dnheap::test::check;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  try {
    const Budget budget = parse_budget(std::string_view(reinterpret_cast<const char *>(data), size), "budget.json");
    for (const Limit &limit : budget.limits) {
      check(!limit.metric.empty() && !limit.place.empty());
      check(limit.name.empty() || limit.pattern.empty());
      check(!limit.is_growth || budget.needs_baseline());
      check(!limit.is_percent || limit.is_growth);
    }
  } catch (const UsageError &e) {
    const std::string_view what = e.what();
    check(what.size() < 4000 && what.find("budget.json") != what.npos && what.find('\n') == what.npos);
  }
  return 0;
}
