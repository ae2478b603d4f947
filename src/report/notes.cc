#include "report/notes.h"

namespace dnheap::report {

void Notes::add(std::string text, std::string subject) {
  if (texts_.insert(text).second)
    notes_.push_back({std::move(text), std::move(subject)});
}

void Notes::add_first(std::string text) {
  if (texts_.insert(text).second)
    notes_.insert(notes_.begin(), Note{std::move(text)});
}

std::vector<std::string> Notes::whole() const {
  std::vector<std::string> out;
  for (const Note &note : notes_)
    out.push_back(note.whole());
  return out;
}

} // namespace dnheap::report
