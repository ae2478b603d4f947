// `stack`: where is each thread, and which objects do its frames hold?
#include "algorithms/repeats.h"
#include "analysis/answer_head.h"
#include "analysis/names/call_text.h"
#include "analysis/names/framework_names.h"
#include "analysis/threads/stack_tree.h"
#include "analysis/threads/thread_text.h"
#include "analysis/verbs/tables/registers_table.h"
#include "analysis/verbs/verbs.h"
#include "analysis/verdict/crash.h"
#include "base/text.h"
#include "objects/object_finder.h"
#include "report/columns_of.h"
#include "runtime/object_1.h"
#include "snapshot/native_functions.h"
#include "snapshot/source_lines.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;
using report::text_cell;

constexpr const char *no_managed_frame = "(no managed frame)";

// One line of a stack: a method, a Frame of the runtime, or native code.
struct Line {
  const char *kind = "managed";
  std::string text; // without parameters: the key for merging stacks
  MethodText method;
  const StackFrame *frame = nullptr; // null: native code at the thread's instruction pointer
  SourcePlace place;
  Address ip = 0, sp = 0;

  bool is_native() const { return !frame || frame->kind == StackFrame::Kind::native; }
};

struct Stack {
  ThreadData thread;
  WalkedStack walked;
  std::vector<Line> lines;

  // Returns how many lines people see: not those below the thread's first managed method, which began the thread and
  // are the same for most threads.
  u64 shown() const {
    u64 out = lines.size();
    while (out && (lines[out - 1].is_native() || !lines[out - 1].frame->method_desc))
      --out;
    return out ? out : lines.size();
  }
};

const Thread *thread_of(const Target &target, const ThreadData &thread) {
  for (const Thread &one : target.threads)
    if (thread.os_id && one.id == *thread.os_id)
      return &one;
  return nullptr;
}

void name_native(const Target &target, NativeFunctions &functions, bool is_return, Line &line) {
  line.kind = "native";
  if (line.ip)
    line.method = place_text(target, functions, line.ip, is_return);
  line.text = line.method.module;
}

// If its native frames could not be listed, adds at least the native function that the thread is in.
void add_native_line(const Runtime &runtime, NativeFunctions &functions, Stack &to) {
  const Thread *thread = thread_of(runtime.target(), to.thread);
  if (!thread || (!to.walked.frames.empty() && to.walked.frames[0].ip == thread->instruction_pointer))
    return;
  Line line;
  line.ip = thread->instruction_pointer;
  line.sp = thread->stack_pointer;
  name_native(runtime.target(), functions, false, line);
  to.lines.push_back(std::move(line));
}

Line line_of(const Runtime &runtime, const StackFrame &frame, SourceLines *lines, NativeFunctions &functions) {
  Line line;
  line.frame = &frame;
  line.ip = frame.ip;
  line.sp = frame.sp;
  if (frame.kind == StackFrame::Kind::native) {
    name_native(runtime.target(), functions, !frame.is_active, line);
  } else if (frame.kind == StackFrame::Kind::explicit_) {
    line.kind = "explicit";
    if (frame.method_desc)
      line.method = runtime.method_text(frame.method_desc);
    line.method.name =
        "[" + std::string(frame.frame_name) + "]" + (frame.method_desc ? " " + line.method.name : std::string());
    line.text = line.method.name;
  } else {
    line.method = frame_text(runtime, frame);
    line.text = line.method.name;
    if (lines)
      line.place = lines->find(frame.method_desc, frame.ip, !frame.is_active);
  }
  return line;
}

Stack stack_of(const Runtime &runtime, const ThreadData &thread, ListedFrames frames) {
  Stack out;
  out.thread = thread;
  out.walked = runtime.walk_stack(thread, frames);
  return out;
}

// Returns the threads that the runtime does not list, as they run no managed code; with a subject, the one of that OS
// id.
std::vector<ThreadData> native_threads(const Runtime &runtime, const std::vector<ThreadData> &known,
                                       const std::string &subject) {
  std::set<u64> ids;
  for (const ThreadData &thread : known)
    ids.insert(thread.os_id.value_or(0));
  std::vector<ThreadData> out;
  for (const Thread &thread : runtime.target().threads)
    if (!ids.contains(thread.id) && (subject.empty() || subject == std::to_string(thread.id))) {
      out.emplace_back();
      out.back().os_id = thread.id;
    }
  return out;
}

