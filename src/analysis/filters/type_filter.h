// The types that a question is about: --type (RE2, unanchored, case-sensitive) or --type-exact, both also with names as
// C# writes them, or the address of a MethodTable.
#pragma once
#include "analysis/names/named_types.h"
#include "analysis/verb.h"

namespace dnheap {

class TypeFilter {
public:
  // Throws UsageError if the expression is malformed, NotFound if no type has exactly that name. Walks the heap unless
  // that was done.
  TypeFilter(const Snapshot &snapshot, const Question &question);
  bool everything() const { return !types_; }
  bool passes(const std::string &name) const { return !types_ || types_->has(name); }
  // Adds a note that lists the types that a C# name matches, or says that it matches none.
  void add_notes(report::Answer &answer) const;

private:
  std::optional<NamedTypes> types_;
  std::string note_;
};

// Returns the generation that --gen names; nullopt: any.
std::optional<u8> generation_of(const Question &question);

} // namespace dnheap
