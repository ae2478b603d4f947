#include "runtime/nativeaot/owner_names.h"

#include <algorithm>
#include <charconv>

namespace dnheap {

namespace {

constexpr unsigned deepest = 8;     // levels of generic instantiations in instantiations
constexpr u64 most_steps = 4096;    // for one name
constexpr u64 longest = 4096;       // characters of a symbol
constexpr u64 most_names = 1 << 20; // names that are kept
constexpr u64 most_assemblies = 4096;

bool is_of_c(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// ILCompiler.Compiler/Compiler/NativeAotNameMangler.cs.
std::string spelling(const NativeTypeName &name) {
  std::string out = name.name_space;
  for (const std::string_view level : name.levels) {
    if (!out.empty())
      out += '_';
    out += level;
  }
  std::replace_if(
      out.begin(), out.end(), [](char c) { return !is_of_c(c); }, '_');
  return out;
}

u64 arity_of(const NativeTypeName &name) {
  u64 out = 0;
  for (const std::string_view level : name.levels)
    if (const std::size_t mark = level.rfind('`'); mark != level.npos) {
      u64 count = 0;
      std::from_chars(level.data() + mark + 1, level.data() + level.size(), count);
      out += std::min<u64>(count, 1024);
    }
  return out;
}

} // namespace

void OwnerNames::add(const NativeTypeName &name) {
  if (by_spelling_.size() >= most_names || name.levels.empty())
    return;
  Owned owned{name.name_space, {name.levels.begin(), name.levels.end()}, arity_of(name)};
  auto [known, is_new] = by_spelling_.try_emplace(spelling(name), owned);
  known->second.is_ambiguous |=
      !is_new && (known->second.name_space != owned.name_space || known->second.levels != owned.levels);
}

void OwnerNames::add_symbol(std::string_view mangled, const NativeTypeName &name) {
  const std::string end = "_" + spelling(name);
  if (mangled.starts_with("Boxed_"))
    mangled.remove_prefix(6);
  if (mangled.size() > end.size() && mangled.ends_with(end) && assemblies_.size() < most_assemblies)
    assemblies_.emplace(mangled.substr(0, mangled.size() - end.size()));
}

const OwnerNames::Owned *OwnerNames::definition(std::string_view mangled) const {
  const Owned *found = nullptr;
  for (std::size_t at = mangled.find('_'); at != mangled.npos; at = mangled.find('_', at + 1)) {
    if (!assemblies_.contains(mangled.substr(0, at)))
      continue;
    const auto owned = by_spelling_.find(mangled.substr(at + 1));
    if (owned == by_spelling_.end())
      continue;
    if (found || owned->second.is_ambiguous)
      return nullptr;
    found = &owned->second;
  }
  return found;
}

std::optional<std::string> OwnerNames::find(std::string_view mangled, const Known &known) const {
  Search search{&known, most_steps};
  return mangled.size() <= longest ? name_of(mangled, 0, search) : std::nullopt;
}

std::optional<std::string> OwnerNames::name_of(std::string_view mangled, unsigned depth, Search &search) const {
  if (depth > deepest || search.steps_left == 0)
    return std::nullopt;
  --search.steps_left;
  if (std::string known = (*search.known)(mangled); !known.empty())
    return known;
  const std::size_t open = mangled.find('<');
  if (open == mangled.npos || !mangled.ends_with('>')) {
    const Owned *owned = definition(mangled);
    return owned && owned->arity == 0
               ? std::optional(
                     NativeTypeName{owned->name_space, {owned->levels.begin(), owned->levels.end()}}.format({}))
               : std::nullopt;
  }
  const std::string_view inside = mangled.substr(open + 1, mangled.size() - open - 2);
  if (mangled.substr(0, open) == "__Array") {
    const std::optional<std::string> element = name_of(inside, depth + 1, search);
    return element ? std::optional(*element + "[]") : std::nullopt;
  }
  const Owned *owned = definition(mangled.substr(0, open));
  if (!owned || owned->arity == 0)
    return std::nullopt;
  std::vector<std::string> so_far;
  std::vector<std::vector<std::string>> found;
  split(inside, owned->arity, depth, search, so_far, found);
  if (found.size() != 1 || search.steps_left == 0)
    return std::nullopt;
  return NativeTypeName{owned->name_space, {owned->levels.begin(), owned->levels.end()}}.format(found[0]);
}

// The arguments are joined by two underscores, which names may contain, too.
void OwnerNames::split(std::string_view arguments, u64 count, unsigned depth, Search &search,
                       std::vector<std::string> &so_far, std::vector<std::vector<std::string>> &found) const {
  if (found.size() > 1 || search.steps_left == 0)
    return;
  if (so_far.size() + 1 == count) {
    if (std::optional<std::string> last = name_of(arguments, depth + 1, search)) {
      found.push_back(so_far);
      found.back().push_back(std::move(*last));
    }
    return;
  }
  unsigned angles = 0;
  for (std::size_t at = 0; at + 2 < arguments.size(); ++at) {
    angles += arguments[at] == '<';
    angles -= arguments[at] == '>' && angles > 0;
    if (angles || at == 0 || arguments[at] != '_' || arguments[at + 1] != '_')
      continue;
    std::optional<std::string> first = name_of(arguments.substr(0, at), depth + 1, search);
    if (!first)
      continue;
    so_far.push_back(std::move(*first));
    split(arguments.substr(at + 2), count, depth, search, so_far, found);
    so_far.pop_back();
  }
}

} // namespace dnheap
