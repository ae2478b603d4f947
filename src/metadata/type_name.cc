#include "metadata/type_name.h"

#include <algorithm>
#include <charconv>

namespace dnheap {

namespace {

constexpr unsigned max_nesting = 64;
constexpr u32 max_arity = 1024;

struct NestingLevel {
  std::string_view name_space, name;
  u32 arity; // including those of the enclosing types
};

// Returns the number after the last ` of a name; 0 if there is none, or if it is implausible.
u32 arity_mark(std::string_view name) {
  std::size_t tick = name.rfind('`');
  if (tick == name.npos)
    return 0;
  u32 arity = 0;
  const char *end = name.data() + name.size();
  auto [stop, error] = std::from_chars(name.data() + tick + 1, end, arity);
  return error == std::errc() && stop == end && arity <= max_arity ? arity : 0;
}

// Returns the levels, innermost first.
std::vector<NestingLevel> levels_of_type_def(const Metadata &metadata, u32 rid) {
  std::vector<NestingLevel> levels;
  for (; rid && levels.size() < max_nesting; rid = metadata.enclosing_type(rid)) {
    std::optional<TypeDefRow> type = metadata.type_def(rid);
    if (!type)
      break;
    u32 arity = metadata.generic_parameter_count(token(Table::TypeDef, rid));
    levels.push_back({type->name_space, type->name, arity});
  }
  return levels;
}

std::vector<NestingLevel> levels_of_type_ref(const Metadata &metadata, u32 rid) {
  std::vector<NestingLevel> levels;
  while (levels.size() < max_nesting) {
    std::optional<TypeRefRow> type = metadata.type_ref(rid);
    if (!type)
      break;
    levels.push_back({type->name_space, type->name, arity_mark(type->name)});
    if (table_of(type->scope) != Table::TypeRef)
      break;
    rid = rid_of(type->scope);
  }
  // Only the marks are known here, and each counts only its own level's parameters.
  for (std::size_t i = levels.size(); i-- > 1;)
    levels[i - 1].arity += levels[i].arity;
  return levels;
}

std::vector<NestingLevel> levels_of(const Metadata &metadata, Token type) {
  switch (table_of(type)) {
  case Table::TypeDef: return levels_of_type_def(metadata, rid_of(type));
  case Table::TypeRef: return levels_of_type_ref(metadata, rid_of(type));
  default: return {};
  }
}

void append_escaped(std::string &out, std::string_view name) {
  for (char c : name) {
    if (std::string_view(",+&*[]\\").find(c) != std::string_view::npos)
      out += '\\';
    out += c;
  }
}

void append_qualified(std::string &out, std::string_view name_space, std::string_view name) {
  if (!out.empty())
    out += '+';
  append_escaped(out, name_space);
  if (!name_space.empty())
    out += '.';
  append_escaped(out, name);
}

} // namespace

// A nested type repeats the parameters of its enclosing types. Compilers always do this; if the metadata does not, all
// parameters are the nested type's own.
std::vector<TypeNamePart> type_name_parts(const Metadata &metadata, Token type) {
  std::vector<TypeNamePart> parts;
  bool inherits = true;
  std::vector<NestingLevel> levels = levels_of(metadata, type);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    auto &[name_space, name, arity] = levels[i];
    u32 outer = i + 1 < levels.size() ? levels[i + 1].arity : 0;
    bool repeats = arity >= outer && (outer == 0 || arity != arity_mark(name));
    u32 own = !inherits ? 0 : repeats ? arity - outer : arity;
    inherits = inherits && repeats;
    if (own && arity_mark(name) == own)
      name = name.substr(0, name.rfind('`'));
    parts.push_back({name_space, name, own});
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

TypeNamePart marked_type_name_part(std::string_view name_space, std::string_view name) {
  u32 arity = arity_mark(name);
  return {name_space, arity ? name.substr(0, name.rfind('`')) : name, arity};
}

std::string format_type_name(std::span<const TypeNamePart> parts, std::span<const std::string> arguments) {
  std::string out;
  std::size_t used = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    append_qualified(out, parts[i].name_space, parts[i].name);
    std::size_t arity = parts[i].own_arity;
    if (i + 1 == parts.size() && arguments.size() > used)
      arity = std::max(arity, arguments.size() - used);
    for (std::size_t k = 0; k < arity; ++k, ++used) {
      out += k == 0 ? "<" : ", ";
      out += used < arguments.size() ? arguments[used] : "T" + std::to_string(k + 1);
    }
    if (arity)
      out += '>';
  }
  return out;
}

std::string array_type_name(std::string_view element, u32 rank, bool is_vector) {
  std::string out(element);
  out += '[';
  if (rank > 1)
    out.append(std::min(rank, 32u) - 1, ','); // the runtime has no rank above 32
  else if (!is_vector)
    out += '*';
  return out += ']';
}

std::string function_pointer_type_name(std::string_view returns, std::span<const std::string> parameters) {
  std::string out(returns);
  for (const std::string &parameter : parameters)
    out.append(&parameter == parameters.data() ? "(" : ", ").append(parameter);
  return out += parameters.empty() ? "()" : ")";
}

std::string type_name(const Metadata &metadata, Token type) {
  std::string out;
  std::vector<NestingLevel> levels = levels_of(metadata, type);
  for (auto level = levels.rbegin(); level != levels.rend(); ++level)
    append_qualified(out, level->name_space, level->name);
  return out;
}

std::string without_arity_marks(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i)
    if (name[i] != '`')
      out += name[i];
    else
      i = std::min(name.find_first_not_of("0123456789", i + 1), name.size()) - 1;
  return out;
}

} // namespace dnheap