void add_lines(const Runtime &runtime, SourceLines *lines, NativeFunctions &functions, Stack &to) {
  add_native_line(runtime, functions, to);
  for (const StackFrame &frame : to.walked.frames)
    to.lines.push_back(line_of(runtime, frame, lines, functions));
}

// Drops the lines of .NET, of its runtime, and of native code; the references of their frames go with them.
void keep_own_lines(const FrameworkNames &framework, std::vector<Stack> &stacks) {
  for (Stack &stack : stacks)
    std::erase_if(stack.lines, [&](const Line &line) {
      const bool is_method = line.frame && line.frame->kind == StackFrame::Kind::method;
      return !is_method || framework.contain(line.method.qualified);
    });
}

// Returns a line as text shows it.
std::string where(const Line &line) {
  return line.method.name + (line.place.at && !line.method.name.empty() ? " " + line.place.at.text() : "");
}

bool saves_lines(const Repeat &repeat) { return repeat.times > 2 && repeat.times * repeat.length > 4; }

// Returns for each stack its repeated sequences of calls, compared as text would show them.
std::vector<std::vector<Repeat>> repeats_by_stack(const std::vector<Stack> &stacks) {
  std::vector<std::vector<Repeat>> out;
  for (const Stack &stack : stacks) {
    std::vector<std::string> texts;
    for (u64 i = 0; i < stack.shown(); ++i)
      texts.push_back(where(stack.lines[i]));
    out.push_back(repeats_of(texts));
  }
  return out;
}

// Returns how many lines from this one on are native functions without a name, of one module.
u64 unnamed_run(const Stack &stack, u64 from) {
  const std::string &module = stack.lines[from].method.module;
  u64 end = from;
  while (end < stack.lines.size() && stack.lines[end].is_native() && stack.lines[end].method.module == module &&
         stack.lines[end].method.name.find('!') == std::string::npos)
    ++end;
  return end - from;
}

// Shows stacks to people: repeated calls once, unnamed native functions of one module as one line, and no frames that
// only began the thread.
report::Table folded_frames_table(const std::vector<Stack> &stacks, const std::vector<std::vector<Repeat>> &repeats) {
  report::Table table;
  table.name = "folded_frames";
  table.shown = Shown::in_text;
  table.columns = {{"os_id", "OS id", Kind::number}, {"index", "Frame", Kind::number}, {"kind", "Kind", Kind::text},
                   {"where", "Method", Kind::text},  {"module", "Module", Kind::text}, {"sp", "SP", Kind::address}};
  std::vector<report::Row> rows;
  for (u64 of = 0; of < stacks.size(); ++of) {
    const Cell &os_id = stacks[of].thread.os_id;
    u64 passed = 0; // lines up to here are shown
    for (const Repeat &repeat : repeats[of]) {
      const u64 shown = saves_lines(repeat) ? repeat.length : repeat.length * repeat.times;
      for (u64 i = std::max(repeat.first, passed); i < repeat.first + shown; i = std::max(i + 1, passed)) {
        const Line &line = stacks[of].lines[i];
        rows.push_back({os_id, i, line.kind, text_cell(where(line)), text_cell(line.method.module), line.sp});
        if (const u64 run = unnamed_run(stacks[of], i); run > 2) {
          rows.push_back({os_id, Cell(), Cell(), fmt::format("({} callers in it, without symbols)", run - 1),
                          text_cell(line.method.module), Cell()});
          passed = i + run;
        }
      }
      if (saves_lines(repeat) && passed <= repeat.first)
        rows.push_back(
            {os_id, Cell(), Cell(),
             fmt::format("… {} {} times more",
                         repeat.length == 1 ? "the same call" : "the " + count_text(repeat.length) + " calls above",
                         count_text(repeat.times - 1)),
             Cell(), Cell()});
    }
    if (const u64 more = stacks[of].lines.size() - stacks[of].shown())
      rows.push_back({os_id, Cell(), Cell(), fmt::format("({} more that began the thread: --table frames)", more),
                      Cell(), Cell()});
  }
  table.set_rows(std::move(rows));
  return table;
}

