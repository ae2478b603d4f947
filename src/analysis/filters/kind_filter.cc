#include "analysis/filters/kind_filter.h"

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

// "WeakShort", "weak-short" and "weak_short" are the same word.
std::string plain_kind(std::string_view word) {
  std::string out = lower_case(word);
  std::erase_if(out, [](char c) { return c == '_' || c == '-' || c == ' '; });
  return out;
}

std::string_view last_part(std::string_view kind) { return kind.substr(kind.rfind(':') + 1); }

} // namespace

KindFilter::KindFilter(const Question &question, std::span<const std::string_view> kinds) {
  if (question.kind.empty())
    return;
  const std::string wanted = plain_kind(question.kind);
  auto add_those = [&](auto fits) {
    if (kinds_.empty())
      for (std::string_view kind : kinds)
        if (fits(kind))
          kinds_.emplace_back(kind);
  };
  add_those([&](std::string_view kind) { return plain_kind(kind) == wanted; });
  add_those([&](std::string_view kind) { return plain_kind(last_part(kind)) == wanted; });
  add_those([&](std::string_view kind) { return !wanted.empty() && plain_kind(kind).starts_with(wanted); });
  if (!kinds_.empty())
    return;
  std::string all;
  for (std::string_view kind : kinds)
    all += (all.empty() ? "" : ", ") + std::string(kind);
  throw UsageError("--kind: '" + printable(question.kind, 200) + "' is none of " + all +
                   did_you_mean(question.kind, kinds));
}

bool KindFilter::passes(std::string_view kind) const {
  return kinds_.empty() || std::ranges::find(kinds_, kind) != kinds_.end();
}

} // namespace dnheap
