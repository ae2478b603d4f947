// Very many exceptions that are garbage: the program threw and caught them since the last collections, and does so all
// the time where it could look first.
#include "analysis/findings/finding_rule.h"
#include "analysis/names/compiled_names.h"
#include "analysis/names/framework_names.h"
#include "analysis/names/source_line_text.h"
#include "analysis/owners/ranked_tree.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/state_machines.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/threads/exception_objects.h"
#include "base/most_frequent.h"
#include "base/share.h"
#include "base/text.h"
#include "objects/object_index.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

constexpr u64 least_exceptions = 1000; // of one type
// An exception takes some 130 bytes, and with its stack and message four times as many: programs that do other work for
// each of them, as servers do, have a smaller share.
constexpr double least_exception_share = 0.02; // of garbage, without what the exceptions refer to
constexpr u64 most_thrown_stacks = 200;

struct ThrownGarbage {
  std::vector<TypedObject> list;
  u64 bytes = 0;
};

// Returns garbage exceptions by type.
std::map<Address, ThrownGarbage> thrown_garbage(const Snapshot &snapshot, const std::vector<Address> &types) {
  std::map<Address, ThrownGarbage> out;
  const std::shared_ptr<const RankedTree> ranked = ranked_tree(snapshot);
  const std::vector<TypedObject> all = objects_of(snapshot, types);
  const std::vector<HeldObject> sizes = worth_their_size(snapshot, all);
  for (u64 i = 0; i < all.size(); ++i)
    if (const ObjectId id = snapshot.index().find(all[i].address); id != no_object && !ranked->tree.place(id)) {
      ThrownGarbage &to = out[all[i].method_table];
      to.list.push_back(all[i]);
      to.bytes += sizes[i].bytes;
    }
  return out;
}

// The program's innermost method on an exception's stack.
struct ThrowPlace {
  Address method = 0, ip = 0;
  std::string name;
};

class ThrowPlaces {
public:
  explicit ThrowPlaces(const Snapshot &snapshot)
      : runtime_(snapshot.runtime()), framework_(snapshot.assemblies()), exceptions_(snapshot) {}

  // Looks at a part of them, evenly chosen. Returns the place of most; nullopt: they have none in common.
  std::optional<ThrowPlace> most_of(const std::vector<TypedObject> &all) {
    std::map<std::string, ThrowPlace> places;
    std::map<std::string, u64> counts;
    const u64 step = std::max<u64>(all.size() / most_thrown_stacks, 1);
    u64 looked_at = 0;
    for (u64 i = 0; i < all.size(); i += step, ++looked_at)
      if (ThrowPlace one = place_of(exceptions_.read(all[i])); one.method) {
        ++counts[one.name];
        places.try_emplace(one.name, one);
      }
    if (counts.empty() || most_frequent(counts)->second * 2 < looked_at)
      return std::nullopt;
    return places.at(most_frequent(counts)->first);
  }

private:
  ThrowPlace place_of(const ExceptionObject &thrown) const {
    for (u64 i = 0; i < thrown.methods.size(); ++i) {
      std::string name = runtime_.method_text(thrown.methods[i]).name;
      name.resize(std::min(name.size(), name.find('(')));
      constexpr std::string_view resume = ".MoveNext";
      if (name.ends_with(resume))
        name = method_of_state_machine(std::string_view(name).substr(0, name.size() - resume.size()));
      if (!name.empty() && !framework_.contain(name))
        return {thrown.methods[i], i < thrown.ips.size() ? thrown.ips[i] : 0, name};
    }
    return {};
  }

  const Runtime &runtime_;
  const FrameworkNames framework_;
  ExceptionObjects exceptions_;
};

} // namespace

void find_many_exceptions(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  const BaseTypes bases(snapshot.runtime());
  // Where a program ends, or gives much up, all its calls are canceled at once.
  const auto is_exception = [&](Address mt) {
    return bases.derives(mt, "System.Exception") && !bases.derives(mt, "System.OperationCanceledException");
  };
  if (count_that(snapshot, is_exception) < least_exceptions)
    return;
  const std::map<Address, ThrownGarbage> thrown = thrown_garbage(snapshot, types_that(snapshot, is_exception));
  const auto most = std::ranges::max_element(thrown, {}, [](const auto &one) { return one.second.list.size(); });
  if (most == thrown.end())
    return;
  const auto &[type, of] = *most;
  if (of.list.size() < least_exceptions || share_of(of.bytes, evidence.facts.dead) < least_exception_share)
    return;
  const std::optional<ThrowPlace> place = ThrowPlaces(snapshot).most_of(of.list);
  if (!place) // nobody threw them, or everybody
    return;
  const SourceLine line = place->ip ? evidence.lines.find(place->method, place->ip, false).at : SourceLine();
  out.push_back({.kind = "many_exceptions",
                 .harm = Harm::slow,
                 .text = fmt::format("{} exceptions ({}) lie on the heap as garbage: the program has thrown and caught "
                                     "them since the last collections, most in {}{}. Each costs as much as thousands "
                                     "of calls: look first (TryParse, TryGetValue) where failures are frequent.",
                                     count_text(of.list.size()), snapshot.runtime().types().name(type),
                                     method_in_words(place->name), line_in_brackets(line)),
                 .count = of.list.size(),
                 .bytes = of.bytes,
                 .example = of.list.front().address,
                 .verb = "exceptions"});
}

} // namespace dnheap
