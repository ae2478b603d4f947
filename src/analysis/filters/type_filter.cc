#include "analysis/filters/type_filter.h"

#include "runtime/gc.h"

#include <algorithm>

namespace dnheap {

TypeFilter::TypeFilter(const Snapshot &snapshot, const Question &question) {
  if (!question.type_exact.empty()) {
    types_ = types_called(snapshot, question.type_exact);
    note_ = types_->note(question.type_exact);
  }
  if (question.type_regex.empty())
    return;
  NamedTypes like = types_like(snapshot, question.type_regex);
  if (like.names.empty())
    note_ = "no type matches " + question.type_regex + "; --type is case-sensitive: (?i) at its beginning ignores case";
  else if (like.how != NamedTypes::How::expression)
    note_ = like.note(question.type_regex);
  if (types_)
    std::erase_if(like.names, [&](const std::string &name) { return !types_->has(name); });
  types_ = std::move(like);
}

void TypeFilter::add_notes(report::Answer &answer) const {
  if (!note_.empty())
    answer.completeness->notes.add(note_);
}

std::optional<u8> generation_of(const Question &question) {
  if (!question.generation)
    return std::nullopt;
  return static_cast<u8>(*question.generation);
}

} // namespace dnheap
