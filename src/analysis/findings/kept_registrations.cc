// Very many callbacks that wait for one CancellationTokenSource to be cancelled, and that nobody can take back any
// more. Calls in flight have callbacks, too: each holds its registration, or its linked source, and disposes of it.
#include "analysis/findings/finding_rule.h"
#include "analysis/names/brief_type_name.h"
#include "analysis/names/compiled_names.h"
#include "analysis/owners/held_without.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/typed_objects.h"
#include "base/most_frequent.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace dnheap {

namespace {

constexpr u64 least_registrations = 1000; // of one source
constexpr u64 least_large = 100;          // of one that holds much
// A registration that was disposed of stays as a node without a callback, for the next one.
constexpr const char *node = "System.Threading.CancellationTokenSource+CallbackNode";
constexpr const char *linked = "System.Threading.CancellationTokenSource+Linked";

// A node, and the object that it is registered for.
struct Registered {
  Address node = 0, kept = 0;
};

struct Registrations {
  u64 count = 0;
  std::vector<Address> parts;         // its nodes; the second one is the object between them and the source
  std::vector<Registered> list;       // those that wait
  std::map<std::string, u64> targets; // what they call, in words
};

// True if the source, or what holds its nodes, is on the way to somebody's large share of what is alive.
bool is_large(const Suspects &suspects, Address source, const Registrations &of) {
  constexpr u64 large = 10, least = u64{16} << 20; // one part in this many; bytes
  auto is_its = [&](const Suspect::Step &step) {
    return step.address && (step.address == source || (of.parts.size() > 1 && step.address == of.parts[1]));
  };
  return std::any_of(suspects.list.begin(), suspects.list.end(), [&](const Suspect &one) {
    return one.retained >= std::max(least, suspects.live_bytes / large) &&
           std::any_of(one.steps.begin(), one.steps.end(), is_its);
  });
}

// Returns what a node calls: a method, and what it is given, if it does not belong to a delegate; for a linked source,
// its type.
std::string target_of(const Snapshot &snapshot, FieldReader &fields, Address object, Address callback) {
  const Runtime &runtime = snapshot.runtime();
  const Address state = fields.reference_or_null(object, "CallbackState");
  if (state && runtime.types().name(fields.type_of(state)).starts_with(linked))
    return "sources linked to it";
  for (const Address one : {state, callback}) // the state is what Register() was given, if that is an Action
    for (const DelegateTarget &target : runtime.fields().delegate_targets(one, fields.type_of(one), 1))
      if (!target.method.empty())
        return method_in_words(target.method) +
               (one == callback && state ? " with " + brief_type_name(runtime.types().name(fields.type_of(state)))
                                         : "");
  return "methods without a name";
}

// Returns the linked source, the object whose method is called, or what the method is given; 0: a static method.
Address kept_object(const Snapshot &snapshot, FieldReader &fields, Address node, Address callback) {
  const Address state = fields.reference_or_null(node, "CallbackState");
  for (const Address one : {state, callback}) {
    const Address type = fields.type_of(one);
    for (const DelegateTarget &target : snapshot.runtime().fields().delegate_targets(one, type, 1))
      if (!target.method.empty())
        return one == callback && state ? state : target.object;
  }
  return state;
}

// Returns how many nobody can dispose of: nothing else holds the registration, nor the object that it is for. An object
// that is alive for another reason has one of them: more of them were forgotten.
u64 count_forgotten(const Registrations &of, const HeldWithout &others) {
  std::set<Address> seen;
  return static_cast<u64>(std::ranges::count_if(of.list, [&](const Registered &one) {
    const bool is_first = one.kept && seen.insert(one.kept).second;
    return !others.is_held(one.node) && (!is_first || !others.is_held(one.kept));
  }));
}

bool are_many(const Suspects &suspects, Address source, const Registrations &of, u64 count) {
  return count >= least_registrations || (count >= least_large && is_large(suspects, source, of));
}

} // namespace

void find_kept_registrations(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  if (count_called(snapshot, node) < least_large)
    return;
  FieldReader fields(snapshot.runtime());
  std::map<Address, Registrations> by_source;
  for (const TypedObject &one : objects_called(snapshot, node)) {
    const Address callback = fields.reference_or_null(one.address, "Callback"),
                  of = fields.reference_or_null(one.address, "Registrations"),
                  source = of ? fields.reference_or_null(of, "Source") : 0;
    if (!source)
      continue;
    Registrations &registrations = by_source[source];
    registrations.parts.push_back(one.address);
    if (registrations.parts.size() == 1)
      registrations.parts.push_back(of);
    if (!callback || fields.number<u64>(one.address, "Id") == u64{0}) // its source was cancelled
      continue;
    ++registrations.count;
    ++registrations.targets[target_of(snapshot, fields, one.address, callback)];
    registrations.list.push_back({one.address, kept_object(snapshot, fields, one.address, callback)});
  }
  std::erase_if(by_source,
                [&](const auto &one) { return !are_many(evidence.suspects, one.first, one.second, one.second.count); });
  std::vector<HeldObject> sources;
  std::vector<Address> parts;
  for (const auto &[source, of] : by_source) {
    sources.push_back({source, 1});
    parts.insert(parts.end(), of.parts.begin(), of.parts.end());
  }
  if (sources.empty())
    return;
  const HeldWithout others(snapshot, parts);
  HeldBy holders(snapshot, sources, parts); // looks at all references once
  for (const auto &[source, of] : by_source) {
    const std::string held_by = holders.of(source);
    if (held_by == HoldingFields::nobody_text || !are_many(evidence.suspects, source, of, count_forgotten(of, others)))
      continue;
    const auto most = most_frequent(of.targets);
    out.push_back({.kind = "cancellation_registrations",
                   .harm = Harm::resource,
                   .text = fmt::format("{} callbacks wait for one CancellationTokenSource, held by {}, to be "
                                       "cancelled: {} × {}. Each stays, and keeps what it calls alive, until its "
                                       "registration, or the linked source, is disposed of.",
                                       count_text(of.count), holder_in_words(snapshot, held_by, source),
                                       count_text(most->second), most->first),
                   .count = of.count,
                   .example = source,
                   .holder = source,
                   .verb = "path",
                   .options = " " + hex(source)});
  }
}

} // namespace dnheap
