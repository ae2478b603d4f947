#include "analysis/plan.h"

#include <algorithm>

namespace dnheap {

Plan &Plan::then(Passes passes) {
  certain_ |= passes;
  for (std::string_view name : dnheap::names_of(certain_))
    if (std::find(names_.begin(), names_.end(), name) == names_.end())
      names_.push_back(name);
  return *this;
}

Plan &Plan::then(std::string_view own) {
  names_.push_back(own);
  return *this;
}

Plan &Plan::perhaps(Passes passes) {
  perhaps_ |= passes;
  return *this;
}

Plan &Plan::perhaps(std::string_view own) {
  own_perhaps_.push_back(own);
  return *this;
}

std::vector<std::string_view> Plan::names_of_perhaps() const {
  std::vector<std::string_view> out = own_perhaps_;
  for (std::string_view name : dnheap::names_of(perhaps_))
    out.push_back(name);
  return out;
}

} // namespace dnheap
