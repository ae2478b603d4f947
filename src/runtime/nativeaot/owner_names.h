// OwnerNames: names of types of which nothing is left in a NativeAOT program but symbols, and perhaps a line of its
// metadata: static classes, and generic ones that only hold static fields. A symbol is the assembly's name and the
// type's, with '_' for all that no identifier of C may have; it is understood if the metadata has one type whose name
// is spelled so, behind the name of an assembly that is known by another type's symbol. Generic arguments are split
// where all of them are understood. Built from all names once; a look-up costs some string compares. One thread.
#pragma once
#include "metadata/native_format.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace dnheap {

class OwnerNames {
public:
  // A type that the metadata names.
  void add(const NativeTypeName &name);
  // The symbol of such a type.
  void add_symbol(std::string_view mangled, const NativeTypeName &name);

  // `known`: the name of a type by its symbol, empty where there is none. Nullopt: it is not understood, or in two
  // ways.
  using Known = std::function<std::string(std::string_view)>;
  std::optional<std::string> find(std::string_view mangled, const Known &known) const;

private:
  struct Search {
    const Known *known;
    u64 steps_left;
  };
  struct Owned {
    std::string name_space;
    std::vector<std::string> levels;
    u64 arity = 0;
    bool is_ambiguous = false;
  };

  std::optional<std::string> name_of(std::string_view mangled, unsigned depth, Search &search) const;
  const Owned *definition(std::string_view mangled) const;
  // All ways to split them into so many; at most two.
  void split(std::string_view arguments, u64 count, unsigned depth, Search &search, std::vector<std::string> &so_far,
             std::vector<std::vector<std::string>> &found) const;

  std::map<std::string, Owned, std::less<>> by_spelling_;
  std::set<std::string, std::less<>> assemblies_;
};

} // namespace dnheap
