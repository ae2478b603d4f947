#include "analysis/threads/tasks.h"

#include "analysis/shapes/base_types.h"

#include <algorithm>
#include <bit>

namespace dnheap {

namespace {

constexpr u64 block = 4096;                 // tasks per parallel step
constexpr unsigned most_steps = 8;          // from a task to its continuation: a list, a continuation object, a
                                            // delegate
constexpr u64 most_of_list = 1 << 20;       // elements of one list of continuations
constexpr u64 most_continuations = 1 << 16; // of one task
constexpr const char *task_name = "System.Threading.Tasks.Task", *task_of_source = "+ValueTaskSourceAsTask";

// Task.m_stateFlags: src/libraries/System.Private.CoreLib/src/System/Threading/Tasks/Task.cs.
enum TaskFlags : u32 {
  started = 0x10000,
  delegate_invoked = 0x20000,
  faulted = 0x200000,
  canceled = 0x400000,
  waiting_on_children = 0x800000,
  ran_to_completion = 0x1000000,
  waiting_for_activation = 0x2000000,
};

// States of an asynchronous iterator that nobody is waiting for: not yet started (-3), or not asked again since its
// last value (-4, …).
constexpr i32 not_asked = -3;

u64 hash(Address address) { return (address >> 3) * 0x9e3779b97f4a7c15; }

bool may_be_box(std::string_view name) { return name.find("StateMachineBox<") != name.npos; }
bool may_be_machine(std::string_view name) {
  return name.find(">d") != name.npos || name.find("StateMachine") != name.npos;
}

} // namespace

const char *name_of(TaskStatus status) {
  constexpr const char *names[] = {"Created",
                                   "WaitingForActivation",
                                   "WaitingToRun",
                                   "Running",
                                   "WaitingForChildrenToComplete",
                                   "RanToCompletion",
                                   "Canceled",
                                   "Faulted"};
  return names[static_cast<u8>(status)];
}

TaskStatus status_of(u32 flags) {
  return flags & faulted                  ? TaskStatus::faulted
         : flags & canceled               ? TaskStatus::canceled
         : flags & ran_to_completion      ? TaskStatus::ran_to_completion
         : flags & waiting_on_children    ? TaskStatus::waiting_for_children
         : flags & delegate_invoked       ? TaskStatus::running
         : flags & started                ? TaskStatus::waiting_to_run
         : flags & waiting_for_activation ? TaskStatus::waiting_for_activation
                                          : TaskStatus::created;
}

Tasks::Tasks(const Snapshot &snapshot)
    : runtime_(snapshot.runtime()), fields_(runtime_), machines_(runtime_), calls_(snapshot),
      bytes_(snapshot.heap(), runtime_.memory()) {
  const BaseTypes bases(runtime_);
  std::vector<Address> wanted = types_that(snapshot, [&](Address mt) {
    if (calls_.is_call(mt)) {
      add_call_type(mt);
      return true;
    }
    const std::string &name = runtime_.types().name(mt);
    const bool is_task = bases.derives(mt, task_name);
    if (is_task || may_be_box(name))
      add_type(mt, is_task);
    else if (may_be_machine(name))
      if (const MachineShape *shape = machines_.find(mt))
        machine_types_[mt] = shape;
    return type_numbers_.contains(mt);
  });
  objects_ = objects_of(snapshot, wanted);
  Timer timer(snapshot.watch(), "tasks");
  if (objects_.size() >= no_task)
    throw Error("more tasks than can be numbered");
  columns_.resize(objects_.size());
  parallel_for_parts(objects_.size(), block, snapshot.threads(), [&](u64 begin, u64 end, unsigned) {
    snapshot.watch().check();
    for (u64 task = begin; task < end; ++task)
      read(static_cast<TaskNumber>(task), columns_[task]);
  });
  add_lookup();
  follow_chains();
  for (TaskNumber task = 0; task < columns_.size(); ++task)
    if (columns_[task].is_pending && columns_[task].machine_object && type(task).is_machine_reference)
      machine_owners_.emplace_back(columns_[task].machine_object, task);
  std::sort(machine_owners_.begin(), machine_owners_.end());
  follow_back();
}

void Tasks::add_type(Address method_table, bool is_task) {
  TaskType type;
  type.method_table = method_table;
  type.name = runtime_.types().name(method_table);
  if (is_task) {
    type.flags_at = fields_.offset(method_table, "m_stateFlags");
    type.continuation_at = fields_.offset(method_table, "m_continuationObject");
    type.action_at = fields_.offset(method_table, "m_action");
    type.contingent_at = fields_.offset(method_table, "m_contingentProperties");
    if (type.name.find(task_of_source) != type.name.npos)
      type.source_at = fields_.offset(method_table, "_source");
    if (calls_.exist() && type.name.starts_with(runtime_async_task))
      type.state_object_at = fields_.offset(method_table, "m_stateObject");
  }
  if (const InstanceField *machine = fields_.find(method_table, "StateMachine")) {
    type.is_box = true;
    type.is_machine_reference = machine->is_reference();
    type.machine_at = machine->offset - (machine->is_reference() ? 0 : runtime_.memory().format().pointer_size);
    if (!machine->is_reference())
      type.machine = machines_.find(machine->method_table);
  }
  if (!is_task && !type.is_box)
    return;
  type_numbers_[method_table] = static_cast<u32>(types_.size());
  types_.push_back(std::move(type));
}

void Tasks::add_call_type(Address method_table) {
  TaskType type;
  type.method_table = method_table;
  type.name = runtime_.types().name(method_table);
  type.is_box = type.is_suspended_call = true;
  type_numbers_[method_table] = static_cast<u32>(types_.size());
  types_.push_back(std::move(type));
}

// Marks the calls of pending tasks as pending; other calls are kept by somebody for later, or garbage.
void Tasks::follow_chains() {
  bool any_runs = false;
  for (TaskNumber task = 0; task < columns_.size(); ++task)
    if (columns_[task].is_pending && type(task).state_object_at) {
      if (columns_[task].machine_object)
        follow_chain(task, calls_.chain_of(columns_[task].machine_object));
      else
        any_runs = true;
    }
  if (any_runs)
    follow_running();
}

// A task that is running now has no chain: its dispatcher's frame leads to the remaining calls.
void Tasks::follow_running() {
  running_ = calls_.find_running();
  for (const SuspendedCalls::Running &one : running_) {
    const TaskNumber task = find(one.task);
    if (task == no_task || !is_pending(task) || columns_[task].machine_object || columns_[task].machine)
      continue;
    follow_chain(task, {0, one.caller});
    columns_[task].machine = &one.shape;
    columns_[task].state = -1;
    if (const TaskNumber caller = find(one.caller); caller != no_task)
      columns_[caller].awaits_running = true;
  }
}

void Tasks::follow_chain(TaskNumber task, SuspendedCalls::Chain chain) {
  Address awaited = chain.awaited;
  for (Address at = chain.first; at; at = word_at(at, calls_.layout().next)) {
    const TaskNumber call = find(at);
    if (call == no_task || !type(call).is_suspended_call || columns_[call].other != no_task) {
      ++broken_chains_;
      return;
    }
    Column &column = columns_[call];
    column.is_pending = true;
    column.awaited = awaited;
    column.is_in_context = at == chain.first && chain.is_in_context;
    column.machine = calls_.shape_of(column.machine_object, column.state);
    column.other = task;
    columns_[task].other = call;
    if (column.machine && is_await_helper(column.machine->method) && word_at(at, calls_.layout().next))
      column.is_pending = false; // it awaits the same as its caller
    else
      awaited = at;
  }
}

// Finds the task that a method awaits if the method's variables do not show it, because the awaiter is of an unknown
// type, or of a library's own type that has the task inside. The continuation of that task is the method.
void Tasks::follow_back() {
  auto is_unknown = [this](TaskNumber task) {
    const Column &column = columns_[task];
    if (!column.is_pending || !type(task).is_box || column.awaits_running)
      return false;
    return column.awaited ? behind(column.awaited) == no_task
                          : !type(task).is_suspended_call && (!column.machine || !column.machine->are_awaiters_known);
  };
  bool any = false;
  for (TaskNumber task = 0; task < columns_.size() && !any; ++task)
    any = is_unknown(task);
  for (TaskNumber task = 0; task < columns_.size() && any; ++task)
    if (columns_[task].is_pending && columns_[task].continuation)
      for (const Continuation &next : continuations(task, most_continuations))
        if (const TaskNumber method = next.kind == ContinuationKind::method ? find(next.object) : no_task;
            method != no_task && is_unknown(method))
          columns_[method].awaited = address(task);
}

void Tasks::add_lookup() {
  lookup_.assign(std::bit_ceil(objects_.size() * 2 + 1), no_task);
  const u64 mask = lookup_.size() - 1, shift = 64 - static_cast<u64>(std::countr_zero(lookup_.size()));
  for (TaskNumber task = 0; task < objects_.size(); ++task) {
    u64 slot = hash(objects_[task].address) >> shift;
    while (lookup_[slot] != no_task)
      slot = (slot + 1) & mask;
    lookup_[slot] = task;
  }
}

TaskNumber Tasks::find(Address object) const {
  if (!object || objects_.empty())
    return no_task;
  const u64 mask = lookup_.size() - 1;
  u64 slot = hash(object) >> (64 - static_cast<u64>(std::countr_zero(lookup_.size())));
  for (; lookup_[slot] != no_task; slot = (slot + 1) & mask)
    if (objects_[lookup_[slot]].address == object)
      return lookup_[slot];
  return no_task;
}

Address Tasks::word(Bytes bytes, u64 at) const {
  const Format format = runtime_.memory().format();
  Bytes here = slice(bytes, at, format.pointer_size);
  return here.empty() ? 0 : load_pointer(here.data(), format);
}

void Tasks::read(TaskNumber task, Column &to) const {
  to.type = type_numbers_.find(objects_[task].method_table)->second;
  const TaskType &type = types_[to.type];
  const Bytes bytes = bytes_.from(objects_[task].address);
  const ByteOrder order = runtime_.memory().format().byte_order;
  if (type.flags_at)
    if (std::optional<u32> flags = load_at<u32>(bytes, *type.flags_at, order)) {
      runtime_.memory().note_read(objects_[task].address + *type.flags_at, 4);
      to.status = status_of(*flags);
      to.is_pending = !is_done(to.status);
    }
  if (to.is_pending && type.continuation_at)
    to.continuation = word(bytes, *type.continuation_at);
  if (to.is_pending && type.state_object_at)
    to.machine_object = word(bytes, *type.state_object_at);
  if (type.is_suspended_call) {
    to.machine_object = word(bytes, calls_.layout().resume_info);
    if (std::optional<u32> state = load_at<u32>(bytes, calls_.layout().state, order))
      to.state = static_cast<i32>(*state);
    runtime_.memory().note_read(objects_[task].address, calls_.layout().data);
    return;
  }
  if (!type.is_box)
    return;
  if (type.is_machine_reference) {
    to.machine_object = word(bytes, type.machine_at);
    const Bytes machine = to.machine_object ? bytes_.from(to.machine_object) : Bytes();
    auto shape = machine_types_.find(method_table_in(word(machine, 0), runtime_.memory().format()));
    if (shape != machine_types_.end())
      read_machine(*shape->second, to.machine_object, machine, 0, to);
  } else if (type.machine) {
    read_machine(*type.machine, objects_[task].address, bytes, type.machine_at, to);
  }
  if (!type.flags_at)
    to.is_pending = to.awaited != 0; // the task flags in the boxes of pooled ValueTasks do not show whether they are
                                     // done
}

void Tasks::read_machine(const MachineShape &shape, Address object, Bytes bytes, u64 begin, Column &to) const {
  if (shape.state_at) {
    std::optional<u32> state = load_at<u32>(bytes, begin + *shape.state_at, runtime_.memory().format().byte_order);
    if (!state)
      return;
    runtime_.memory().note_read(object + begin + *shape.state_at, 4);
    to.state = static_cast<i32>(*state);
    if (to.state <= not_asked) // nobody waits for it
      to.is_pending = false;
  }
  to.machine = &shape;
  for (u64 i = 0; i < shape.awaiters.size() && !to.awaited; ++i)
    to.awaited = word(bytes, begin + shape.awaiters[i]);
}

TaskNumber Tasks::behind(Address awaited) const {
  if (TaskNumber task = find(awaited); task != no_task)
    return type(task).state_object_at && columns_[task].other != no_task ? columns_[task].other : task;
  auto owner = std::lower_bound(machine_owners_.begin(), machine_owners_.end(), std::pair{awaited, TaskNumber{0}});
  return owner != machine_owners_.end() && owner->first == awaited ? owner->second : no_task;
}

const Tasks::ContinuationShape &Tasks::shape_of(Address method_table) {
  auto [known, is_new] = continuation_shapes_.try_emplace(method_table);
  if (is_new && method_table)
    known->second = learn(method_table);
  return known->second;
}

// Returns how to follow an object in Task.m_continuationObject, by its type:
// src/libraries/System.Private.CoreLib/src/System/Threading/Tasks/TaskContinuation.cs.
Tasks::ContinuationShape Tasks::learn(Address method_table) {
  ContinuationShape out;
  const BaseTypes bases(runtime_);
  if (auto type = type_numbers_.find(method_table); type != type_numbers_.end()) {
    out.kind = types_[type->second].is_box ? ContinuationKind::method : ContinuationKind::task;
  } else if (bases.derives(method_table, "System.Threading.ManualResetEventSlim")) {
    out.kind = ContinuationKind::thread;
  } else if (runtime_.types().name(method_table) == "System.Collections.Generic.List<System.Object>") {
    out.step = Step::list;
  } else if (bases.derives(method_table, "System.Delegate")) {
    if (std::optional<u64> target = fields_.offset(method_table, "_target"))
      out = {Step::follow, ContinuationKind::callback, *target, true};
  } else {
    // The leaf of a suspended chain leads to the call that resumes.
    const bool is_leaf = runtime_.continuation_layout() && fields_.offset(method_table, "RuntimeAsyncTask");
    for (const char *field : {is_leaf ? "Next" : "m_task", "m_action"})
      if (std::optional<u64> next = fields_.offset(method_table, field); next && out.step == Step::end)
        out = {Step::follow, ContinuationKind::callback, *next, false};
  }
  return out;
}

// Returns the suspended call of a RuntimeAsyncTask that resumes first; 0 if it has none.
Address Tasks::first_call_of(Address task) {
  const TaskNumber number = find(task);
  if (number == no_task || !type(number).state_object_at || !columns_[number].machine_object)
    return 0;
  const TaskNumber call = find(calls_.chain_of(columns_[number].machine_object).first);
  return call != no_task && type(call).is_suspended_call ? address(call) : 0;
}

std::vector<Continuation> Tasks::continuations(TaskNumber task, u64 limit) {
  std::vector<Continuation> out;
  if (type(task).is_suspended_call) {
    if (const Address next = word_at(address(task), calls_.layout().next))
      return {{ContinuationKind::method, next}};
    task = columns_[task].other;
  }
  if (task == no_task || !columns_[task].continuation)
    return out;
  // Nearly always the continuation is the task or method itself.
  const Address first = columns_[task].continuation;
  if (const ContinuationShape &shape = shape_of(type_at(first)); shape.step == Step::end) {
    out.push_back({shape.kind, first});
    return out;
  }
  struct Place {
    Address object;
    unsigned steps;
    Address caller; // the delegate that led here
  };
  std::vector<Place> places = {{first, 0, 0}};
  for (u64 i = 0; i < places.size() && out.size() < limit; ++i) {
    const Place at = places[i];
    const Address mt = at.object ? type_at(at.object) : 0;
    const ContinuationShape &shape = shape_of(mt);
    if (const Address call = at.caller && shape.kind == ContinuationKind::task ? first_call_of(at.object) : 0) {
      out.push_back({ContinuationKind::method, call});
    } else if (at.caller && shape.kind != ContinuationKind::method) {
      out.push_back({ContinuationKind::callback, at.caller});
    } else if (!mt || at.steps == most_steps) {
      continue;
    } else if (shape.step == Step::follow) {
      places.push_back({word_at(at.object, shape.next_at), at.steps + 1, shape.ends_in_callback ? at.object : 0});
    } else if (shape.step == Step::list) {
      const u64 size = std::min<u64>(fields_.number<u32>(at.object, "_size").value_or(0), most_of_list);
      const std::vector<Address> items =
          fields_.elements(fields_.reference_or_null(at.object, "_items"), std::min({size, limit, list_items_left_}));
      list_items_left_ -= items.size();
      for (Address one : items)
        if (one)
          places.push_back({one, at.steps + 1, 0});
    } else {
      out.push_back({shape.kind, at.object});
    }
  }
  return out;
}

TaskPairs Tasks::sources(const Watch &watch) {
  TaskPairs out;
  for (TaskNumber task = 0; task < count(); ++task) {
    if (task % 0x10000 == 0)
      watch.check();
    if (!is_pending(task))
      continue;
    if (const std::optional<u64> at = type(task).source_at)
      if (const TaskNumber source = find(word_at(address(task), *at)); source != no_task && is_pending(source))
        out.emplace_back(task, source);
    for (const Continuation &next : continuations(task, most_continuations))
      if (next.kind == ContinuationKind::task)
        if (TaskNumber waiting = find(next.object); waiting != no_task && is_pending(waiting))
          out.emplace_back(waiting, behind(address(task)));
  }
  std::sort(out.begin(), out.end());
  return out;
}

TaskPairs Tasks::children() {
  TaskPairs out;
  auto waits = [](const Column &column) { return column.status == TaskStatus::waiting_for_children; };
  if (std::none_of(columns_.begin(), columns_.end(), waits))
    return out;
  for (TaskNumber task = 0; task < count(); ++task)
    if (const std::optional<u64> at = type(task).contingent_at; at && is_pending(task))
      if (const Address contingent = word_at(address(task), *at))
        if (const TaskNumber parent = find(fields_.reference_or_null(contingent, "m_parent"));
            parent != no_task && waits(columns_[parent]))
          out.emplace_back(parent, task);
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<bool> Tasks::is_unobserved(TaskNumber task) {
  const TaskType &type = this->type(task);
  if (status(task) != TaskStatus::faulted || !type.contingent_at)
    return std::nullopt;
  const Address holder = fields_.reference_or_null(word_at(address(task), *type.contingent_at), "m_exceptionsHolder");
  std::optional<u8> handled = holder ? fields_.number<u8>(holder, "m_isHandled") : std::nullopt;
  return handled ? std::optional(*handled == 0) : std::nullopt;
}

std::string Tasks::delegate_method(TaskNumber task) {
  const TaskType &type = this->type(task);
  const Address action = type.action_at ? word_at(address(task), *type.action_at) : 0;
  const Address mt = action ? type_at(action) : 0;
  if (!mt)
    return "";
  const std::vector<DelegateTarget> targets = runtime_.fields().delegate_targets(action, mt, 1);
  return targets.empty() ? "" : targets.front().method;
}

} // namespace dnheap
