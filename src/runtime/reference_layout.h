// ReferenceLayout: the offsets and names of the references of one type, with structs and inline arrays resolved: a list
// sorted by offset, in which a run of equal elements counts once. Built once per type (NamedFields); a look-up is a
// binary search per level of inline arrays. Knows nothing of any runtime. Immutable once sealed: any thread.
#pragma once
#include "base/integers.h"

#include <string>
#include <vector>

namespace dnheap {

// "._items", or with elements "._slots[*].Item": `stars` has the positions at which numbers can be put.
struct PathText {
  std::string text;
  std::vector<u32> stars; // positions of the '*', ascending

  PathText &operator+=(std::string_view more) {
    text += more;
    return *this;
  }
  PathText &add_star() {
    text += "[*]";
    stars.push_back(static_cast<u32>(text.size() - 2));
    return *this;
  }
};
// Returns the path with elements[i] in place of the i-th star.
std::string exact_text(const PathText &path, const std::vector<std::string> &elements);

class ReferenceLayout {
public:
  struct Reference {
    u64 offset;
    PathText path;
    u32 number = ~0u; // free for the owner's use
  };
  // `count` elements of `stride` bytes each, with references at offsets relative to an element.
  struct Run {
    u64 offset, stride, count;
    std::vector<ReferenceLayout> elements; // exactly one: the layout of every element
  };
  // A range that has a name, but whose content is unknown.
  struct Unknown {
    u64 offset;
    PathText path;
  };

  std::vector<Reference> references;
  std::vector<Run> runs;
  std::vector<Unknown> unknowns;

  bool empty() const { return references.empty() && runs.empty() && unknowns.empty(); }
  // Sorts, and merges references at the same offset into one, named "._a|._b".
  void seal();
  // Returns the reference at that offset; null: there is none. `elements` receives the number of the element at each
  // level.
  Reference *find(u64 offset, std::vector<u64> *elements = nullptr);
  // Returns the last unknown range that begins at `offset` or before; null: none.
  const Unknown *find_unknown(u64 offset) const;
};

} // namespace dnheap
