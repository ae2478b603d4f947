// OwnerNames: names of types that have left only symbols in a NativeAOT program, and perhaps a line of its metadata:
// static classes, and generic ones that only hold static fields. A symbol is the assembly's name and the type's, with
// '_' for each character that C does not allow in an identifier. It is understood if exactly one type in the metadata
// has a name with that spelling, after the name of an assembly that another type's symbol has shown. Generic arguments
// are split if all of them are understood. Built from all names once; a look-up costs some string compares. Not for
// several threads at once.
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
  // Adds a type that has a name in the metadata.
  void add(const NativeTypeName &name);
  // Adds the symbol of a type that has a name in the metadata.
  void add_symbol(std::string_view mangled, const NativeTypeName &name);

  // `known` returns the name of a type by its symbol, or an empty text. Nullopt: the symbol is not understood, or has
  // several meanings.
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
  // Finds the ways to split the text into so many arguments; at most two.
  void split(std::string_view arguments, u64 count, unsigned depth, Search &search, std::vector<std::string> &so_far,
             std::vector<std::vector<std::string>> &found) const;

  std::map<std::string, Owned, std::less<>> by_spelling_;
  std::set<std::string, std::less<>> assemblies_;
};

} // namespace dnheap
