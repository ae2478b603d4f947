#include "analysis/shapes/state_machines.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_awaiters = 64;      // references in one machine's awaiters
constexpr unsigned deepest_struct = 6; // levels of structs inside structs

// Returns where the bracket that opens at `open` closes; npos: nowhere.
std::size_t closing_bracket(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t at = open; at < text.size(); ++at)
    if (text[at] == '<')
      ++depth;
    else if (text[at] == '>' && --depth == 0)
      return at;
  return std::string_view::npos;
}

// Removes the types that hold lambdas' variables, because they are not part of a method's name.
std::string_view without_closures(std::string_view type) {
  for (std::size_t at = type.rfind("+<>c"); at != type.npos && at > 0; at = type.rfind("+<>c")) {
    if (type.find('+', at + 1) != type.npos)
      break;
    type = type.substr(0, at);
  }
  return type;
}

bool is_awaiter(std::string_view name) { return name.starts_with("<>u__") || name.starts_with("$A"); }
bool is_state(std::string_view name) { return name == "<>1__state" || name == "$State"; }
// True for an awaiter of Task.Yield(), or of unknown type.
bool may_be_of_yield(const InstanceField &field) {
  return field.type == ElementType::ValueType &&
         (field.type_name.empty() || field.type_name.find("+YieldAwaiter") != std::string::npos);
}

} // namespace

std::string method_of_state_machine(std::string_view type) {
  for (std::size_t at = type.rfind("+<"); at != type.npos && at > 0; at = type.rfind("+<", at - 1)) {
    const std::size_t close = closing_bracket(type, at + 1);
    if (close == type.npos || close + 1 >= type.size() || type[close + 1] != 'd' || close == at + 2)
      continue;
    std::size_t rest = close + 2;
    while (rest < type.size() && (type[rest] == '_' || (type[rest] >= '0' && type[rest] <= '9')))
      ++rest;
    return std::string(without_closures(type.substr(0, at))) + "." + std::string(type.substr(at + 2, close - at - 2)) +
           std::string(type.substr(rest));
  }
  constexpr std::string_view basic = "+VB$StateMachine_";
  if (std::size_t at = type.find(basic); at != type.npos)
    if (std::size_t name = type.find('_', at + basic.size()); name != type.npos)
      return std::string(type.substr(0, at)) + "." + std::string(type.substr(name + 1));
  return std::string(type);
}

const MachineShape *StateMachines::find(Address method_table) {
  auto [known, is_new] = shapes_.try_emplace(method_table);
  std::optional<MachineShape> &out = known->second;
  if (!is_new || !method_table)
    return out ? &*out : nullptr;
  MachineShape shape;
  shape.method_table = method_table;
  bool yields = false;
  const std::vector<InstanceField> &fields = runtime_.fields().instance_fields(method_table);
  for (const InstanceField &field : fields) {
    if (is_state(field.name) && field.type == ElementType::I4)
      shape.state_at = field.offset;
    if (is_awaiter(field.name)) {
      shape.has_awaiter_fields = true;
      yields |= may_be_of_yield(field);
      add_references(field, field.offset, shape);
    }
  }
  const std::string &name = runtime_.types().name(method_table);
  shape.method = method_of_state_machine(name);
  shape.is_state_known = shape.state_at.has_value();
  if (!shape.is_state_known && (!fields.empty() || shape.method == name))
    return nullptr;
  shape.are_awaiters_known = fields.size() > 1; // besides the state every machine has a builder, which completes the
                                                // task
  shape.may_yield = yields || !shape.has_awaiter_fields;
  out = std::move(shape);
  return &*out;
}

// Adds the references of an awaiter, struct by struct.
void StateMachines::add_references(const InstanceField &field, u64 at, MachineShape &to) {
  struct Part {
    InstanceField field;
    u64 at;
    unsigned depth;
  };
  const u64 p = runtime_.memory().format().pointer_size;
  std::vector<Part> parts = {{field, at, 0}};
  for (u64 i = 0; i < parts.size() && to.awaiters.size() < most_awaiters; ++i) {
    const Part part = parts[i];
    if (part.field.is_reference())
      to.awaiters.push_back(part.at);
    if (part.field.type != ElementType::ValueType || !part.field.method_table || part.depth == deepest_struct)
      continue;
    for (const InstanceField &inner : runtime_.fields().instance_fields(part.field.method_table))
      if (parts.size() < most_awaiters)
        parts.push_back({inner, part.at + inner.offset - p, part.depth + 1});
  }
}

} // namespace dnheap
