#include "analysis/waits/wait_graph.h"

#include "analysis/threads/thread_objects.h"
#include "analysis/waits/crowds.h"
#include "analysis/waits/scheduler_queues.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_told = 64; // possible holders of one semaphore that are listed

std::map<TaskNumber, QueuedStep> all_queued(const Snapshot &snapshot, const LockSet &locks, const Tasks &tasks,
                                            const std::vector<ThreadWait> &waits, const RunningTasks &running) {
  std::map<TaskNumber, QueuedStep> out = find_queued_steps(snapshot, locks, tasks, waits);
  out.merge(find_queued_tasks(snapshot, locks, tasks, waits, running.by_thread_static));
  return out;
}

} // namespace

WaitGraph::WaitGraph(const Snapshot &snapshot, const LockSet &locks, Tasks &tasks,
                     const SemaphoreWaits &semaphore_waits, const std::vector<ThreadWait> &waits,
                     const RunningTasks &running)
    : snapshot_(snapshot), locks_(locks), tasks_(tasks), semaphore_waits_(semaphore_waits), waits_(waits),
      running_(running), children_(tasks.children()), queued_(all_queued(snapshot, locks, tasks, waits, running)),
      holders_(snapshot, locks, tasks, semaphore_waits), waits_of_(waits),
      thread_objects_(threads_by_object(snapshot.runtime(), locks.threads)) {
  for (const auto &[address, holders] : holders_.semaphores())
    semaphores_.emplace_back(address, &holders);
  met_.resize(node_count(), not_met);
  if (!semaphores_.empty())
    find_stuck();
}

std::optional<WaitGraph::Node> WaitGraph::node_of_semaphore(Address semaphore) const {
  auto found = std::lower_bound(semaphores_.begin(), semaphores_.end(), semaphore,
                                [](const auto &one, Address address) { return one.first < address; });
  if (found == semaphores_.end() || found->first != semaphore)
    return std::nullopt;
  return first_semaphore() + static_cast<u64>(found - semaphores_.begin());
}

// True for nodes that only show what a member of a circle waits for.
bool WaitGraph::is_passed_over(Node node) const {
  if (is_thread(node) || is_semaphore(node))
    return is_semaphore(node);
  const TaskNumber task = task_of(node);
  return semaphore_waits_.stood_for_by(task).semaphore != 0;
}

std::vector<WaitGraph::Edge> WaitGraph::edges_of(Node node) const {
  if (is_thread(node))
    return edges_of_thread(static_cast<u32>(node));
  return is_semaphore(node) ? edges_of_semaphore(node) : edges_of_task(task_of(node));
}

std::vector<WaitGraph::Edge> WaitGraph::edges_of_thread(u32 thread) const {
  std::vector<Edge> out;
  for (const ThreadWait *wait : waits_of_.of(thread))
    if (!wait->is_for_any) {
      const std::vector<Edge> edges = edges_of_wait(*wait);
      out.insert(out.end(), edges.begin(), edges.end());
    }
  return out;
}

std::vector<WaitGraph::Edge> WaitGraph::edges_of_wait(const ThreadWait &w) const {
  const Grounds grounds = w.is_by_stack ? Grounds::stack : Grounds::runtime;
  if (w.kind == WaitKind::task)
    if (TaskNumber task = tasks_.behind(w.object); task != no_task)
      return {{node_of_task(task), w.object, grounds, nullptr}};
  if (w.kind == WaitKind::semaphore || w.kind == WaitKind::mutex)
    if (const std::optional<Node> semaphore = node_of_semaphore(w.object))
      return {{*semaphore, w.object, grounds, nullptr}};
  std::vector<Edge> out;
  if (w.kind != WaitKind::join && w.runs_on)
    out.push_back({*w.runs_on, w.object, grounds, nullptr});
  if (w.kind == WaitKind::join)
    if (auto joined = thread_objects_.find(w.object); joined != thread_objects_.end())
      out.push_back({joined->second, 0, grounds, nullptr});
  const bool has_owner = w.kind == WaitKind::lock || w.kind == WaitKind::mutex;
  if (const LockObject *lock = has_owner ? locks_.find(w.object) : nullptr;
      lock && lock->owner && lock->owner != w.thread)
    out.push_back({*lock->owner, w.object, grounds, nullptr});
  else if (lock) // a thread that upgrades its own lock waits for the readers
    for (u32 reader : lock->readers)
      if (reader != w.thread)
        out.push_back({reader, w.object, grounds, nullptr});
  return out;
}

