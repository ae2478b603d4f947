// Verb: one question that the program can answer, as one row of a table. The parsing of the command line, its help and
// its checks follow from the rows; a new analysis is one file and one row. An AnswerFunction may throw Error,
// UsageError, NotFound and Interrupted; it is called once, from one thread.
#pragma once
#include "analysis/answer_part.h"
#include "analysis/plan.h"
#include "base/watch.h"
#include "report/answer.h"

#include <array>
#include <concepts>
#include <span>
#include <string_view>

namespace dnheap {

class Snapshot;
struct Record;

using AnswerFunction = report::Answer (*)(const Snapshot &snapshot, const Question &question);
// Returns the work that the question needs. May throw UsageError if options exclude each other.
using PlanFunction = Plan (*)(const Question &question);

// A list of words in a verb's row, for example of its tables.
class Words {
public:
  static constexpr u64 most = 32;
  constexpr Words() = default;
  template <std::convertible_to<std::string_view>... Text>
  constexpr Words(Text... words) : words_{words...}, count_(sizeof...(words)) {}

  constexpr void add(std::string_view word) { words_[count_++] = word; } // at most `most` in total
  constexpr bool empty() const { return count_ == 0; }
  constexpr auto begin() const { return words_.begin(); }
  constexpr auto end() const { return words_.begin() + count_; }
  operator std::span<const std::string_view>() const { return {words_.data(), count_}; }

private:
  std::array<std::string_view, most> words_;
  u64 count_ = 0;
};

// The word after the target on the command line. Converts to false if the verb takes no subject.
struct SubjectWords {
  const char *name = nullptr; // its name in the help: "ADDR"
  const char *asked = "";     // "which object?"
  bool is_optional = false;
  Words (*among)() = nullptr; // not null: the word must be one of these, and may also precede the target
  constexpr explicit operator bool() const { return name != nullptr; }
};

struct Verb {
  const char *name = "";
  const char *group = "";    // the heading under which the help lists it
  const char *question = ""; // "which types fill the heap?"
  const char *details = "";  // paragraphs for `dnheap VERB --help`
  SubjectWords subject = {};
  // An option that a verb does not list is refused, never silently ignored.
  EnumSet<Takes> takes = {};
  Words sort_columns = {}; // keys that --sort takes; the first is the verb's own order
  Words by = {};           // words that --by takes
  Words as = {};           // words that --as takes; one of them is required
  Words tables = {};       // keys that --table takes; the first is the main one
  // The parts of the answer that need the runtime's description; the answer gets a note if a value for one of them is
  // missing.
  AnswerParts parts = {};
  bool tells_missing_parts = false; // the answer itself shows which values are missing, and stays right without them
  bool looks_for_framework = false; // looks for objects of .NET's own types, by their names
  PlanFunction plan = [](const Question &) { return Plan(); };
  AnswerFunction answer = nullptr;
  // Replaces `answer` in a verb without a target. A verb that has both uses this one if no target is given. May throw
  // as `answer` does.
  report::Answer (*answer_alone)(const Question &question, const Watch &watch) = nullptr;
  // Replaces `answer` in a verb that looks at records of its targets (record.h); ask() does not run such a verb. Its
  // plan is that of one record. May throw as `answer` does.
  report::Answer (*answer_records)(std::span<const Record> records, const Question &question) = nullptr;
  bool takes_several = false;   // takes several targets
  bool takes_each = false;      // answers several targets one after the other, each with its own answer
  const char *format = nullptr; // default format of its answers; null: the usual one
  // -o is required and names the file that the verb makes; the answer goes to standard output.
  bool makes_file = false;
  // Shows how much of a process is resident: the pages are looked up before the memory is copied.
  bool tells_resident = false;
  bool records_reads = false; // needs a Snapshot that records reads
  // Reads only objects, and data that `extract` reads for every type anyway; so `extract` does not run this verb.
  // (`extract` never runs verbs with a subject.)
  bool reads_objects_only = false;
  // For a dump without heap (mini, triage): answers from what the dump holds; the answer is INCOMPLETE and says why. A
  // question that needs references between objects fails with Error instead. Verbs that read no heap at all do not need
  // this.
  bool answers_without_heap = false;
  // Without heap the verb answers a shorter question by itself, for which the passes of its plan are not done.
  // `answers_without_heap` is true, too.
  bool is_shorter_without_heap = false;
  // Needs more than objects with their types, sizes and references, and roots: a listing of the heap (.gcdump) is
  // refused.
  bool needs_process = false;
  // Needs contents of objects: if a core was extracted without them, the answer says that the result is unknown.
  bool reads_contents = false;
};

// Throws UsageError unless the question's words are in the row's lists.
void check_words(const Verb &verb, const Question &question);

// Returns the verb's answer. Checks the question's words, and does the passes with which the verb's plan begins. Asks
// again if part of the dump became unreadable meanwhile (on_sound_memory), so that nothing in the answer depends on
// unreadable bytes; rows that are streamed later check that themselves.
report::Answer ask(const Verb &verb, Snapshot &snapshot, const Question &question);

// Returns the passes that a question needs, by their names in Progress, from opening the target to writing the answer,
// so that progress can show how many there are. May throw as `plan` does.
std::vector<std::string_view> passes_of(const Verb &verb, const Question &question, bool of_process);

// Returns the verbs in the order of the help; the first one is used for `dnheap FILE` alone.
std::span<const Verb> verbs();

} // namespace dnheap
