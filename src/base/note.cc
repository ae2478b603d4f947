#include "base/note.h"

#include <iterator>

namespace dnheap {

namespace {

struct SubjectName {
  const char *name;        // in data
  const char *before = ""; // for people: set if the note's text alone does not show what it is about
};

constexpr SubjectName subject_names[] = {
    {"answer"},
    {"dump"},
    {"runtime"},
    {"heap"},
    {"gc"},
    {"handles"},
    {"statics"},
    {"threads"},
    {"stacks"},
    {"roots", "roots"},
    {"references"},
    {"modules"},
    {"type_names", "type names"},
    {"fields"},
    {"locks"},
    {"exceptions"},
    {"memory"},
    {"code"},
    {"logs"},
    {"symbols", "which assemblies have symbols"},
    {"crash_place", "the place of the thread that crashed is unknown"},
    {"crash_thread", "the activity of the thread that crashed is unknown"},
    {"crash_exception", "what ended the process"},
};
static_assert(std::size(subject_names) == static_cast<u64>(Subject::crash_exception) + 1);

} // namespace

const char *name_of(Subject subject) { return subject_names[static_cast<u64>(subject)].name; }

const char *name_of(Effect effect) {
  switch (effect) {
  case Effect::numbers: return "numbers";
  case Effect::liveness: return "liveness";
  default: return "none";
  }
}

std::string Note::sentence() const {
  const std::string before = subject_names[static_cast<u64>(subject)].before;
  return (before.empty() ? "" : before + ": ") + text + (remedy.empty() ? "" : "; " + remedy);
}

} // namespace dnheap
