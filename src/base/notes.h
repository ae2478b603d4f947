// Notes: a list of notes in the order of adding; no text occurs twice. Heap, roots and crash may pass on the same note
// with different subjects: the first subject and the gravest effect stay.
#pragma once
#include "base/error.h"
#include "base/note.h"

#include <unordered_set>
#include <vector>

namespace dnheap {

class Notes {
public:
  void add(Note note);
  void add(Subject subject, Effect effect, std::string text, std::string remedy = {});
  // Adds what an error says, after the text: "handles are missing: " + error.
  void add(Subject subject, Effect effect, std::string text, const Error &error);
  // Adds a remark: nothing is missing because of it.
  void add(std::string text) { add(Subject::answer, Effect::none, std::move(text)); }
  template <class List> void add_all(const List &notes) {
    for (const auto &note : notes)
      add(note);
  }
  // Adds the notes, and gives all of them this subject.
  void add_all(const Notes &notes, Subject subject);
  // Puts the note before all others.
  void add_first(Note note);

  // Returns the same notes, with graver effects lowered to `effect`: what a reader could not find may change other
  // answers more than the caller's.
  Notes up_to(Effect effect) const;

  // True if a note has an effect.
  bool have_effect() const;
  bool have_effect_on(Subject subject) const;
  // True if a note with an effect is about another subject.
  bool have_effect_beyond(Subject subject) const;
  // Null if no note has this key, or this text.
  Note *find(std::string_view key);
  void remove(Subject subject);

  auto begin() const { return notes_.begin(); }
  auto end() const { return notes_.end(); }
  bool empty() const { return notes_.empty(); }
  std::size_t size() const { return notes_.size(); }
  const Note &operator[](std::size_t number) const { return notes_[number]; }
  const Note &front() const { return notes_.front(); }
  const Note &back() const { return notes_.back(); }
  bool operator==(const Notes &other) const { return notes_ == other.notes_; }
  std::vector<std::string> sentences() const;
  std::vector<std::string> texts() const; // the texts alone

private:
  std::vector<Note> notes_;
  std::unordered_set<std::string> texts_;
};

} // namespace dnheap
