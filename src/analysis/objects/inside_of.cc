#include "analysis/objects/inside_of.h"

#include "analysis/shapes/base_types.h"

#include <algorithm>

namespace dnheap {

namespace {

// Returns the type's own name without its arguments, which may contain a program's own node types.
std::string without_arguments(std::string_view type) {
  std::string out;
  u64 depth = 0;
  for (char c : type) {
    depth += c == '<';
    if (!depth || (depth == 1 && c == '<'))
      out += c;
    if (c == '>' && depth)
      --depth;
  }
  return out;
}

} // namespace

bool is_node_of_collection(std::string_view type) {
  constexpr std::string_view spaces[] = {"System.Collections.", "System.Threading.Tasks.", "System.Threading.Timer",
                                         "System.Threading.ThreadLocal<",
                                         "System.Runtime.CompilerServices.ConditionalWeakTable"};
  constexpr std::string_view parts[] = {
      "+Node",       "+Tables",         "+VolatileNode",           "+Entry",   "LinkedListNode<",
      "+Container",  "+Segment",        "ConcurrentQueueSegment<", "+Slot",    "+LinkedSlot",
      "TimerHolder", "TimerQueueTimer", "SortedInt32KeyNode<",     "TreeSet<", "+WorkStealingQueue"};
  auto begins = [&](std::string_view space) { return type.starts_with(space); };
  if (std::none_of(std::begin(spaces), std::end(spaces), begins))
    return false;
  const std::string own = without_arguments(type);
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view part) { return own.find(part) != own.npos; });
}

namespace {

// True for nodes that own arrays other than arrays of nodes: buckets, locks, a segment's slots. An array that hangs
// from any other node, or from an array of entries, is a key or a value.
bool is_node_with_arrays(std::string_view type) {
  constexpr std::string_view parts[] = {"+Tables", "+Container", "+Segment", "+WorkStealingQueue"};
  return is_node_of_collection(type) && std::any_of(std::begin(parts), std::end(parts), [&](std::string_view part) {
           return without_arguments(type).ends_with(part);
         });
}

} // namespace

bool is_inside_of_collection(std::string_view type) { return type.ends_with("[]") || is_node_of_collection(type); }

InsideTraits::InsideTraits(std::string_view type, bool is_delegate)
    : is_node(is_node_of_collection(type)), is_array(type.ends_with("[]")),
      has_arrays(is_delegate || is_node_with_arrays(type) ||
                 (!is_array && !is_node &&
                  (type.starts_with("System.Collections.") || type == "System.Text.StringBuilder"))) {}

Insides::Insides(const Runtime &runtime, const HeapTypes &types) {
  const BaseTypes bases(runtime);
  for (u32 i = 0; i < types.size(); ++i) {
    const Address mt = types[TypeId{i}].method_table;
    traits_.emplace_back(runtime.types().name(mt), bases.derives(mt, "System.MulticastDelegate"));
  }
}

bool Insides::is_inside(TypeId parent, TypeId child) const {
  return is_known(parent) && is_known(child) &&
         traits_[static_cast<u32>(parent)].folds(traits_[static_cast<u32>(child)]);
}

} // namespace dnheap
