#include "analysis/shapes/captured_values.h"

#include "analysis/shapes/dictionary_entries.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/queued_timer.h"
#include "analysis/shapes/typed_objects.h"
#include "base/most_frequent.h"
#include "objects/live.h"
#include "objects/object_index.h"
#include "objects/references.h"
#include "objects/roots.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr const char *registration_node = "System.Threading.CancellationTokenSource+CallbackNode";
constexpr std::string_view empty_map = "+EmptyAsyncLocalValueMap";
constexpr u32 most_locals = 1 << 12;   // of one context
constexpr u64 most_captured = 1 << 22; // values of all contexts

struct CapturedValue {
  Address context = 0, local = 0, value = 0; // value: 0 for null
};
struct MappedContext {
  Address map = 0, context = 0;
};

// Calls in flight: suspended async methods, and threads. The context flows with them, and leaves with them.
bool is_call_in_flight(const Runtime &runtime, Address method_table) {
  const std::string &name = runtime.types().name(method_table);
  return name.find("StateMachineBox<") != name.npos || name == "System.Threading.Thread" ||
         runtime.is_continuation(method_table);
}

// Fields of calls in flight, and of work that waits to be run.
bool is_field_of_calls(const std::string &field) {
  constexpr std::string_view beginnings[] = {"System.Runtime.CompilerServices.",
                                             "System.Threading.Tasks.",
                                             "System.Threading.Thread.",
                                             "System.Threading.ThreadPool",
                                             "System.Threading.QueueUserWorkItemCallback",
                                             "thread static ",
                                             "variable ",
                                             "a variable of ",
                                             "("};
  return std::ranges::any_of(beginnings, [&](std::string_view one) { return field.starts_with(one); });
}

// Reads the contexts that are alive, with their values, and what captured them.
class CaptureReader {
public:
  CaptureReader(const Snapshot &snapshot, const DominatorTree *tree)
      : snapshot_(snapshot), tree_(tree), runtime_(snapshot.runtime()), fields_(runtime_),
        reader_(snapshot.references()) {
    std::vector<MappedContext> contexts;
    knows_roots_ = !snapshot_.roots().roots.empty();
    for (const TypedObject &one : objects_that(snapshot_, [&](Address mt) { return is_wanted(mt); })) {
      if (!is_alive(one.address))
        continue;
      const std::string &name = runtime_.types().name(one.method_table);
      if (name == execution_context)
        add_context(one.address, contexts);
      else if (name == queued_timer)
        add_callee(one.address, "_executionContext", {"_timerCallback"});
      else if (name == registration_node)
        add_callee(one.address, "ExecutionContext", {"CallbackState", "Callback"});
      else
        add_call(one.address);
    }
    add_values(contexts);
  }

  // Returns the number of the method called by the timer or the registration that captured the context; 0: unknown.
  u32 callee_of(Address context) const {
    const auto found = callees_.find(context);
    return found == callees_.end() ? 0 : found->second;
  }
  const std::string &callee_text(u32 number) const { return callee_texts_[number]; }
  bool is_in_flight(Address context) const { return in_flight_.contains(context); }
  u64 bytes_of(Address object) {
    OpenedObject opened;
    return reader_.open(object, opened) ? align_up(opened.size, u64{fields_.pointer_size()}) : 0;
  }

  std::vector<CapturedValue> captured; // those of one context follow each other
  std::vector<Address> parts;          // maps and their arrays, which hold nothing of their own
  u64 unknown = 0;
  bool is_cut = false;

private:
  bool is_wanted(Address mt) const {
    const std::string &name = runtime_.types().name(mt);
    return name == execution_context || name == queued_timer || name == registration_node ||
           is_call_in_flight(runtime_, mt);
  }

  bool is_alive(Address object) const {
    if (!knows_roots_)
      return true;
    if (!tree_)
      return snapshot_.live().objects.test(object);
    const ObjectId id = snapshot_.index().find(object);
    return id != no_object && tree_->place(id);
  }

