#include "analysis/passes.h"

#include "analysis/subject.h"

#include <algorithm>
#include <initializer_list>

namespace dnheap {

namespace {

class Passes {
public:
  // What was made once is kept.
  void add(std::initializer_list<std::string_view> names) {
    for (std::string_view name : names)
      if (std::find(names_.begin(), names_.end(), name) == names_.end())
        names_.push_back(name);
  }
  void again(std::string_view name) { names_.push_back(name); }
  void index() { add({"walk", "index"}); }
  void roots() {
    index();
    add({"roots"});
  }
  void live() {
    roots();
    add({"mark"});
  }
  void graph() {
    roots();
    add({"edges"});
  }
  void dominators() {
    graph();
    add({"single references", "depth-first search", "cross edges", "dominators", "dominator tree", "retained sizes"});
  }
  std::vector<std::string_view> take() { return std::move(names_); }

private:
  std::vector<std::string_view> names_;
};

bool ends_compressed(std::string_view target) { return target.ends_with(".zst") || target.ends_with(".gz"); }

void add_stat(const Question &question, bool live, Passes &to) {
  if (live)
    to.live();
  to.add({"walk"});
  if (question.live || question.dead || question.min_bytes || question.range)
    to.again("walk");
  if (question.by == "retained") {
    to.dominators();
    to.add({"retained by group"});
  }
}

void add_path(const Question &question, Passes &to) {
  to.graph();
  if (question.all)
    to.add({"referrers"});
  to.add({"breadth-first search"});
  const bool of_object = written_address(question.subject).has_value();
  if (!of_object)
    to.add({"folding of paths", "reachable objects", "reachable without a set"});
}

void add_verify(const Question &question, Passes &to) {
  to.roots();
  to.add({"references"});
  if (question.all || question.table == "invariants") {
    to.dominators();
    to.live();
    to.add({"invariants"});
  }
}

// All tasks, then what else is looked for among all objects.
void add_tasks(Passes &to, std::initializer_list<std::string_view> behind) {
  to.index();
  to.again("walk");
  to.add({"tasks"});
  to.add(behind);
  to.again("walk");
}

} // namespace

std::vector<std::string_view> passes_of(const Verb &verb, const Question &question) {
  const std::string_view name = verb.name;
  const bool live = question.live || question.dead || question.table == "stages";
  Passes to;
  if (ends_compressed(question.target))
    to.add({"decompress"});
  if (question.target.starts_with("--pid="))
    to.add({"copy"});
  else if (!verb.answer_alone)
    to.add({"open"});
  if (!verb.answer_alone)
    to.add({"module files", "runtime"});
  if (name != "gc" && name != "contract" && !verb.answer_alone)
    to.add({"segments"});
  if (name == "stat")
    add_stat(question, live, to);
  else if (name == "path")
    add_path(question, to);
  else if (name == "verify")
    add_verify(question, to);
  else if (name == "objects" && live)
    to.live();
  else if (name == "segments" || name == "objects" || name == "handles" || name == "info")
    to.add({"walk"});
  else if (name == "roots")
    to.roots();
  else if (name == "exceptions") {
    to.add({"walk"});
    to.again("walk"); // which of the objects are exceptions
  } else if (name == "locks")
    add_tasks(to, {"headers", "roots"});
  else if (name == "async") {
    add_tasks(to, {"async stacks"});
    if (question.by == "retained") {
      to.dominators();
      to.add({"retained by group"});
    }
  } else if (name == "show") {
    to.roots();
    to.add({"referrers", "mark"});
    if (question.closure)
      to.add({"closure"});
  } else if (name == "retained") {
    to.dominators();
    if (!question.tree)
      to.add({"retained by group"});
  } else if (name == "extract") {
    add_tasks(to, {"headers", "async stacks"});
    to.roots();
    to.add({"references", "specimens", "extract"});
  } else if (verb.answer_alone) {
    to.add({"module files", "runtime"});
  }
  to.add({"write"});
  return to.take();
}

} // namespace dnheap
