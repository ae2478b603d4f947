// `threads`: which threads are there, where is each one, what does it wait for, and what does it alone keep alive?
#include "analysis/answer_head.h"
#include "analysis/filters/kind_filter.h"
#include "analysis/names/framework_names.h"
#include "analysis/owners/thread_retained.h"
#include "analysis/threads/exception_objects.h"
#include "analysis/threads/thread_text.h"
#include "analysis/verbs/verbs.h"
#include "analysis/verdict/crash.h"
#include "analysis/waits/thread_blocks.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "runtime/facts/thread_details.h"
#include "runtime/object_1.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;
using report::text_cell;

constexpr std::string_view thread_kinds[] = {"foreground", "background", "pool worker", "STA",
                                             "unstarted",  "dead",       "waiting"};

class ThreadReport {
public:
  ThreadReport(const Snapshot &snapshot, const Question &question)
      : runtime_(snapshot.runtime()), framework_(snapshot.assemblies()), asks_retained_(question.by == "retained"),
        kinds_(question, thread_kinds) {
    Notes notes, of_exceptions;
    threads_ = runtime_.threads(notes);
    for (const Note &note : notes)
      problems_.push_back({{}, note.text});
    for (const ExceptionInFlight &one : ExceptionObjects(snapshot).in_flight(of_exceptions))
      if (!one.is_nested && one.os_id)
        exceptions_.try_emplace(*one.os_id, one.object);
    notes_ = of_exceptions.up_to(Effect::none); // the threads are listed all the same
    if (asks_retained_)
      retained_ = retained_by_threads(snapshot);
    ThreadBlocks blocks(snapshot, threads_);
    for (const Note &note : blocks.problems())
      problems_.push_back({{}, note.text});
    for (u32 i = 0; i < threads_.size(); ++i) {
      snapshot.watch().check();
      add(i, blocks);
    }
  }

  report::Table table() {
    std::erase_if(stands_, [this](const Stand &stand) { return !passes(stand); });
    if (asks_retained_)
      std::stable_sort(stands_.begin(), stands_.end(),
                       [](const Stand &a, const Stand &b) { return a.retained > b.retained; });
    using S = Stand;
    report::ColumnsOf<S> columns = {
        {{"managed_id", "Id", Kind::number},
         [](const S &s) {
           return s.thread->managed_id && *s.thread->managed_id ? Cell(*s.thread->managed_id) : Cell();
         }},
        {{"os_id", "OS id", Kind::number}, [](const S &s) { return s.lives ? Cell(s.thread->os_id) : Cell(); }},
        {{"name", "Name", Kind::text, Shown::everywhere, false, true}, [](const S &s) { return text_cell(s.name); }},
        {{"state", "State", Kind::text}, [](const S &s) { return text_cell(s.state); }},
        {{"gc_mode", "GC mode", Kind::text, Shown::in_data},
         [](const S &s) { return s.is_cooperative ? Cell(*s.is_cooperative ? "cooperative" : "preemptive") : Cell(); }},
        {{"frames", "Frames", Kind::count}, [](const S &s) { return s.frames; }},
        {{"method", "Stands in", Kind::text}, [](const S &s) { return text_cell(s.method); }},
        {{"own_method", "Program's method", Kind::text}, [](const S &s) { return text_cell(s.own_method); }},
        {{"waits_for", "Waits for", Kind::text}, [](const S &s) { return text_cell(s.wait); }},
        {{"waits_for_object", "", Kind::address, Shown::in_data},
         [](const S &s) { return s.block() ? Cell(s.block()->object) : Cell(); }},
        {{"waits_for_objects", "", Kind::nested, Shown::in_data},
         [](const S &s) {
           std::vector<Cell> out;
           for (const ThreadBlock &one : s.blocked.blocks)
             out.push_back(hex(one.object));
           return Cell(std::move(out));
         }},
        {{"waits_for_type", "", Kind::text, Shown::in_data},
         [this](const S &s) { return s.block() ? Cell(type_of(*s.block())) : Cell(); }},
        {{"owner_os_id", "Held by", Kind::number, Shown::in_data},
         [this](const S &s) {
           const std::optional<u64> owner =
               s.block() && s.block()->owner ? threads_[*s.block()->owner].os_id : std::nullopt;
           return owner.value_or(0) ? Cell(owner) : Cell();
         }},
        {{"exception", "", Kind::address, Shown::in_data},
         [](const S &s) { return s.exception ? Cell(s.exception) : Cell(); }},
        {{"exception_type", "Exception", Kind::text, exceptions_.empty() ? Shown::in_data : Shown::everywhere},
         [this](const S &s) { return s.exception ? Cell(type_name(s.exception)) : Cell(); }},
        {{"address", "Thread", Kind::address, Shown::in_data}, [](const S &s) { return s.thread->address; }}};
    if (asks_retained_)
      columns.add({{"retained", "Retained", Kind::bytes}, [](const S &s) { return s.retained; }});
    return columns.table("threads", "", stands_);
  }

