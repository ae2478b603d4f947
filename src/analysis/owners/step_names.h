// StepNames: numbers for the names of references on the paths to some objects: ".value", "[*]", ".(node)". Names are
// worked out once per type and reference; then all threads put the numbers on the objects that the references lead to
// (label_steps). Only references whose names depend on the object, those of suspended calls and of arrays with static
// fields, are named one by one. Not for several threads at once.
#pragma once
#include "analysis/objects/inside_of.h"
#include "analysis/objects/object_view.h"
#include "analysis/owners/step_labels.h"

#include <unordered_map>

namespace dnheap {

class StepNames {
public:
  // `view` and `insides` must outlive this object.
  StepNames(const Snapshot &snapshot, ObjectView &view, const Insides &insides)
      : snapshot_(snapshot), view_(view), insides_(insides) {}

  // Returns by ObjectId, for objects on the paths to `instances`, which the search reached: the number of the name of
  // the step that leads there.
  LargeArray<u32> name_steps(const ShortestPaths &search, std::span<const ObjectId> instances);
  // "…" for 0: no reference led there any more when names were put on, as where memory was lost meanwhile.
  const std::string &text(u32 number) const { return number ? texts_[number - 1] : unknown_; }

private:
  SlotLabels labels_of(TypeId type);
  std::optional<SlotLabels> labels_of_elements(const ObjectType &type);
  std::vector<SlotLabels> labels_of_types(const ObjectBits &inner);
  void visit_references(ObjectId object, const std::function<void(u32 label, ObjectId target)> &visit);
  ObjectBits with_static_fields() const;
  u32 number(std::string text);
  u32 number_at(const ObjectType &type, u64 offset);

  const Snapshot &snapshot_;
  ObjectView &view_;
  const Insides &insides_;
  std::unordered_map<std::string, u32> numbers_;
  std::vector<std::string> texts_;
  const std::string unknown_ = "…";
};

} // namespace dnheap
