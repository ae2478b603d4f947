// Verb: one question that the program can answer, as one row of a table. The command line's parsing, its help and its
// checks follow from the rows; a new analysis is one file and one row. An AnswerFunction may throw Error, UsageError,
// NotFound and Interrupted; it is called once, from one thread.
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

using AnswerFunction = report::Answer (*)(Snapshot &snapshot, const Question &question);
// What the question takes. May throw UsageError, where options exclude each other.
using PlanFunction = Plan (*)(const Question &question);

// The words of a list in a row.
class Words {
public:
  static constexpr u64 most = 32;
  constexpr Words() = default;
  template <std::convertible_to<std::string_view>... Text>
  constexpr Words(Text... words) : words_{words...}, count_(sizeof...(words)) {}

  constexpr void add(std::string_view word) { words_[count_++] = word; } // `most` in all
  constexpr bool empty() const { return count_ == 0; }
  constexpr auto begin() const { return words_.begin(); }
  constexpr auto end() const { return words_.begin() + count_; }
  operator std::span<const std::string_view>() const { return {words_.data(), count_}; }

private:
  std::array<std::string_view, most> words_;
  u64 count_ = 0;
};

// What stands behind the target on the command line. False: nothing.
struct SubjectWords {
  const char *name = nullptr; // as the help calls it: "ADDR"
  const char *asked = "";     // "which object?"
  bool is_optional = false;
  Words (*among)() = nullptr; // it is one of these words, and may stand in front of the target, too
  constexpr explicit operator bool() const { return name != nullptr; }
};

struct Verb {
  const char *name = "";
  const char *question = ""; // "which types fill the heap?"
  const char *details = "";  // paragraphs for `dnheap VERB --help`
  SubjectWords subject = {};
  // Whatever a verb does not list is wrong usage, never silently ignored.
  EnumSet<Takes> takes = {};
  Words sort_columns = {}; // keys that --sort takes; the first is the verb's own order
  Words by = {};           // words that --by takes
  Words as = {};           // words that --as takes, one of which it needs
  Words tables = {};       // keys that --table takes; the first is the main one
  // What of the runtime's description the answer rests on: where something of that is missing, it says so.
  AnswerParts parts = {};
  bool tells_missing_parts = false; // but shows nothing that would be wrong without them
  bool looks_for_framework = false; // for objects of .NET's own types, by their names
  PlanFunction plan = [](const Question &) { return Plan(); };
  AnswerFunction answer = nullptr;
  // Of a verb that takes no target, instead of `answer`; or none where its subject is not named, beside it. May throw
  // as that does.
  report::Answer (*answer_alone)(const Question &question, const Watch &watch) = nullptr;
  // Of a verb that looks at records of its targets (record.h), instead of `answer`: then ask() is not for it. Its plan
  // is that of one record. May throw as that does.
  report::Answer (*answer_records)(std::span<const Record> records, const Question &question) = nullptr;
  bool takes_several = false;   // targets
  bool takes_each = false;      // of several targets each is answered by itself, one after the other
  const char *format = nullptr; // that its answers are written in unless another is asked for; null: as all are
  // -o, which must be given, names the file that the verb makes; its answer goes to standard output.
  bool makes_file = false;
  bool tells_resident = false; // which pages of a process are in memory: to be looked at before all is copied
  bool records_reads = false;  // it is asked of a Snapshot that records what is read
  // It reads nothing but objects and what `extract` asks for of every type, which so does not ask this verb. Verbs with
  // a subject are not asked in any case.
  bool reads_objects_only = false;
  // Of a dump without heap (mini, triage) it says what there is, unless the question takes references between objects;
  // the answer is INCOMPLETE then, and says why. Verbs that read no heap at all need not say so.
  bool answers_without_heap = false;
  // Its answer rests on contents of objects: of a core that was extracted without them it says that it cannot tell.
  bool reads_contents = false;
};

// Throws UsageError unless the question's words are among those of the row's lists.
void check_words(const Verb &verb, const Question &question);

// The verb's answer: checks the question's words, has done what the verb's plan begins with, and asks again when part
// of the dump was lost meanwhile (on_sound_memory), so that nothing in the answer rests on bytes that could not be
// read; rows that are still to be streamed check that themselves.
report::Answer ask(const Verb &verb, Snapshot &snapshot, const Question &question);

// The passes that a question will take, by the names that Progress has, from opening the target to writing the answer:
// so that whoever waits can be told which of how many it is. May throw as `plan` does.
std::vector<std::string_view> passes_of(const Verb &verb, const Question &question, bool of_process);

// In the order of the help; the first is what `dnheap FILE` alone means.
std::span<const Verb> verbs();

} // namespace dnheap
