#include "analysis/suspects/suspect.h"

#include "analysis/names/brief_type_name.h"
#include "analysis/names/compiled_names.h"
#include "analysis/owners/first_owners.h"
#include "analysis/owners/ranked_owners.h"
#include "analysis/suspects/folded_way.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

const char *name_of(Suspect::Kind kind) {
  switch (kind) {
  case Suspect::Kind::collection: return "collection";
  case Suspect::Kind::chain: return "chain";
  case Suspect::Kind::many: return "many";
  case Suspect::Kind::object: return "object";
  }
  return "";
}

namespace {

std::string brief_text(const Suspect::Step &step) {
  return step.call.empty() ? brief_type_name(step.type) : "pending call of " + step.call;
}

// Returns the number of steps that belong to an execution context and its map of values: names of the runtime's own.
u64 count_maps(const Suspect &s) {
  u64 out = 0;
  while (s.owner == what_flows && out + 1 < s.shown &&
         (s.steps[out].type == "System.Threading.ExecutionContext" ||
          s.steps[out].type.find("System.Threading.AsyncLocalValueMap+") != std::string::npos ||
          s.steps[out].type.find("System.Threading.IAsyncLocal") != std::string::npos))
    ++out;
  return out ? out + 1 : 0; // the field of the value is the map's
}

} // namespace

std::string Suspect::brief_element() const {
  if (element.empty())
    return "entries"; // values, which are no objects
  if (element_call.empty())
    return brief_type_name(element);
  return (elements > 1 ? "pending call, the first of " : "pending call of ") + element_call;
}

std::string Suspect::text() const {
  return own_text() + (remark.empty() ? "" : ", " + remark) +
         (gone * 2 > elements ? fmt::format("; the targets of {} of them are gone", count_text(gone)) : "");
}

namespace {

// "a lambda in Open of Shop.Screen ×3,000"; several methods stay as they are.
std::string handlers_in_words(const std::string &calls) {
  const auto times = calls.rfind(" ×");
  return times == calls.npos || calls.find(", ") != calls.npos
             ? calls
             : method_in_words(calls.substr(0, times)) + calls.substr(times);
}

} // namespace

std::string Suspect::own_text() const {
  const u64 each = elements ? retained / elements : retained;
  const std::string what =
      elements == 1      ? brief_element()
      : elements && room ? fmt::format("{} {} in room for {}", count_text(elements), brief_element(), count_text(room))
      : elements ? fmt::format("{} {}{}, {} each", count_text(elements), element.empty() ? "" : "× ", brief_element(),
                               bytes_text(each))
                 : "";
  if (!calls.empty() && elements > 1)
    return fmt::format("{} handlers: {}", count_text(elements), handlers_in_words(calls));
  switch (kind) {
  case Kind::many: return what;
  case Kind::chain: return "a chain of " + what;
  case Kind::collection:
    if (steps.empty())
      return what;
    if (elements == 1 && element == steps[shown - 1].type) // an array of inner objects that hold nothing
      return brief_text(steps[shown - 1]);
    return brief_text(steps[shown - 1]) + ": " + what;
  case Kind::object:
    if (steps.empty())
      return what;
    if (room)
      return fmt::format("{}, empty, with room for {}", brief_text(steps[shown - 1]), count_text(room));
    return brief_text(steps[shown - 1]) + (objects > 1 ? fmt::format(", {} objects in all", count_text(objects)) : "");
  }
  return what;
}

std::string Suspect::way() const {
  std::string out = owner;
  if (shown && owner.ends_with(and_others)) // an object that several owners share
    out += " … " + brief_text(steps[0]);
  std::string fields;
  for (u64 i = count_maps(*this); i < shown; ++i) // a step to which no reference leads directly is shown by its type
    if (steps[i].field == Step::no_single_reference) {
      out += folded_way(fields) + fmt::format(" … {}", brief_text(steps[i]));
      fields.clear();
    } else {
      fields += steps[i].field;
    }
  return out + folded_way(fields);
}

std::string Suspect::also_text() const {
  constexpr u64 worth_a_word = 10; // one part in this many of the retained bytes
  constexpr u64 nearly_all = 20;   // less than one part in this many is the owner's alone
  if (also_held.bytes * worth_a_word < retained || !also_held.bytes)
    return "";
  const u64 alone = retained - std::min(also_held.bytes, retained);
  const bool is_all = alone * nearly_all < retained;
  const char *who = "";
  switch (also_held.by) {
  case OwnerRank::own:
  case OwnerRank::chance: return "";
  case OwnerRank::services: who = "the container of services holds"; break;
  case OwnerRank::framework: who = "static fields of the framework hold"; break;
  case OwnerRank::flows: who = "what flows with calls holds"; break;
  case OwnerRank::own_frames:
  case OwnerRank::frames:
    if (is_all) // such as the thread that empties a queue
      return "a thread uses it now: a method on a stack refers to it, too";
    who = "methods on stacks hold";
    break;
  case OwnerRank::plumbing: who = "the runtime's queues, or handles, hold"; break;
  }
  if (is_all)
    return std::string(who) + " all of it, too";
  return fmt::format("{} {} of it, too: only {} would be freed at once", who, bytes_text(also_held.bytes),
                     bytes_text(alone));
}

std::string way_and_text(const std::string &way, const std::string &text) {
  const std::string type = text.substr(0, text.find(": "));
  return way + (type != text && way.ends_with(" … " + type) ? "" : ": " + type) + text.substr(type.size());
}

} // namespace dnheap
