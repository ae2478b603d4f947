#include "base/notes.h"

#include "base/missing_value.h"

#include <algorithm>

namespace dnheap {

void Notes::add(Note note) {
  if (texts_.insert(note.text).second) {
    notes_.push_back(std::move(note));
    return;
  }
  // A search through the list is good enough, as few texts come twice.
  for (Note &same : notes_)
    if (same.text == note.text)
      same.effect = std::max(same.effect, note.effect);
}

void Notes::add(Subject subject, Effect effect, std::string text, std::string remedy) {
  add(Note{subject, effect, std::move(text), std::move(remedy)});
}

void Notes::add(Subject subject, Effect effect, std::string text, const Error &error) {
  add(Note{subject, effect, std::move(text) + error.what(), {}, name_of_missing(error)});
}

void Notes::add_all(const Notes &notes, Subject subject) {
  for (Note note : notes) {
    note.subject = subject;
    add(std::move(note));
  }
}

Notes Notes::up_to(Effect effect) const {
  Notes out = *this;
  for (Note &note : out.notes_)
    note.effect = std::min(note.effect, effect);
  return out;
}

void Notes::add_first(Note note) {
  if (texts_.insert(note.text).second)
    notes_.insert(notes_.begin(), std::move(note));
}

bool Notes::have_effect() const {
  return std::any_of(begin(), end(), [](const Note &note) { return note.effect != Effect::none; });
}

bool Notes::have_effect_on(Subject subject) const {
  return std::any_of(begin(), end(),
                     [&](const Note &note) { return note.subject == subject && note.effect != Effect::none; });
}

bool Notes::have_effect_beyond(Subject subject) const {
  return std::any_of(begin(), end(),
                     [&](const Note &note) { return note.subject != subject && note.effect != Effect::none; });
}

Note *Notes::find(std::string_view key) {
  const auto found =
      std::find_if(notes_.begin(), notes_.end(), [&](const Note &note) { return note.key == key || note.text == key; });
  return found == notes_.end() ? nullptr : &*found;
}

void Notes::remove(Subject subject) {
  std::erase_if(notes_, [&](const Note &note) { return note.subject == subject && texts_.erase(note.text); });
}

std::vector<std::string> Notes::sentences() const {
  std::vector<std::string> out;
  for (const Note &note : notes_)
    out.push_back(note.sentence());
  return out;
}

std::vector<std::string> Notes::texts() const {
  std::vector<std::string> out;
  for (const Note &note : notes_)
    out.push_back(note.text);
  return out;
}

} // namespace dnheap
