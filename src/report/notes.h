// Notes: what is missing in an answer and what is odd about its source, each once. A reader's problem reaches an answer
// in several ways (the heap's, the roots', the crash's), each with another subject; the first one stays.
#pragma once
#include <string>
#include <unordered_set>
#include <vector>

namespace dnheap::report {

struct Note {
  std::string text;         // a whole phrase
  std::string subject = {}; // "roots", if the phrase alone does not say what it is about

  std::string whole() const { return subject.empty() ? text : subject + ": " + text; }
};

class Notes {
public:
  // Does nothing if there is a note with that text already.
  void add(std::string text, std::string subject = {});
  void add(const Note &note) { add(note.text, note.subject); }
  template <class Texts> void add_all(const Texts &texts) {
    for (const auto &text : texts)
      add(text);
  }
  void add_first(std::string text);

  auto begin() const { return notes_.begin(); }
  auto end() const { return notes_.end(); }
  bool empty() const { return notes_.empty(); }
  std::size_t size() const { return notes_.size(); }
  std::vector<std::string> whole() const;

private:
  std::vector<Note> notes_;
  std::unordered_set<std::string> texts_;
};

} // namespace dnheap::report