  void add_context(Address context, std::vector<MappedContext> &to) {
    const std::optional<Address> map = fields_.reference(context, "m_localValues");
    if (!map)
      ++unknown;
    else if (*map && snapshot_.index().is_object(*map))
      to.push_back({*map, context});
    if (const Address notified = fields_.reference_or_null(context, "m_localChangeNotifications"))
      parts.push_back(notified);
  }
  // `delegates`: fields; the first that is a delegate shows what is called.
  void add_callee(Address object, const char *context_field, std::initializer_list<const char *> delegates) {
    const Address context = fields_.reference_or_null(object, context_field);
    if (!context || callees_.contains(context))
      return;
    for (const char *field : delegates)
      if (const Address callback = fields_.reference_or_null(object, field); snapshot_.index().is_object(callback))
        for (const DelegateTarget &target : runtime_.fields().delegate_targets(callback, fields_.type_of(callback), 1))
          if (!target.method.empty()) {
            callees_.emplace(context, number_of(target.method));
            return;
          }
  }
  u32 number_of(const std::string &method) {
    auto [at, is_new] = callee_numbers_.emplace(method, static_cast<u32>(callee_texts_.size()));
    if (is_new)
      callee_texts_.push_back(method);
    return at->second;
  }
  // Marks the contexts to which a call refers.
  void add_call(Address call) {
    OpenedObject opened, target;
    if (reader_.open(call, opened))
      reader_.for_each(opened, [&](Address to) {
        if (reader_.open(to, target) && runtime_.types().name(target.type->method_table) == execution_context)
          in_flight_.insert(to);
      });
  }

  void add_values(const std::vector<MappedContext> &contexts) {
    for (const MappedContext &one : contexts) {
      if (captured.size() % 1024 == 0)
        snapshot_.watch().check();
      const std::optional<std::vector<DictionaryEntry>> values = values_of(one.map);
      if (!values)
        ++unknown;
      else if ((is_cut = captured.size() + values->size() > most_captured))
        return;
      else
        for (const DictionaryEntry &entry : *values)
          if (snapshot_.index().is_object(entry.key))
            captured.push_back({one.context, entry.key, snapshot_.index().is_object(entry.value) ? entry.value : 0});
    }
  }

  // Returns the AsyncLocals and values of a map; nullopt if it has an unknown shape.
  std::optional<std::vector<DictionaryEntry>> values_of(Address map) {
    const Address type = fields_.type_of(map);
    parts.push_back(map);
    if (runtime_.types().name(type).ends_with(empty_map))
      return std::vector<DictionaryEntry>();
    if (fields_.find(type, "_item0"))
      return numbered_values(map, type);
    const bool is_array = fields_.find(type, "_keyValues");
    const Address inner = fields_.reference_or_null(map, is_array ? "_keyValues" : "_entries");
    parts.push_back(inner);
    return is_array ? pairs_in_array(runtime_, fields_, inner, std::min(fields_.length(inner).value_or(0), most_locals))
                    : dictionary_entries(runtime_, fields_, map, most_locals);
  }
  // Of maps with few values: _item0, _item1, …
  std::vector<DictionaryEntry> numbered_values(Address map, Address type) {
    std::vector<DictionaryEntry> out;
    for (u32 i = 0; i < most_locals; ++i) {
      const std::string item = "_item" + std::to_string(i);
      if (!fields_.find(type, item))
        break;
      out.push_back({fields_.reference_or_null(map, item + ".key"), fields_.reference_or_null(map, item + ".value")});
    }
    return out;
  }

  const Snapshot &snapshot_;
  const DominatorTree *const tree_; // null: Snapshot::live() shows what is alive
  const Runtime &runtime_;
  FieldReader fields_;
  ReferenceReader reader_;
  bool knows_roots_ = false;
  std::unordered_set<Address> in_flight_;     // contexts that calls in flight carry
  std::unordered_map<Address, u32> callees_;  // by context
  std::map<std::string, u32> callee_numbers_; // by method
  std::vector<std::string> callee_texts_ = {""};
};

// Returns the largest number of values of one type, of AsyncLocals of one type, that no call in flight carries.
u64 most_values_outside_calls(const CaptureReader &reader, const FieldReader &fields) {
  std::unordered_set<Address> in_flight;
  for (const CapturedValue &one : reader.captured)
    if (reader.is_in_flight(one.context))
      in_flight.insert(one.value);
  std::map<std::pair<Address, Address>, std::unordered_set<Address>> values;
  for (const CapturedValue &one : reader.captured)
    if (one.value && !in_flight.contains(one.value))
      values[{fields.type_of(one.local), fields.type_of(one.value)}].insert(one.value);
  u64 out = 0;
  for (const auto &[types, of] : values)
    out = std::max<u64>(out, of.size());
  return out;
}

HeldBy holders_of(const Snapshot &snapshot, const CaptureReader &reader) {
  std::vector<Address> asked;
  for (const CapturedValue &one : reader.captured)
    asked.insert(asked.end(), {one.context, one.local, one.value});
  std::ranges::sort(asked);
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  std::vector<HeldObject> objects;
  for (Address one : asked)
    objects.push_back({one, 1});
  return HeldBy(snapshot, objects, reader.parts);
}