std::vector<WaitGraph::Edge> WaitGraph::edges_of_task(TaskNumber task) const {
  if (const Address semaphore = semaphore_waits_.semaphore_of(task)) {
    const std::optional<Node> node = node_of_semaphore(semaphore);
    return node && tasks_.is_pending(task) ? std::vector<Edge>{{*node, semaphore, Grounds::runtime, nullptr}}
                                           : std::vector<Edge>{};
  }
  std::vector<Edge> out;
  if (TaskNumber inner = tasks_.is_method(task) ? semaphore_waits_.awaited_task(task) : no_task;
      inner != no_task && tasks_.is_pending(inner))
    out.push_back({node_of_task(inner), tasks_.address(inner), Grounds::runtime, nullptr});
  for (const TaskPairs *pairs : {&semaphore_waits_.sources(), &children_})
    for (const auto &[waiting, other] : pairs_of(*pairs, task))
      out.push_back({node_of_task(other), tasks_.address(other), Grounds::runtime, nullptr});
  if (!out.empty())
    return out;
  if (auto runs = running_.by_thread_static.find(task); runs != running_.by_thread_static.end())
    out.push_back({runs->second, 0, Grounds::runtime, nullptr});
  else if (auto own = running_.by_own_method.find(task); own != running_.by_own_method.end() && is_running(task))
    out.push_back({own->second, 0, Grounds::runtime, nullptr});
  else if (auto on = running_.by_stack.find(task); on != running_.by_stack.end() && is_running(task))
    for (u32 thread : on->second)
      if (!waits_for(thread, tasks_.address(task)))
        out.push_back({thread, 0, Grounds::stack, nullptr});
  if (auto step = queued_.find(task); out.empty() && step != queued_.end())
    out.push_back({step->second.thread, step->second.context, Grounds::reference, nullptr});
  return out;
}

bool WaitGraph::waits_for(u32 thread, Address object) const {
  return std::ranges::any_of(waits_of_.of(thread), [&](const ThreadWait *wait) { return wait->object == object; });
}

bool WaitGraph::waits_for_finalizers(u32 thread) const {
  const ThreadWait *wait = waits_of_.first_of(thread);
  return wait && wait->kind == WaitKind::finalizers;
}

bool WaitGraph::is_running(TaskNumber task) const {
  return tasks_.is_method(task) ? tasks_.state(task) == -1 : tasks_.status(task) == TaskStatus::running;
}

// Returns edges to those who may have taken the semaphore, but not to its waiters, which refer to it in order to wait.
std::vector<WaitGraph::Edge> WaitGraph::edges_of_semaphore(Node node) const {
  const auto &[semaphore, holders] = semaphores_[node - first_semaphore()];
  std::vector<Edge> out;
  for (const SemaphoreHolder &holder : *holders) {
    if (holder.thread) {
      if (!waits_for(*holder.thread, semaphore))
        out.push_back({*holder.thread, semaphore, holder.grounds, &holder});
    } else if (semaphore_waits_.awaited_by(holder.task).semaphore != semaphore) {
      out.push_back({node_of_task(holder.task), semaphore, holder.grounds, &holder});
    }
  }
  return out;
}

const ThreadWait *WaitGraph::first_wait(Node node) const {
  return is_thread(node) ? waits_of_.first_of(static_cast<u32>(node)) : nullptr;
}

// True if the node waits with a time limit, so that it goes on in any case.
bool WaitGraph::has_limit(Node node) {
  if (is_semaphore(node))
    return false;
  if (is_thread(node)) {
    const ThreadWait *wait = first_wait(node);
    return wait && wait->has_limit;
  }
  return semaphore_waits_.has_limit(task_of(node));
}

bool WaitGraph::is_limit_unknown(Node node) const {
  const ThreadWait *wait = first_wait(node);
  return wait && wait->is_limit_unknown;
}