report::Table frames_table(const std::vector<Stack> &stacks) {
  struct PlacedLine {
    const Stack *stack;
    u64 index;
    const Line &line() const { return stack->lines[index]; }
    const StackFrame *method() const { // null: of the runtime, or native
      const StackFrame *frame = line().frame;
      return frame && frame->kind == StackFrame::Kind::method ? frame : nullptr;
    }
  };
  std::vector<PlacedLine> lines;
  for (const Stack &stack : stacks)
    for (u64 i = 0; i < stack.lines.size(); ++i)
      lines.push_back({&stack, i});
  using L = PlacedLine;
  return report::ColumnsOf<L>{
      {{"os_id", "OS id", Kind::number}, [](const L &l) { return l.stack->thread.os_id; }},
      {{"index", "Frame", Kind::number}, &L::index},
      {{"kind", "Kind", Kind::text}, [](const L &l) { return l.line().kind; }},
      {{"method", "Method", Kind::text, Shown::in_data}, [](const L &l) { return text_cell(l.line().method.name); }},
      {{"where", "Method", Kind::text, Shown::in_text}, [](const L &l) { return text_cell(where(l.line())); }},
      {{"module", "Module", Kind::text}, [](const L &l) { return text_cell(l.line().method.module); }},
      {{"ip", "IP", Kind::address, Shown::in_data},
       [](const L &l) { return l.line().ip ? Cell(l.line().ip) : Cell(); }},
      {{"sp", "SP", Kind::address}, [](const L &l) { return l.line().sp; }},
      {{"method_desc", "MethodDesc", Kind::address, Shown::in_data},
       [](const L &l) {
         const StackFrame *frame = l.line().frame;
         return frame && frame->method_desc ? Cell(frame->method_desc) : Cell();
       }},
      {{"code_offset", "", Kind::number, Shown::in_data},
       [](const L &l) { return l.method() ? Cell(l.method()->code_offset) : Cell(); }},
      {{"il_offset", "", Kind::number, Shown::in_data},
       [](const L &l) { return l.line().place.il_offset ? Cell(u64{*l.line().place.il_offset}) : Cell(); }},
      {{"source", "", Kind::text, Shown::in_data}, [](const L &l) { return text_cell(l.line().place.at.file); }},
      {{"line", "", Kind::number, Shown::in_data},
       [](const L &l) { return l.line().place.at ? Cell(u64{l.line().place.at.line}) : Cell(); }},
      {{"left", "Left", Kind::boolean, Shown::in_data},
       [](const L &l) { return l.method() && l.method()->is_unwound; }}}
      .table("frames", "", lines);
}

void add_frames_tables(const std::vector<Stack> &stacks, const Question &question, report::Answer &answer) {
  const u64 first = answer.tables.size();
  answer.tables.push_back(frames_table(stacks));
  const std::vector<std::vector<Repeat>> repeats = repeats_by_stack(stacks);
  const bool folds =
      std::any_of(repeats.begin(), repeats.end(),
                  [](const std::vector<Repeat> &of) { return std::any_of(of.begin(), of.end(), saves_lines); }) ||
      std::any_of(stacks.begin(), stacks.end(), [](const Stack &of) { return of.shown() < of.lines.size(); });
  if (folds && question.table != "frames") {
    answer.tables.back().shown = Shown::in_data;
    answer.tables.push_back(folded_frames_table(stacks, repeats));
  }
  // The tables were asked for, so they are shown completely.
  for (u64 i = first; i < answer.tables.size(); ++i)
    answer.tables[i].whole = (question.all || !question.subject.empty()) && !question.top_is_asked;
}

