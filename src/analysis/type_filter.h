// Which types a question is about: --type (RE2, unanchored, case-sensitive) or --type-exact. Each name is looked at
// once.
#pragma once
#include "analysis/verb.h"

#include <memory>

namespace re2 {
class RE2;
}

namespace dnheap {

class TypeFilter {
public:
  // Throws Error when the expression is malformed.
  explicit TypeFilter(const Question &question);
  ~TypeFilter();
  bool everything() const { return !regex_ && exact_.empty(); }
  bool passes(const std::string &name) const;

private:
  std::unique_ptr<re2::RE2> regex_;
  std::string exact_;
};

// The generation that --gen names; nullopt = any.
std::optional<u8> generation_of(const Question &question);

} // namespace dnheap