// True for waits for the end of a thread that only methods show, if these do not show that there is no time limit.
bool WaitGraph::may_be_limited_join(Node node) const {
  const ThreadWait *wait = first_wait(node);
  return wait && wait->kind == WaitKind::join && wait->runs_on && wait->is_limit_unknown;
}

// True if the task goes on as soon as one of its sources does, or after some time.
bool WaitGraph::waits_for_any(TaskNumber task) const {
  const std::string &type = tasks_.type(task).name;
  return type.starts_with(promise_of_any) || type.starts_with("System.Threading.Tasks.Task+TwoTaskWhenAnyPromise") ||
         semaphore_waits_.is_promise(task);
}

// Returns the tasks that all have to be done before this one goes on.
std::vector<TaskNumber> WaitGraph::awaited_by(TaskNumber task) const {
  std::vector<TaskNumber> out;
  if (!tasks_.is_pending(task) || waits_for_any(task))
    return out;
  if (tasks_.is_method(task)) {
    if (const TaskNumber inner = semaphore_waits_.awaited_task(task); inner != no_task && tasks_.is_pending(inner))
      out.push_back(inner);
    return out;
  }
  for (const auto &[waiting, source] : pairs_of(semaphore_waits_.sources(), task))
    out.push_back(source);
  return out;
}

// Returns one task of each circle of tasks that await one another. Searches depth first, each task once.
std::vector<TaskNumber> WaitGraph::tasks_in_circles() const {
  struct Place {
    TaskNumber task;
    std::vector<TaskNumber> next;
  };
  std::vector<Met> colors(tasks_.count(), not_met);
  std::vector<TaskNumber> out;
  std::vector<Place> way;
  auto enter = [&](TaskNumber task) {
    colors[task] = on_the_way;
    way.push_back({task, awaited_by(task)});
  };
  for (TaskNumber first = 0; first < tasks_.count(); ++first) {
    if (first % 0x10000 == 0)
      snapshot_.watch().check();
    if (colors[first] == not_met)
      enter(first);
    while (!way.empty()) {
      if (way.back().next.empty()) {
        colors[way.back().task] = left;
        way.pop_back();
        continue;
      }
      const TaskNumber next = way.back().next.back();
      way.back().next.pop_back();
      if (colors[next] == not_met)
        enter(next);
      else if (colors[next] == on_the_way)
        out.push_back(next);
    }
  }
  return out;
}

// At first, everything that somebody waits for counts as stuck. Then, again and again, whoever waits for nobody, or for
// somebody who is not stuck, is no longer stuck.
void WaitGraph::find_stuck() {
  std::vector<std::pair<Node, Node>> waits; // who is waited for, by whom
  std::vector<Node> nodes, free;
  std::vector<bool> seen(node_count()), is_free(node_count());
  auto reach = [&](Node node) {
    if (!seen[node])
      nodes.push_back(node);
    seen[node] = true;
  };
  auto set_free = [&](Node node) {
    if (!is_free[node])
      free.push_back(node);
    is_free[node] = true;
  };
  for (u64 i = 0; i < semaphores_.size(); ++i)
    reach(first_semaphore() + i);
  for (u64 i = 0; i < nodes.size(); ++i) {
    if (i % 0x1000 == 0)
      snapshot_.watch().check();
    const Node node = nodes[i];
    const std::vector<Edge> edges = edges_of(node);
    const bool has_ended = is_thread(node) && locks_.has_ended(static_cast<u32>(node));
    const bool may_be_freed = is_semaphore(node) && holders_.has_outsiders(semaphores_[node - first_semaphore()].first);
    if ((edges.empty() && !has_ended) || has_limit(node) || may_be_limited_join(node) || may_be_freed)
      set_free(node);
    for (const Edge &edge : edges) {
      waits.emplace_back(edge.to, node);
      reach(edge.to);
    }
  }
  std::sort(waits.begin(), waits.end());
  for (u64 i = 0; i < free.size(); ++i)
    for (auto wait = std::lower_bound(waits.begin(), waits.end(), std::pair{free[i], Node{0}});
         wait != waits.end() && wait->first == free[i]; ++wait)
      set_free(wait->second);
  for (u64 i = 0; i < semaphores_.size(); ++i)
    is_stuck_.push_back(!is_free[first_semaphore() + i]);
}

