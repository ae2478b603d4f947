#include "metadata/evidence.h"

#include <algorithm>

namespace dnheap {

namespace {

// II.23.1.16 does not restrict names; these are the rules that compilers follow.
bool is_plausible_text(std::string_view name) {
  for (u64 i = 0; i < name.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(name[i]);
    if (c < 0x20 || c == 0x7f || (c < 0x80 && std::string_view("!\"#%():;\\^{}~").find(name[i]) != name.npos))
      return false;
    if (c < 0x80)
      continue;
    u64 more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    if (c < 0xc2 || c > 0xf4 || more >= name.size() - i)
      return false;
    for (; more; --more)
      if ((static_cast<unsigned char>(name[++i]) & 0xc0) != 0x80)
        return false;
  }
  return true;
}

// Only namespaces and generated names contain a dot. If a name still has an arity mark, that mark does not fit the
// parameters.
bool is_plausible_name(std::string_view name) {
  std::size_t mark = name.rfind('`');
  bool marked =
      mark != name.npos && mark + 1 < name.size() && name.find_first_not_of("0123456789", mark + 1) == name.npos;
  bool dotted = name.find('.', 1) != name.npos && name.find('<') == name.npos;
  return !name.empty() && !marked && !dotted && is_plausible_text(name);
}

bool is_plausible_namespace(std::string_view name) {
  return !name.starts_with('.') && !name.ends_with('.') && name.find("..") == name.npos &&
         name.find('`') == name.npos && is_plausible_text(name);
}

} // namespace

bool is_plausible(std::span<const TypeNamePart> parts) {
  return !parts.empty() && std::all_of(parts.begin(), parts.end(), [](const TypeNamePart &part) {
    return is_plausible_name(part.name) && is_plausible_namespace(part.name_space);
  });
}

bool may_extend(const Metadata &metadata, u32 rid, const Metadata &base, u32 base_rid) {
  std::optional<TypeDefRow> type = metadata.type_def(rid), base_type = base.type_def(base_rid);
  if (!type || !base_type || rid_of(type->extends) == 0)
    return true;
  switch (table_of(type->extends)) {
  case Table::TypeDef: return &metadata == &base && rid_of(type->extends) == base_rid;
  case Table::TypeRef: {
    std::optional<TypeRefRow> reference = metadata.type_ref(rid_of(type->extends));
    return reference && reference->name == base_type->name && reference->name_space == base_type->name_space;
  }
  case Table::TypeSpec: return true; // an instantiation of a generic type
  default: return false;
  }
}

} // namespace dnheap
