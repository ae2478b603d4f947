// The rows of an answer's table `checks`, for the formats that contain checks only.
#pragma once
#include "report/write.h"

#include <functional>
#include <string>

namespace dnheap::report {

struct Check {
  bool exceeded = false, certain = true;
  std::string kind, name, metric, place, text; // unescaped
};

// Calls visit(check) for each. Throws UsageError if the answer has no such table.
void for_each_check(const Answer &answer, const WriteOptions &options, const std::function<void(const Check &)> &visit);

} // namespace dnheap::report