// Counts, by field and by what is called, the contexts that are entered in the order of CaptureReader::captured.
class CaptorCounts {
public:
  void add(Address context, u32 field, u32 callee) {
    if (context == last_)
      return;
    last_ = context;
    ++contexts_;
    ++by_field_[field];
    ++by_callee_[{field, callee}];
  }
  u64 contexts() const { return contexts_; }

  Captor most(HeldBy &holders, const CaptureReader &reader) const {
    const auto most = most_frequent(by_field_);
    if (most == by_field_.end())
      return {};
    Captor out{holders.text(most->first), "", most->second};
    if (!is_field_of_timers(out.field) && !is_field_of_registrations(out.field))
      return out; // a timer captured some of the contexts, too
    std::map<u32, u64> callees;
    for (const auto &[key, count] : by_callee_)
      if (key.first == most->first)
        callees[key.second] = count;
    out.calls = reader.callee_text(most_frequent(callees)->first);
    return out;
  }

private:
  Address last_ = 0;
  u64 contexts_ = 0;
  std::map<u32, u64> by_field_;
  std::map<std::pair<u32, u32>, u64> by_callee_;
};

struct CaptureGroup {
  CaptorCounts captors, captors_of_kept;
  std::unordered_set<Address> values, kept;
  u64 bytes = 0;
  Address example = 0;
};
using CaptureGroups = std::map<std::tuple<u32, Address, Address>, CaptureGroup>; // field, type of AsyncLocal and value

// Returns the values that a call in flight carries.
std::unordered_set<Address> values_in_flight(const CaptureReader &reader, HeldBy &holders) {
  std::unordered_set<Address> out;
  for (const CapturedValue &one : reader.captured)
    if (reader.is_in_flight(one.context) || is_field_of_calls(holders.of(one.context)))
      out.insert(one.value);
  return out;
}

CaptureGroups groups_of(CaptureReader &reader, HeldBy &holders, FieldReader &fields) {
  const std::unordered_set<Address> in_flight = values_in_flight(reader, holders);
  CaptureGroups out;
  for (const CapturedValue &one : reader.captured) {
    CaptureGroup &group = out[{holders.field(one.local), fields.type_of(one.local), fields.type_of(one.value)}];
    const u32 field = holders.field(one.context), callee = reader.callee_of(one.context);
    if (!group.example)
      group.example = one.context;
    group.captors.add(one.context, field, callee);
    if (!one.value)
      continue;
    if (group.values.insert(one.value).second)
      group.bytes += reader.bytes_of(one.value);
    if (holders.field(one.value) != HoldingFields::nobody || in_flight.contains(one.value))
      continue;
    group.kept.insert(one.value);
    group.captors_of_kept.add(one.context, field, callee);
  }
  return out;
}

} // namespace

bool is_field_of_timers(const std::string &field) { return field.starts_with(std::string(queued_timer) + "."); }
bool is_field_of_registrations(const std::string &field) {
  return field.starts_with(std::string(registration_node) + ".");
}

FoundCaptures find_captured_values(const Snapshot &snapshot, u64 least, const DominatorTree *tree) {
  FoundCaptures out;
  CaptureReader reader(snapshot, tree);
  FieldReader fields(snapshot.runtime());
  out.unknown = reader.unknown;
  out.is_cut = reader.is_cut;
  if (reader.captured.empty() || (least && most_values_outside_calls(reader, fields) < least))
    return out;
  HeldBy holders = holders_of(snapshot, reader);
  auto type_name = [&](Address mt) { return mt ? snapshot.runtime().types().name(mt) : ""; };
  for (const auto &[key, group] : groups_of(reader, holders, fields)) {
    const auto &[field, local_type, value_type] = key;
    CapturedValues one{.local = holders.text(field),
                       .local_type = type_name(local_type),
                       .value_type = type_name(value_type),
                       .contexts = group.captors.contexts(),
                       .values = group.values.size(),
                       .bytes = group.bytes,
                       .captor = group.captors.most(holders, reader),
                       .example = group.example,
                       .kept = {group.kept.begin(), group.kept.end()},
                       .kept_contexts = group.captors_of_kept.contexts(),
                       .kept_by = group.captors_of_kept.most(holders, reader)};
    std::ranges::sort(one.kept);
    out.groups.push_back(std::move(one));
  }
  std::ranges::stable_sort(out.groups, std::greater(), &CapturedValues::contexts);
  return out;
}

} // namespace dnheap