  std::string counts() const {
    std::string out = "; " + count_text(living_) + (living_ == 1 ? " thread lives" : " threads live");
    if (const u64 ended = threads_.size() - living_)
      out += ", " + count_text(ended) + " ended or not started";
    if (incomplete_)
      out += "; " + count_text(incomplete_) + (incomplete_ == 1 ? " stack INCOMPLETE" : " stacks INCOMPLETE");
    return out;
  }
  void note_missing(Notes &to) const {
    if (astray_)
      to.add(fmt::format(
          "{} of {} live threads: there is no object at the address of the Thread object, so the name is unknown",
          count_text(astray_), count_text(living_)));
    // Names and states of NativeAOT's threads come only from their Thread objects.
    if (runtime_.kind() != std::string_view("nativeaot") || !living_)
      return;
    if (!with_object_)
      to.add("names and states of threads are missing: it is unknown which managed Thread belongs to which thread");
    else if (!with_state_)
      to.add("names and states of threads are missing: the program's debug file has their places; give its folder with "
             "--modules");
  }
  const std::vector<StackProblem> &problems() const { return problems_; }
  const Notes &notes() const { return notes_; }

private:
  struct Stand { // where a thread stands
    const ThreadData *thread;
    bool lives;
    std::string name, state;
    std::optional<bool> is_cooperative;
    u64 frames;
    std::string method, own_method, wait; // empty: none
    ThreadBlocked blocked;
    Address exception; // 0: none
    u64 retained;
    // The only object that it waits for, or null.
    const ThreadBlock *block() const { return blocked.blocks.size() == 1 ? &blocked.blocks[0] : nullptr; }
  };

  void add(u32 index, ThreadBlocks &blocks) {
    const ThreadData &thread = threads_[index];
    const ThreadDetails details = runtime_.thread_details(thread);
    const bool lives = thread.os_id != u64{0};
    living_ += lives;
    with_object_ += lives && details.object;
    astray_ += lives && details.object && !is_object(details.object);
    with_state_ += lives && details.state;
    WalkedStack stack;
    if (lives)
      stack = runtime_.walk_stack(thread);
    if (!stack.is_complete()) {
      ++incomplete_;
      problems_.push_back({thread.os_id, stack.why_not});
    }
    const std::vector<const StackFrame *> frames = method_frames(stack);
    const WaitText wait = waits_for(runtime_, stack);
    const ThreadBlocked blocked = lives ? blocks.find(index, stack, wait) : ThreadBlocked();
    const auto exception = exceptions_.find(thread.os_id.value_or(0));
    const auto retained = retained_.find(thread.address);
    stands_.push_back({&thread, lives, thread_name(runtime_, details), thread_state(details),
                       lives ? details.is_cooperative : std::nullopt, frames.size(),
                       frames.empty() ? "" : frame_text(runtime_, *frames[0]).qualified, own_method(frames),
                       words_of(wait, blocked), blocked, exception != exceptions_.end() ? exception->second : 0,
                       retained != retained_.end() ? retained->second : 0});
  }

  bool passes(const Stand &stand) const {
    if (kinds_.everything() || (!stand.wait.empty() && kinds_.passes("waiting")))
      return true;
    return std::ranges::any_of(thread_kinds, [&](std::string_view kind) {
      return kinds_.passes(kind) && stand.state.find(kind) != stand.state.npos;
    });
  }

