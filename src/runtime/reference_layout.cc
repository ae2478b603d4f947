#include "runtime/reference_layout.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 max_joined = 256; // characters of the joined names of overlapping fields

} // namespace

std::string exact_text(const PathText &path, const std::vector<std::string> &elements) {
  std::string out;
  u64 done = 0;
  for (u64 i = 0; i < path.stars.size() && i < elements.size(); ++i) {
    out.append(path.text, done, path.stars[i] - done);
    out += elements[i];
    done = path.stars[i] + 1;
  }
  return out.append(path.text, done);
}

void ReferenceLayout::seal() {
  std::stable_sort(references.begin(), references.end(),
                   [](const Reference &a, const Reference &b) { return a.offset < b.offset; });
  std::vector<Reference> out;
  for (Reference &r : references) {
    if (out.empty() || out.back().offset != r.offset)
      out.push_back(std::move(r));
    else if (PathText &first = out.back().path; first.text.size() + r.path.text.size() < max_joined) {
      u32 shift = static_cast<u32>(first.text.size() + 1);
      (first += "|") += r.path.text;
      for (u32 star : r.path.stars)
        first.stars.push_back(star + shift);
    }
  }
  references = std::move(out);
  auto by_offset = [](const auto &a, const auto &b) { return a.offset < b.offset; };
  std::stable_sort(runs.begin(), runs.end(), by_offset);
  std::stable_sort(unknowns.begin(), unknowns.end(), by_offset);
  for (Run &run : runs)
    for (ReferenceLayout &element : run.elements)
      element.seal();
}

ReferenceLayout::Reference *ReferenceLayout::find(u64 offset, std::vector<u64> *elements) {
  auto at = std::lower_bound(references.begin(), references.end(), offset,
                             [](const Reference &r, u64 value) { return r.offset < value; });
  if (at != references.end() && at->offset == offset)
    return &*at;
  auto run =
      std::upper_bound(runs.begin(), runs.end(), offset, [](u64 value, const Run &r) { return value < r.offset; });
  if (run == runs.begin())
    return nullptr;
  --run;
  u64 inside = offset - run->offset;
  if (inside / run->stride >= run->count)
    return nullptr;
  if (elements)
    elements->push_back(inside / run->stride);
  return run->elements[0].find(inside % run->stride, elements);
}

const ReferenceLayout::Unknown *ReferenceLayout::find_unknown(u64 offset) const {
  auto at = std::upper_bound(unknowns.begin(), unknowns.end(), offset,
                             [](u64 value, const Unknown &u) { return value < u.offset; });
  return at == unknowns.begin() ? nullptr : &*std::prev(at);
}

} // namespace dnheap
