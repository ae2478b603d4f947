// `inspect events`: multicast delegates, by the field that holds them.
#include "analysis/inspectors/events.h"

#include "analysis/inspectors/inspector.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/largest_first.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Fact;
using report::Kind;
using report::Shown;

constexpr u64 most_handlers_told = 1 << 22; // of all events; methods and targets of further handlers are not listed
// Of events that nobody holds, only the largest one's methods are listed.
constexpr const char *nobody = HoldingFields::nobody_text;
constexpr u64 most_shown_handlers = 3; // in text, of one event

struct Multicast {
  Address object = 0, method_table = 0, list = 0;
  u64 handlers = 0;
};

class EventReader {
public:
  explicit EventReader(const Snapshot &snapshot)
      : snapshot_(snapshot), runtime_(snapshot.runtime()), reader_(snapshot.references()) {}

  // Returns the delegates that are in no other delegate's list.
  std::vector<Multicast> find(u64 least) {
    const BaseTypes bases(runtime_);
    std::vector<Multicast> all;
    std::vector<Address> delegates;
    const std::vector<Address> types =
        types_that(snapshot_, [&](Address mt) { return bases.derives(mt, "System.MulticastDelegate"); });
    // Each handler is a delegate itself.
    const auto is_delegate = [&](Address mt) { return std::binary_search(types.begin(), types.end(), mt); };
    if (least > 2 && count_that(snapshot_, is_delegate) < least)
      return {};
    for (const TypedObject &object : objects_of(snapshot_, types)) {
      const std::optional<DelegateList> list = runtime_.fields().delegate_list(object.address, object.method_table);
      if (!list || list->is_cut) {
        ++unknown;
        continue;
      }
      delegates.push_back(object.address);
      // The invocation list is not an array if the delegate stands for an unmanaged function, or wraps another
      // delegate.
      if (list->count < 2 || !snapshot_.index().is_object(list->array))
        continue;
      parts.push_back(list->array);
      if (list->count >= least)
        all.push_back({object.address, object.method_table, list->array, list->count});
    }
    parts.insert(parts.end(), delegates.begin(), delegates.end());
    return all;
  }

  void add_handlers(const Multicast &one, EventGroup &to) {
    const u64 limit = std::min(one.handlers, handlers_left_);
    is_cut |= limit < one.handlers;
    handlers_left_ -= limit;
    for (const DelegateTarget &target : runtime_.fields().delegate_targets(one.object, one.method_table, limit)) {
      OpenedObject opened;
      const bool is_object = target.object && reader_.open(target.object, opened);
      ++to.methods[{target.method, is_object ? runtime_.types().name(opened.type->method_table) : ""}];
      if (is_object && to.targets.insert(target.object).second)
        to.target_bytes += align_up(opened.size, u64{runtime_.memory().format().pointer_size});
    }
  }

  std::vector<Address> parts; // delegates, and their invocation lists
  u64 unknown = 0;
  bool is_cut = false;

private:
  const Snapshot &snapshot_;
  const Runtime &runtime_;
  ReferenceReader reader_;
  u64 handlers_left_ = most_handlers_told;
};

