#include "analysis/type_filter.h"

#include "runtime/gc_1.h"

#include <re2/re2.h>

namespace dnheap {

TypeFilter::TypeFilter(const Question &question) : exact_(question.type_exact) {
  if (question.type_regex.empty())
    return;
  regex_ = std::make_unique<re2::RE2>(question.type_regex, re2::RE2::Quiet);
  if (!regex_->ok())
    throw Error("--type " + question.type_regex + ": " + regex_->error());
}

TypeFilter::~TypeFilter() = default;

bool TypeFilter::passes(const std::string &name) const {
  if (!exact_.empty() && name != exact_)
    return false;
  return !regex_ || re2::RE2::PartialMatch(name, *regex_);
}

std::optional<u8> generation_of(const Question &question) {
  if (!question.generation)
    return std::nullopt;
  for (u8 g = 0; g < generation_count; ++g)
    if (*question.generation == name_of(static_cast<GCSegmentGeneration>(g)))
      return g;
  throw Error("--gen " + *question.generation + ": gen0, gen1, gen2, loh, poh or frozen");
}

} // namespace dnheap
