// Finds the types of the heap that a word means: a full name, a name as C# writes it, or a regular expression. Names
// all types of the heap: some ms. For the files of this folder.
#pragma once
#include "snapshot/snapshot.h"

#include <string>
#include <vector>

namespace dnheap {

struct NamedTypes {
  enum class How : u8 { full_name, csharp, expression, method_table };

  How how = How::full_name;
  std::vector<std::string> names; // full names in order, each once

  bool has(const std::string &name) const;
  // Returns a note for the user if the types are called differently from `word`; else empty.
  std::string note(const std::string &word) const;
};

// Accepts a full name, a C# name, or the address of a MethodTable with 0x. Throws NotFound, which suggests a similar
// name.
NamedTypes types_called(const Snapshot &snapshot, const std::string &word);
// Returns the names of all types that these words mean, for --hub. Throws as types_called().
std::vector<std::string> names_called(const Snapshot &snapshot, const std::vector<std::string> &words);
// The same, or an expression (RE2, not anchored). Throws UsageError if the word is neither.
NamedTypes types_called_or_like(const Snapshot &snapshot, const std::string &word);
// Accepts an expression or, if it matches no type, a C# name. The result may be empty. Throws UsageError.
NamedTypes types_like(const Snapshot &snapshot, const std::string &expression);

} // namespace dnheap