std::map<Address, std::string> WaitGraph::fields() const {
  std::map<Address, std::string> out;
  for (const auto &[semaphore, holders] : semaphores_)
    if (std::string field = holders_.field_of(semaphore); !field.empty())
      out.emplace(semaphore, std::move(field));
  return out;
}

std::vector<Crowd> WaitGraph::crowds(const std::map<Address, std::vector<SemaphoreHolder>> &taken) const {
  return find_crowds(locks_, tasks_, semaphore_waits_, waits_, holders_, taken,
                     snapshot_.runtime().il_code() != nullptr);
}

// True if the task awaits the semaphore directly, or awaits a task that does, and so has to go on first.
bool WaitGraph::awaits_semaphore(TaskNumber task, Address semaphore) const {
  constexpr u64 most_steps = 16;
  for (u64 i = 0; i < most_steps && task != no_task && tasks_.is_pending(task); ++i) {
    if (semaphore_waits_.awaited_by(task).semaphore == semaphore)
      return true;
    task = tasks_.is_method(task) ? semaphore_waits_.awaited_task(task) : no_task;
  }
  return false;
}

std::map<Address, std::vector<SemaphoreHolder>> WaitGraph::may_have_taken() const {
  std::map<Address, std::vector<SemaphoreHolder>> out;
  for (u64 i = 0; i < semaphores_.size(); ++i) {
    const std::vector<Edge> edges = edges_of_semaphore(first_semaphore() + i);
    const bool any_sure = std::any_of(edges.begin(), edges.end(), [](const Edge &e) { return e.holder->is_sure(); });
    for (const Edge &edge : edges) {
      const SemaphoreHolder &holder = *edge.holder;
      std::vector<SemaphoreHolder> &to = out[semaphores_[i].first];
      // As a rule, a method whose callee waits for the semaphore refers to it for this reason, unless the method has
      // already passed an await.
      const bool waits = !holder.thread && !has_awaited(holder) && awaits_semaphore(holder.task, edge.by);
      if (to.size() < most_told && (any_sure ? holder.is_sure() : !waits))
        to.push_back(holder);
    }
  }
  return out;
}

std::vector<std::vector<WaitingOne>> WaitGraph::circles() {
  // Waits for the end of a thread come last: circles without them say more.
  for (const bool joins_now : {false, true})
    for (const ThreadWait &wait : waits_)
      if ((wait.kind == WaitKind::join) == joins_now)
        follow(wait.thread);
  for (u64 i = 0; i < semaphores_.size(); ++i)
    follow(first_semaphore() + i);
  for (TaskNumber task : tasks_in_circles())
    follow(node_of_task(task));
  // As a rule, a thread that waits for the end of others has taken nothing.
  auto joins = [](const Circle &circle) {
    return std::any_of(circle.members.begin(), circle.members.end(),
                       [](const WaitingOne &one) { return one.thread && !one.waits_for; });
  };
  std::vector<std::vector<WaitingOne>> out;
  for (const Circle &circle : circles_) {
    auto tells_more = [&](const Circle &other) {
      return !joins(other) && !circle.semaphores.empty() &&
             std::includes(other.semaphores.begin(), other.semaphores.end(), circle.semaphores.begin(),
                           circle.semaphores.end());
    };
    if (!joins(circle) || std::none_of(circles_.begin(), circles_.end(), tells_more))
      out.push_back(circle.members);
  }
  return out;
}

// Searches depth first. An edge back to a node on the path closes a circle.
void WaitGraph::follow(Node from) {
  auto step_at = [&](Node node) {
    Step step{node, {}};
    if (!is_semaphore(node) || is_stuck_[node - first_semaphore()])
      step.edges = edges_of(node);
    if (!is_thread(node) && !is_semaphore(node) && waits_for_any(task_of(node)) && step.edges.size() > 1)
      step.edges.clear();
    // Words on stacks may only raise doubts about a circle.
    std::erase_if(step.edges, [](const Edge &edge) { return edge.holder && edge.grounds == Grounds::stack; });
    return step;
  };
  if (met_[from] != not_met)
    return;
  met_[from] = on_the_way;
  std::vector<Step> way = {step_at(from)};
  while (!way.empty()) {
    Step &step = way.back();
    if (step.next == step.edges.size()) {
      met_[step.node] = left;
      way.pop_back();
      continue;
    }
    const Node to = step.edges[step.next++].to;
    if (met_[to] == not_met) {
      met_[to] = on_the_way;
      way.push_back(step_at(to));
    } else if (met_[to] == on_the_way) {
      auto first = std::find_if(way.begin(), way.end(), [&](const Step &s) { return s.node == to; });
      add_circle({first, way.end()});
    }
  }
}

