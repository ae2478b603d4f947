#include "analysis/suspects/kept_by_tables.h"

#include "analysis/suspects/weak_tables.h"

namespace dnheap {

namespace {

constexpr const char *by_dependent_handle = "(dependent handle)"; // as ObjectView calls it

} // namespace

void name_weak_tables(const Snapshot &snapshot, std::span<Suspect> list) {
  auto step_of = [](const Suspect &s) {
    for (u64 i = 1; i < s.steps.size(); ++i)
      if (s.steps[i].field == by_dependent_handle)
        return s.steps[i - 1].address;
    return Address{0};
  };
  auto holder_of = [](const Suspect &s) { return s.steps.empty() ? 0 : s.steps.back().address; };
  std::vector<Address> keys;
  for (const Suspect &s : list)
    for (Address key : {step_of(s), holder_of(s), s.first})
      if (key)
        keys.push_back(key);
  const std::unordered_map<Address, WeakTable> tables = find_weak_tables(snapshot, keys);
  auto enter = [&](Suspect &s, Address key, const char *words, u64 least) {
    const auto table = tables.find(key);
    if (key && s.remark.empty() && table != tables.end() && table->second.handles >= least)
      s.remark = words + (table->second.field.empty() ? "" : ": the ConditionalWeakTable of " + table->second.field);
  };
  for (Suspect &s : list) {
    enter(s, step_of(s), "by a dependent handle", 1);
    enter(s, holder_of(s), "by dependent handles", (s.elements + 1) / 2);
    enter(s, s.first,
          s.elements == 1 ? "with what dependent handles keep for it" : "each with what dependent handles keep for it",
          1);
  }
}

} // namespace dnheap