// Lists the references in frames, in the order of the frames.
report::Table references_table(const Snapshot &snapshot, const std::vector<Stack> &stacks) {
  struct HeldObject : StackReference {
    const ThreadData *thread;
    Cell index;
    std::string method;
    Address object;
  };
  ObjectFinder objects(snapshot.index(), snapshot.heap(), snapshot.runtime());
  std::vector<HeldObject> held;
  auto add = [&](const Stack &stack, Cell index, const std::string &method, const StackReference &reference) {
    const Address object = objects.find(reference.value);
    if (object && (object == reference.value || reference.interior)) // same rule as for roots
      held.push_back({reference, &stack.thread, std::move(index), method, object});
  };
  for (const Stack &stack : stacks) {
    for (u64 i = 0; i < stack.lines.size(); ++i)
      if (const Line &line = stack.lines[i]; line.frame)
        for (const StackReference &reference : line.frame->references)
          add(stack, i, line.method.name, reference);
    for (const StackReference &reference : stack.walked.of_runtime)
      add(stack, Cell(), "<runtime>", reference);
  }
  using H = HeldObject;
  const Runtime &runtime = snapshot.runtime();
  return report::ColumnsOf<H>{
      {{"os_id", "OS id", Kind::number}, [](const H &h) { return h.thread->os_id; }},
      {{"index", "Frame", Kind::number}, &H::index},
      {{"method", "Method", Kind::text}, &H::method},
      {{"address", "Slot", Kind::address}, [](const H &h) { return h.slot ? Cell(h.slot) : Cell(); }},
      {{"register", "Register", Kind::number, Shown::in_data},
       [](const H &h) { return h.slot ? Cell() : Cell(u64{h.reg}); }},
      {{"object", "Object", Kind::address}, &H::object},
      {{"type", "Type", Kind::text},
       [&](const H &h) { return runtime.types().name(method_table_of(runtime.memory(), h.object)); }},
      {{"interior", "Interior", Kind::boolean, Shown::in_data}, [](const H &h) { return h.object != h.value; }},
      {{"pinned", "Pinned", Kind::boolean, Shown::in_data}, &H::pinned},
      {{"certain", "Certain", Kind::boolean, Shown::in_data}, &H::certain}}
      .table("references", "", held);
}

// Groups stacks with the same methods; those with most threads first.
std::vector<std::pair<AlikeStacks, std::vector<u64>>> merged(const std::vector<Stack> &stacks) {
  std::map<std::vector<std::string>, std::vector<u64>> groups; // methods, innermost first → OS ids
  for (const Stack &stack : stacks) {
    std::vector<std::string> methods;
    for (const Line &line : stack.lines)
      if (line.frame && line.frame->kind == StackFrame::Kind::method && !line.frame->is_unwound)
        methods.push_back(line.text);
    groups[std::move(methods)].push_back(stack.thread.os_id.value_or(0));
  }
  std::vector<std::pair<AlikeStacks, std::vector<u64>>> out;
  for (auto &[methods, ids] : groups)
    out.push_back({{methods, ids.size()}, std::move(ids)});
  std::stable_sort(out.begin(), out.end(),
                   [](const auto &a, const auto &b) { return a.first.threads > b.first.threads; });
  return out;
}

// Data formats get each stack as a list of methods; text draws shared parts of stacks once.
void add_merged_tables(const std::vector<Stack> &stacks, bool is_named, bool is_whole, report::Answer &answer) {
  report::Table list, tree;
  list.name = "stacks";
  list.shown = is_named ? Shown::everywhere : Shown::in_data;
  list.columns = {{"threads", "Threads", Kind::count},
                  {"os_ids", "", Kind::nested, Shown::in_data},
                  {"methods", "", Kind::nested, Shown::in_data},
                  {"method", "Methods, innermost first", Kind::text, Shown::in_text}};
  std::vector<report::Row> rows, lines;
  std::vector<AlikeStacks> alike;
  for (auto &[stack, os_ids] : merged(stacks)) {
    std::vector<Cell> ids(os_ids.begin(), os_ids.end());
    std::vector<Cell> methods(stack.methods.begin(), stack.methods.end());
    std::string text;
    for (const std::string &calls : folded_calls(stack.methods, " ← "))
      text += (text.empty() ? "" : " ← ") + calls;
    if (text.empty())
      text = no_managed_frame;
    rows.push_back({stack.threads, std::move(ids), std::move(methods), std::move(text)});
    if (stack.methods.empty())
      lines.push_back({stack.threads, no_managed_frame});
    else
      alike.push_back(std::move(stack));
  }
  list.set_rows(std::move(rows));
  answer.tables.push_back(std::move(list));
  if (is_named)
    return;
  tree.name = "tree";
  tree.shown = Shown::in_text;
  tree.whole = is_whole;
  tree.columns = {{"threads", "Threads", Kind::count}, {"method", "Methods, outermost first", Kind::text}};
  for (StackTreeLine &line : stack_tree(alike))
    lines.push_back({line.threads, std::move(line.text)});
  tree.set_rows(std::move(lines));
  answer.tables.push_back(std::move(tree));
}

// Asking for a table by name implies its option.
bool asks_for_references(const Question &question) { return question.references || question.table == "references"; }
bool asks_for_registers(const Question &question) { return question.table == "registers"; }
bool asks_for_merged(const Question &question) { return question.merge || question.table == "stacks"; }

} // namespace