// A method that has passed an await may have taken the semaphore there. At its first await, it may only have passed the
// semaphore on to a callee.
bool WaitGraph::has_awaited(const SemaphoreHolder &holder) const {
  return !holder.thread && tasks_.state(holder.task).value_or(0) > 0;
}

// A holder that only refers to a semaphore has not taken it. A holder of a collection may only have made the
// collection, or may wait until its consumers are done. So a holder counts only if its methods are known to add or
// take. If that is unknown, a thread counts only if it waits for something other than the end of threads or tasks.
bool WaitGraph::may_be_circle(std::span<const Step> steps) const {
  for (u64 i = 0; i < steps.size(); ++i) {
    const Edge &edge = steps[i].edges[steps[i].next - 1];
    if (edge.holder && edge.holder->is_doubtful())
      return false;
    if (!edge.holder || !is_of_collection(edge.by))
      continue;
    const Node holder = edge.to;
    const Step &next = steps[(i + 1) % steps.size()];
    const Edge &further = next.edges[next.next - 1];
    const bool waits_for_end = !is_semaphore(further.to) && (!further.by || tasks_.find(further.by) != no_task);
    if (is_thread(holder) && waits_for_end && edge.holder->is_user != true)
      return false;
  }
  return true;
}

// Semaphores, and the tasks of their waiters, are not members: they only show what members wait for.
void WaitGraph::add_circle(std::span<const Step> steps) {
  std::vector<WaitingOne> circle;
  std::set<Address> semaphores; // by which the circle is inferred
  bool is_by_object = false;
  for (u64 i = 0; i < steps.size(); ++i) {
    if (is_passed_over(steps[i].node))
      continue;
    WaitingOne one;
    if (is_thread(steps[i].node))
      one.thread = static_cast<u32>(steps[i].node);
    else
      one.task = tasks_.address(task_of(steps[i].node));
    const Edge *taken = &steps[i].edges[steps[i].next - 1];
    one.waits_for = taken->by;
    one.grounds = taken->grounds;
    one.is_for_context = !one.thread && queued_.contains(task_of(steps[i].node)) && is_thread(taken->to) && taken->by;
    one.is_for_finalizers = one.thread && !one.waits_for && waits_for_finalizers(*one.thread);
    one.is_for_callback = one.thread && first_wait(steps[i].node) && first_wait(steps[i].node)->is_for_callback;
    one.has_limit = has_limit(steps[i].node);
    one.is_limit_unknown = is_limit_unknown(steps[i].node);
    for (u64 k = i + 1; is_passed_over(taken->to) && k <= i + steps.size(); ++k) {
      const Step &passed = steps[k % steps.size()];
      taken = &passed.edges[passed.next - 1];
      one.waits_for = taken->by;
      one.grounds = taken->grounds;
      if (taken->holder) {
        semaphores.insert(taken->by);
        const bool is_known_user = is_of_collection(taken->by) && taken->holder->is_user == true;
        is_by_object |= taken->grounds > Grounds::reference && !has_awaited(*taken->holder) && !is_known_user;
        one.through = taken->holder->through;
        one.method = taken->holder->method;
        one.is_use_unknown = is_of_collection(taken->by) && !is_known_user;
      }
    }
    circle.push_back(std::move(one));
  }
  // Calls that only pass on the object that has the semaphore need not have taken it.
  if (circle.empty() || (semaphores.size() == 1 && is_by_object) || !may_be_circle(steps))
    return;
  if (!semaphores.empty() && !known_semaphores_.insert({semaphores.begin(), semaphores.end()}).second)
    return;
  circles_.push_back({std::move(circle), {semaphores.begin(), semaphores.end()}});
}

} // namespace dnheap
