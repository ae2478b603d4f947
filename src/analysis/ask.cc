#include "analysis/answer_head.h"
#include "analysis/missing_parts.h"
#include "analysis/verb.h"
#include "base/compressed_names.h"
#include "base/nearest.h"
#include "report/stored_rows.h"
#include "snapshot/attached_process.h"
#include "snapshot/snapshot.h"
#include "target/heap_record.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace dnheap {

namespace {

// Throws a UsageError that lists the words.
void check_word(const char *option, std::string_view word, const Words &words) {
  if (word.empty() || std::find(words.begin(), words.end(), word) != words.end())
    return;
  throw UsageError(
      fmt::format("{}: '{}' is none of {}{}", option, word, fmt::join(words, ", "), did_you_mean(word, words)));
}

void check_subject(const Verb &verb, const Question &question) {
  if (verb.subject && verb.subject.among && !question.subject.empty())
    check_word(verb.subject.name, question.subject, verb.subject.among());
}

// A listing of the heap has neither threads nor contents.
void check_source(const Verb &verb, const Snapshot &snapshot) {
  const Target &target = snapshot.target();
  if (verb.needs_process && target.record)
    throw Error(fmt::format("{}: {} cannot answer: this is {}, which lists objects with their types, sizes and "
                            "references, and roots, but neither contents of objects nor threads; a dump has them "
                            "(dnheap collect)",
                            target.path, verb.name, target.record->source));
}

// While a question is answered, the Snapshot expects only the passes of its plan; afterwards it expects all passes.
class Foreseen {
public:
  Foreseen(Snapshot &snapshot, Passes passes) : snapshot_(snapshot) { snapshot_.foresee(passes); }
  ~Foreseen() { snapshot_.foresee(all_passes); }
  Foreseen(const Foreseen &) = delete;
  Foreseen &operator=(const Foreseen &) = delete;

private:
  Snapshot &snapshot_;
};

// The remaining rows are pulled by a writer that may wait for the reader of the output, and the process must not stay
// suspended meanwhile. So they are stored first.
void let_process_go(Snapshot &snapshot, const Question &question, report::Answer &answer) {
  AttachedProcess *process = snapshot.process();
  if (!process)
    return;
  if (process->is_pausing())
    report::store_rows(answer, question.top, snapshot.options().temp_dir, snapshot.watch());
  process->release();
  if (std::optional<double> seconds = process->pause_seconds()) {
    answer.headline.facts += fmt::format(", paused {:.0f} ms", std::ceil(*seconds * 1000));
    answer.target.push_back({"paused_ms", *seconds * 1000});
  }
}

// Says how long the process stood still so that its GC could list the objects; the next command lists them again.
void add_pause_of_listing(const Snapshot &snapshot, report::Answer &answer) {
  const std::shared_ptr<const HeapRecord> &record = snapshot.target().record;
  if (record && record->paused_seconds) {
    answer.headline.facts += fmt::format(", paused {:.0f} ms", std::ceil(*record->paused_seconds * 1000));
    answer.target.push_back({"paused_ms", *record->paused_seconds * 1000});
  }
  if (snapshot.options().by_port && answer.next_command.find("--pid=") != std::string::npos)
    answer.next_command += " --by-port";
}

} // namespace

void check_words(const Verb &verb, const Question &question) {
  check_word("--sort", question.sort, verb.sort_columns);
  check_word("--by", question.by, verb.by);
  check_word("--as", question.as, verb.as);
  check_word("--table", question.table, verb.tables);
}

namespace {

// Standard input is named "-" for once. Other commands name the file behind it, or, after a pipe, show where a name is
// to stand; none of these can be run as it is, so there is no next one.
report::Answer answer_about_input(const Verb &verb, const Snapshot &snapshot, Question question) {
  const Target &target = snapshot.target();
  question.target = target.is_stream ? "DUMP" : target.path;
  report::Answer out = verb.answer(snapshot, question);
  if (target.is_stream)
    out.next_command.clear();
  return out;
}

bool is_about_input(const Snapshot &snapshot, const Question &question) {
  return snapshot.options().standard_input && (question.target == "-" || snapshot.target().is_stream);
}

} // namespace

report::Answer ask(const Verb &verb, Snapshot &snapshot, const Question &question) {
  check_words(verb, question);
  check_subject(verb, question);
  check_source(verb, snapshot);
  const Plan plan = verb.plan(question);
  report::Answer answer = on_sound_memory(snapshot, [&](Snapshot &of) {
    const Foreseen foreseen(of, plan.foreseen());
    of.search_symbols_in(question.symbol_folders);
    const bool is_shorter = verb.is_shorter_without_heap && !of.runtime().why_no_heap().empty();
    of.accept_pieces_of_heap(is_shorter || (verb.answers_without_heap && !plan.certain().has(Pass::references)));
    if (of.process() && verb.tells_resident)
      of.process()->look_at_resident();
    if (!is_shorter)
      of.prepare(plan.first());
    report::Answer out =
        is_about_input(of, question) ? answer_about_input(verb, of, question) : verb.answer(of, question);
    add_missing_parts(of, parts_of(verb, plan), verb, out);
    add_stack_notes(of, out);
    if (verb.looks_for_framework && out.completeness && !of.runtime().types().knows_framework()) {
      out.completeness->notes.add(Subject::runtime, Effect::numbers,
                                  "the names of .NET's own types are not in this dump, so tasks, exceptions, locks, "
                                  "timers or collections may be missing here",
                                  "give the folder of System.Private.CoreLib.dll with --modules");
    }
    return out;
  });
  let_process_go(snapshot, question, answer);
  add_pause_of_listing(snapshot, answer);
  return answer;
}

std::vector<std::string_view> passes_of(const Verb &verb, const Question &question, bool of_process) {
  std::vector<std::string_view> out;
  const bool has_target = !verb.answer_alone || of_process || !question.target.empty();
  if (!has_target && verb.answer)
    return {"write"}; // the plan is for a target
  const Plan plan = verb.plan(question);
  if (has_target) {
    if (!of_process && question.target == "-")
      out.push_back("read input");
    if (!of_process && has_compressed_name(question.target))
      out.push_back("decompress");
    if (!of_process)
      out.push_back("open");
    out.push_back("module files");
  }
  for (std::string_view name : plan.names()) {
    out.push_back(name);
    if (of_process && name == plan.names().front() && plan.certain().has(Pass::index))
      out.push_back("copy");
  }
  if (of_process)
    out.push_back("rows");
  out.push_back("write");
  return out;
}

} // namespace dnheap