std::vector<std::pair<std::pair<std::string, std::string>, u64>> by_count(const EventGroup &group) {
  std::vector<std::pair<std::pair<std::string, std::string>, u64>> out(group.methods.begin(), group.methods.end());
  std::stable_sort(out.begin(), out.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
  return out;
}

std::vector<Cell> method_cells(const EventGroup &group) {
  std::vector<Cell> out;
  for (const auto &[handler, count] : by_count(group))
    out.push_back(std::vector<Fact>{
        {"method", handler.first}, {"target_type", report::text_cell(handler.second)}, {"count", count}});
  return out;
}

std::string methods_text(const EventGroup &group) {
  std::string out;
  u64 shown = 0;
  for (const auto &[handler, count] : by_count(group))
    if (shown++ < most_shown_handlers)
      out += (out.empty() ? "" : ", ") + handler.first + (count > 1 ? " ×" + count_text(count) : "");
  return out + (shown > most_shown_handlers ? ", … " + count_text(shown - most_shown_handlers) + " more" : "");
}

report::Table events_table(const EventGroups &groups) {
  // Groups that nobody holds come last: adding n handlers one by one leaves garbage delegates with n²/2 handlers in
  // all.
  auto sorted = largest_first(groups, &EventGroup::handlers);
  std::stable_partition(sorted.begin(), sorted.end(), [](const auto *one) { return one->first.first != nobody; });
  using G = EventGroups::value_type;
  report::Table table = report::ColumnsOf<G>{
      {{"handlers", "Handlers", Kind::count}, [](const G &g) { return g.second.handlers; }},
      {{"publishers", "Publishers", Kind::count}, [](const G &g) { return g.second.publishers; }},
      {{"most", "Most", Kind::count}, [](const G &g) { return g.second.most; }},
      {{"targets", "Targets", Kind::count}, [](const G &g) { return u64{g.second.targets.size()}; }},
      {{"target_bytes", "Their bytes", Kind::bytes}, [](const G &g) { return g.second.target_bytes; }},
      {{"event", "Event", Kind::text}, [](const G &g) { return g.first.first; }},
      {{"methods", "Handlers", Kind::nested, Shown::in_data}, [](const G &g) { return method_cells(g.second); }},
      {{"methods_text", "Calls", Kind::text, Shown::in_text}, [](const G &g) { return methods_text(g.second); }},
      {{"type", "Type", Kind::text, Shown::in_data}, [](const G &g) { return g.first.second; }},
      {{"example", "Largest", Kind::address}, [](const G &g) {
         return g.second.largest;
       }}}.table("events", "", sorted);
  for (const G *one : sorted) {
    u64 count = 0;
    for (const auto &[handler, calls] : by_count(one->second))
      if (count++ < most_shown_handlers)
        explain_compiled_names(handler.first, table.notes);
  }
  return table;
}

} // namespace

FoundEvents find_events(const Snapshot &snapshot, u64 least) {
  EventReader reader(snapshot);
  const std::vector<Multicast> all = reader.find(least);
  FoundEvents out;
  out.unknown = reader.unknown;
  if (all.empty())
    return out;
  std::vector<HeldObject> asked;
  for (const Multicast &one : all)
    asked.push_back({one.object, one.handlers});
  HeldBy holders(snapshot, asked, reader.parts);
  EventGroups &groups = out.groups;
  for (u64 i = 0; i < all.size(); ++i) {
    if (i % 1024 == 0)
      snapshot.watch().check();
    const Multicast &one = all[i];
    EventGroup &group = groups[{holders.of(one.object), snapshot.runtime().types().name(one.method_table)}];
    ++group.publishers;
    group.handlers += one.handlers;
    group.delegates.insert(group.delegates.end(), {one.object, one.list});
    if (one.handlers > group.most) {
      group.most = one.handlers;
      group.largest = one.object;
    }
    if (holders.of(one.object) != nobody)
      reader.add_handlers(one, group);
  }
  for (auto &[key, group] : groups)
    if (key.first == nobody)
      for (const Multicast &one : all)
        if (one.object == group.largest)
          reader.add_handlers(one, group);
  out.is_cut = reader.is_cut;
  return out;
}

void inspect_events(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  const FoundEvents found = find_events(snapshot);
  answer.tables.push_back(events_table(found.groups));
  if (!found.groups.empty())
    answer.tables.back().notes.insert(
        answer.tables.back().notes.begin(),
        "the table has only fields that hold a delegate with two handlers or more; (nobody) stands for garbage, such "
        "as an event's delegate from before a handler was added, and its Calls are those of the largest delegate");
  if (found.is_cut)
    answer.completeness->notes.add("only the first " + count_text(most_handlers_told) +
                                   " handlers are listed by method and target; there are more");
  if (found.unknown)
    answer.completeness->notes.add(
        fmt::format("{} not have the fields that delegates should have: the number of handlers is unknown",
                    found.unknown == 1 ? "1 delegate does" : count_text(found.unknown) + " delegates do"));
  u64 most = 0;
  for (const auto &[key, group] : found.groups)
    if (group.handlers > most && key.first != nobody) {
      most = group.handlers;
      answer.next_command = hex(group.largest);
    }
}

} // namespace dnheap
