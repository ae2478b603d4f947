// Which types a question is about: --type (RE2, unanchored, case-sensitive) or --type-exact, both also as C# writes
// names; or the address of a MethodTable.
#pragma once
#include "analysis/names/named_types.h"
#include "analysis/verb.h"

namespace dnheap {

class TypeFilter {
public:
  // Throws UsageError when the expression is malformed, NotFound when no type is called exactly so. Walks the heap
  // unless that was done.
  TypeFilter(Snapshot &snapshot, const Question &question);
  bool everything() const { return !types_; }
  bool passes(const std::string &name) const { return !types_ || types_->has(name); }
  // Which types a name as C# writes it was taken for, and that no name matches.
  void add_notes(report::Answer &answer) const;

private:
  std::optional<NamedTypes> types_;
  std::string note_;
};

// The generation that --gen names; nullopt = any.
std::optional<u8> generation_of(const Question &question);

} // namespace dnheap