  // Returns the innermost method of the program itself; empty: the thread runs none.
  std::string own_method(const std::vector<const StackFrame *> &frames) const {
    for (const StackFrame *frame : frames)
      if (std::string name = frame_text(runtime_, *frame).qualified;
          !framework_.contain(name) && !name.starts_with(stub_class))
        return name;
    return "";
  }

  bool is_object(Address at) const {
    const Address type = method_table_of(runtime_.memory(), at);
    return type && runtime_.types().object_layout(type);
  }
  // For a collection, its semaphore alone does not show enough.
  std::string words_of(const WaitText &wait, const ThreadBlocked &blocked) const {
    if (blocked.blocks.empty())
      return wait.text;
    const bool is_of_collection = wait.text == wait_for_item || wait.text == wait_for_place;
    return (is_of_collection ? wait.text + ", by " : "") + text_of(blocked);
  }
  std::string text_of(const ThreadBlocked &blocked) const {
    constexpr u64 shown = 4;
    const u64 count = blocked.blocks.size();
    if (count == 1)
      return text_of(blocked.blocks[0]);
    std::string out = fmt::format("{} of {}: ", blocked.is_for_all ? "all" : "any", count);
    for (u64 i = 0; i < std::min(count, shown); ++i)
      out += (i ? ", " : "") + text_of(blocked.blocks[i]);
    return out + (count > shown ? ", …" : "");
  }
  static std::string thread_text(const ThreadData &thread) {
    return thread.os_id.value_or(0) ? fmt::format("thread {}", *thread.os_id)
                                    : fmt::format("managed thread {}, which has ended", thread.managed_id.value_or(0));
  }
  std::string text_of(const ThreadBlock &block) const {
    using enum ThreadBlock::Kind;
    if (block.kind == static_constructor)
      return fmt::format("the static constructor of {}, which thread {} runs", type_of(block),
                         threads_[*block.owner].os_id.value_or(0));
    std::string out = block.kind == monitor ? "Monitor of "
                      : block.kind == pulse ? "a pulse of "
                      : block.kind == join  ? "the end of "
                                            : "";
    out += type_name(block.object) + " " + hex(block.object);
    if (block.owner)
      out += (block.kind == join ? ", " : " held by ") + thread_text(threads_[*block.owner]);
    return out;
  }
  std::string type_of(const ThreadBlock &block) const {
    return block.kind == ThreadBlock::Kind::static_constructor ? runtime_.types().name(block.object)
                                                               : type_name(block.object);
  }
  std::string type_name(Address object) const {
    const Address type = method_table_of(runtime_.memory(), object);
    return type && runtime_.types().object_layout(type) ? runtime_.types().name(type) : "(no object)";
  }

  const Runtime &runtime_;
  const FrameworkNames framework_;
  const bool asks_retained_;
  const KindFilter kinds_;
  std::vector<ThreadData> threads_;
  std::map<u64, Address> exceptions_; // by the thread's number
  std::map<Address, u64> retained_;
  u64 living_ = 0, incomplete_ = 0, with_object_ = 0, with_state_ = 0, astray_ = 0;
  std::vector<Stand> stands_;
  std::vector<StackProblem> problems_;
  Notes notes_;
};

} // namespace

Plan plan_threads(const Question &question) {
  Plan plan(question.by == "retained" ? Pass::index : Pass::heap);
  if (question.by == "retained")
    plan.then(Pass::dominators);
  foresee_blocks(plan);
  return plan;
}

report::Answer answer_threads(const Snapshot &snapshot, const Question &question) {
  report::Answer answer =
      begin_answer(snapshot, "threads", question.by == "retained" ? HeapSum::in_headline : HeapSum::none);
  ThreadReport found(snapshot, question);
  answer.headline.facts += found.counts();
  answer.tables.push_back(found.table());
  answer.tables.push_back(problems_table(found.problems(), question.table == "problems"));
  if (question.by == "retained") {
    add_root_notes(snapshot, answer);
    add_reference_notes(snapshot, answer);
  }
  if (!found.problems().empty())
    answer.completeness->notes.add(partly_known_note());
  answer.completeness->notes.add_all(found.notes());
  found.note_missing(answer.completeness->notes);
  add_crash(snapshot, answer);
  add_name_notes(snapshot, answer);
  answer.next_command = "dnheap stack " + shell_word(question.target) + " --all --merge";
  return answer;
}

} // namespace dnheap
