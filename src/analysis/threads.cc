// `threads`: which threads are there, where does each stand, and what does it wait for?
#include "analysis/answer_head.h"
#include "analysis/crash.h"
#include "analysis/thread_text.h"
#include "analysis/verbs.h"
#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

Cell text_cell(std::string text) { return text.empty() ? Cell() : Cell(std::move(text)); }

struct Counts {
  u64 living = 0, ended = 0, incomplete = 0;
};

report::Row thread_row(const Runtime &runtime, const ThreadData &thread, Counts &counts,
                       std::vector<StackProblem> &why) {
  const ThreadDetails details = runtime.thread_details(thread);
  const bool lives = thread.os_id != u64{0};
  ++(lives ? counts.living : counts.ended);
  WalkedStack stack;
  if (lives)
    stack = runtime.walk_stack(thread);
  if (!stack.is_complete()) {
    ++counts.incomplete;
    why.push_back({thread.os_id, stack.why_not});
  }
  const std::vector<const StackFrame *> frames = method_frames(stack);
  Cell mode;
  if (lives && details.is_cooperative)
    mode = *details.is_cooperative ? "cooperative" : "preemptive";
  return {thread.managed_id && *thread.managed_id ? Cell(*thread.managed_id) : Cell(),
          lives ? Cell(thread.os_id) : Cell(),
          text_cell(thread_name(runtime, details)),
          text_cell(thread_state(details)),
          mode,
          u64{frames.size()},
          frames.empty() ? Cell() : Cell(runtime.method_text(frames[0]->method_desc).qualified),
          text_cell(waits_for(runtime, stack)),
          thread.address};
}

} // namespace

report::Answer answer_threads(Snapshot &snapshot, const Question &question) {
  const Runtime &runtime = snapshot.runtime();
  report::Answer answer = begin_answer(snapshot, "threads");
  std::vector<std::string> list_problems;
  const std::vector<ThreadData> threads = runtime.threads(list_problems);
  Counts counts;
  std::vector<report::Row> rows;
  std::vector<StackProblem> problems;
  for (const std::string &problem : list_problems)
    problems.push_back({{}, problem});
  for (const ThreadData &thread : threads) {
    snapshot.watch().check();
    rows.push_back(thread_row(runtime, thread, counts, problems));
  }
  report::Table table;
  table.name = "threads";
  table.columns = {{"managed_id", "Id", Kind::number},
                   {"os_id", "OS id", Kind::number},
                   {"name", "Name", Kind::text},
                   {"state", "State", Kind::text},
                   {"gc_mode", "GC mode", Kind::text, Shown::in_data},
                   {"frames", "Frames", Kind::count},
                   {"method", "Stands in", Kind::text},
                   {"waits_for", "Waits for", Kind::text},
                   {"address", "Thread", Kind::address, Shown::in_data}};
  table.set_rows(std::move(rows));
  answer.headline += "; " + count_text(counts.living) + (counts.living == 1 ? " thread lives" : " threads live") +
                     (counts.ended ? ", " + count_text(counts.ended) + " ended or not started" : "");
  if (counts.incomplete)
    answer.headline +=
        "; " + count_text(counts.incomplete) + (counts.incomplete == 1 ? " stack INCOMPLETE" : " stacks INCOMPLETE");
  answer.tables.push_back(std::move(table));
  answer.tables.push_back(problems_table(problems, question.table == "problems"));
  add_crash(snapshot, answer);
  answer.next_command = "dnheap stack " + shell_word(question.target) + " --all --merge";
  return answer;
}

} // namespace dnheap