Plan plan_stack(const Question &question) {
  return asks_for_references(question) || asks_for_registers(question) ? Plan(Pass::index) : Plan(Pass::heap);
}

report::Answer answer_stack(const Snapshot &snapshot, const Question &question) {
  report::Answer answer =
      begin_answer(snapshot, "stack", asks_for_references(question) ? HeapSum::in_headline : HeapSum::none);
  const Runtime &runtime = snapshot.runtime();
  Notes notes;
  const std::vector<ThreadData> threads = runtime.threads(notes);
  std::vector<StackProblem> problems;
  for (const Note &note : notes)
    problems.push_back({{}, note.text});
  std::vector<Stack> stacks;
  u64 incomplete = 0;
  std::map<std::string, u64> unknown_native; // threads, by why their native frames end early
  const ListedFrames frames = question.mine || asks_for_merged(question) ? ListedFrames::managed : ListedFrames::all;
  ThreadsOfSubject asked;
  const std::vector<ThreadData> others = native_threads(runtime, threads, question.subject);
  if (question.subject.empty() || others.empty())
    asked = threads_of_subject(threads, question.subject);
  for (const ThreadData &thread : asked.threads) {
    snapshot.watch().check();
    if (thread.os_id == u64{0})
      continue; // has ended, or has not yet started
    stacks.push_back(stack_of(runtime, thread, frames));
    if (const WalkedStack &walked = stacks.back().walked; !walked.is_complete()) {
      ++incomplete;
      problems.push_back({thread.os_id, walked.why_not});
    }
    if (const std::string &why = stacks.back().walked.why_no_native; !why.empty())
      ++unknown_native[why];
  }
  const bool is_extracted = snapshot.reads(); // the extract is to answer with --all, too
  if (question.all || !question.subject.empty() || is_extracted)
    for (const ThreadData &thread : others) {
      snapshot.watch().check();
      stacks.push_back({thread, native_stack(runtime, *thread.os_id), {}});
    }
  std::optional<SourceLines> lines;
  if (!asks_for_merged(question)) // threads at different lines of a method are merged
    lines.emplace(snapshot);
  NativeFunctions functions(snapshot);
  for (Stack &stack : stacks) // lines refer to frames, which do not move any more
    add_lines(runtime, lines ? &*lines : nullptr, functions, stack);
  if (question.mine)
    keep_own_lines(FrameworkNames(snapshot.assemblies()), stacks);
  answer.headline.facts += "; " + count_text(stacks.size()) + (stacks.size() == 1 ? " stack" : " stacks") +
                           (incomplete ? ", " + count_text(incomplete) + " INCOMPLETE" : std::string());
  if (asks_for_merged(question)) {
    add_merged_tables(stacks, question.table == "stacks", !question.top_is_asked, answer);
  } else {
    add_frames_tables(stacks, question, answer);
  }
  if (asks_for_references(question)) {
    answer.tables.push_back(references_table(snapshot, stacks));
    add_name_notes(snapshot, answer);
  }
  if (asks_for_registers(question)) {
    std::vector<ThreadData> shown;
    for (const Stack &stack : stacks)
      shown.push_back(stack.thread);
    answer.tables.push_back(registers_table(snapshot, shown, question.values));
  }
  if (!problems.empty())
    answer.completeness->notes.add(partly_known_note());
  for (const auto &[why, count] : unknown_native)
    answer.completeness->notes.add(
        Subject::threads, Effect::none,
        fmt::format("native frames of {} thread{} end early: {}", count_text(count), count == 1 ? "" : "s", why));
  for (const std::string &why : functions.refused())
    answer.completeness->notes.add(Subject::modules, Effect::none, "symbols of native functions: " + why);
  if (!asked.note.empty())
    answer.completeness->notes.add(asked.note);
  if (lines)
    answer.completeness->notes.add_all(lines->notes());
  answer.tables.push_back(problems_table(problems, question.table == "problems"));
  add_crash(snapshot, answer);
  answer.next_command = asks_for_references(question)
                            ? "dnheap path " + shell_word(question.target) + " ADDR"
                            : "dnheap stack " + shell_word(question.target) +
                                  (question.subject.empty() ? "" : " " + shell_word(question.subject)) + " --roots";
  return answer;
}

} // namespace dnheap
