// Which types of the heap a word means: a full name, a name as C# writes it, or a regular expression. Names all types
// of the heap: some ms. For the files of this folder.
#pragma once
#include "snapshot/snapshot.h"

#include <string>
#include <vector>

namespace dnheap {

struct NamedTypes {
  enum class How : u8 { full_name, csharp, expression, method_table };

  How how = How::full_name;
  std::vector<std::string> names; // full ones, in order, once each

  bool has(const std::string &name) const;
  // What to tell whoever wrote the word, where the types are not called so: empty otherwise.
  std::string note(const std::string &word) const;
};

// A full name, one as C# writes it, or the address of a MethodTable, with 0x. Throws NotFound, which says which name is
// near.
NamedTypes types_called(Snapshot &snapshot, const std::string &word);
// The names that these words mean together: of --hub. Throws as types_called().
std::vector<std::string> names_called(Snapshot &snapshot, const std::vector<std::string> &words);
// The same, or an expression (RE2, not anchored). Throws UsageError where it is neither.
NamedTypes types_called_or_like(Snapshot &snapshot, const std::string &word);
// An expression, or where none is called so, a name as C# writes it. May be none at all. Throws UsageError.
NamedTypes types_like(Snapshot &snapshot, const std::string &expression);

} // namespace dnheap
