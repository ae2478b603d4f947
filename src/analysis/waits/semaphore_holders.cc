#include "analysis/waits/semaphore_holders.h"

#include "analysis/names/compiled_names.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/threads/thread_text.h"
#include "objects/roots.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_references = 1024;           // words of one object; larger ones are passed over
constexpr u64 most_semaphore_objects = 1 << 22; // objects whose references are remembered
constexpr u64 most_steps_away = 4;              // from a timer by its delegate, a closure and a service to the
                                                // collection
constexpr u64 most_met = 256;                   // objects that one such search meets
constexpr u32 no_thread = ~u32{0};
constexpr const char *waiting_methods = "System.Threading.SemaphoreSlim.Wait";
constexpr std::string_view collection_methods = "System.Collections.Concurrent.BlockingCollection<",
                           enumerators = "+<GetConsumingEnumerable>";

// True for the program's entry point, which as a rule takes no semaphore itself.
bool is_entry_point(std::string_view method) {
  const std::string_view name = method.substr(std::min(type_of_member(method).size() + 1, method.size()));
  return name == "Main" || name == "<Main>" || name == "<Main>$";
}

} // namespace

const char *name_of(Grounds grounds) {
  constexpr const char *names[] = {"runtime",     "stack", "passed_wait", "reference", "reference_by_object",
                                   "static_field"};
  return names[static_cast<u8>(grounds)];
}

SemaphoreHolders::SemaphoreHolders(const Snapshot &snapshot, const LockSet &locks, const Tasks &tasks,
                                   const SemaphoreWaits &waits)
    : tasks_(tasks), waits_(waits), collections_(locks.collections), runtime_(snapshot.runtime()), fields_(runtime_),
      bodies_(snapshot) {
  find_targets(locks);
  if (semaphores_.empty())
    return;
  reader_.emplace(snapshot.references());
  std::vector<Address> objects;
  for (const auto &[object, semaphore] : targets_)
    objects.push_back(object);
  owners_.emplace(snapshot, std::move(objects));
  static_arrays_ = &snapshot.roots().holders;
  look_at_stacks(locks, snapshot.watch());
  look_at_waits(locks, snapshot.watch());
  look_at_threads(snapshot.roots(), locks);
  look_at_methods(snapshot.watch());
  look_at_statics();
  look_behind_waits();
  look_at_passed_waits(snapshot, locks);
  judge_users();
  look_at_locks();
  look_for_outsiders(snapshot);
}

void SemaphoreHolders::find_targets(const LockSet &locks) {
  for (const LockObject &lock : locks.locks)
    if ((lock.kind == LockKind::semaphore || lock.kind == LockKind::mutex) && lock.is_held && lock.waiters &&
        !lock.owner) {
      semaphores_[lock.object];
      targets_.emplace(lock.object, lock.object);
      waiting_[lock.object].insert(lock.waiting.begin(), lock.waiting.end());
      if (auto part = collections_.find(lock.object); part != collections_.end())
        targets_.emplace(part->second.collection, lock.object);
    }
}

void SemaphoreHolders::look_at_stacks(const LockSet &locks, const Watch &watch) {
  frames_.resize(locks.threads.size());
  waiting_frames_.resize(locks.threads.size());
  for (u32 thread = 0; thread < locks.threads.size(); ++thread) {
    watch.check();
    if (locks.threads[thread].os_id.value_or(0) == 0)
      continue;
    WalkedStack stack = runtime_.walk_stack(locks.threads[thread]);
    const u64 waiting = waits_for(runtime_, stack).frames;
    for (u64 i = 0; i < stack.frames.size(); ++i) {
      StackFrame &frame = stack.frames[i];
      if (frame.kind != StackFrame::Kind::method || frame.is_unwound || !frame.method_desc)
        continue;
      const std::string &method = runtime_.method_text(frame.method_desc).qualified;
      if (waiting_frames_[thread] == frames_[thread].size() && (i < waiting || method.starts_with(collection_methods)))
        ++waiting_frames_[thread];
      frame.references.clear();
      frames_[thread].push_back(std::move(frame));
    }
  }
}

SemaphoreHolders::Place SemaphoreHolders::place_of(const StackFrame &frame) {
  const std::optional<u32> il = bodies_.il_offset(frame);
  return {frame.method_desc, il ? std::optional<i64>(*il) : std::nullopt};
}

SemaphoreHolders::Place SemaphoreHolders::place_of(TaskNumber task) {
  const MachineShape *machine = tasks_.machine(task);
  if (!machine)
    return {};
  if (!machine->resumes_at.method_desc)
    return {machine->method_table, tasks_.state(task)};
  StackFrame frame;
  frame.method_desc = machine->resumes_at.method_desc;
  frame.ip = machine->resumes_at.ip;
  return place_of(frame);
}

void SemaphoreHolders::look_at_waits(const LockSet &locks, const Watch &watch) {
  auto add_place = [&](Address semaphore, const Place &place) {
    if (!place.method)
      return;
    // If the position is unknown, the largest one makes sure that nothing counts as behind the wait.
    const i64 position = place.position.value_or(std::numeric_limits<i64>::max());
    auto [known, is_new] = places_[semaphore].try_emplace(place.method, position);
    known->second = std::max(known->second, position);
  };
  for (const auto &[semaphore, threads] : waiting_)
    for (u32 thread : threads)
      if (waiting_frames_[thread] < frames_[thread].size())
        add_place(semaphore, place_of(frames_[thread][waiting_frames_[thread]]));
  if (locks.by_node.empty())
    return;
  for (TaskNumber task = 0; task < tasks_.count(); ++task) {
    if (task % 0x10000 == 0)
      watch.check();
    if (!tasks_.is_pending(task) || !tasks_.is_method(task))
      continue;
    const Address semaphore = waits_.awaited_by(task).semaphore;
    if (!semaphore || !semaphores_.contains(semaphore))
      continue;
    awaited_.emplace(task, semaphore);
    if (const MachineShape *machine = tasks_.machine(task);
        machine && !machine->method.starts_with("System.Threading.SemaphoreSlim.") && !is_await_helper(machine->method))
      add_place(semaphore, place_of(task));
  }
}

bool SemaphoreHolders::is_enumerator(Address object) {
  const Address type = fields_.type_of(object);
  const std::string_view name =
      type && runtime_.types().object_layout(type) ? std::string_view(runtime_.types().name(type)) : std::string_view();
  return name.starts_with(collection_methods) && name.find(enumerators) != name.npos;
}

void SemaphoreHolders::look_at_threads(const RootSet &roots, const LockSet &locks) {
  for (const Root &root : roots.roots) {
    const RootThread *of = roots.thread(root);
    if (!of || !of->os_id || !is_on_stack(root.kind))
      continue;
    const std::optional<u32> thread = locks.thread_with_os_id(*of->os_id);
    if (!thread)
      continue;
    if (auto target = targets_.find(root.object); target != targets_.end())
      add(target->second,
          {thread, no_task, root.is_conservative() ? Grounds::stack : Grounds::reference, 0, roots.name(root)});
    else if (!root.is_conservative())
      for (Address semaphore : semaphores_in(root.object))
        add(semaphore, {thread, no_task, Grounds::reference_by_object, root.object, roots.name(root)});
  }
}

void SemaphoreHolders::look_at_methods(const Watch &watch) {
  for (TaskNumber task = 0; task < tasks_.count(); ++task) {
    if (task % 0x10000 == 0)
      watch.check();
    if (!is_waiting_method(task))
      continue;
    std::vector<Address> own = references_of(tasks_.address(task));
    if (tasks_.type(task).is_machine_reference) {
      const Address machine = fields_.reference_or_null(tasks_.address(task), "StateMachine");
      std::erase(own, machine);
      const std::vector<Address> more = references_of(machine);
      own.insert(own.end(), more.begin(), more.end());
    }
    for (Address object : own)
      if (auto target = targets_.find(object); target != targets_.end())
        add(target->second, {{}, task, Grounds::reference, 0, ""});
      else
        for (Address semaphore : semaphores_in(object))
          add(semaphore, {{}, task, Grounds::reference_by_object, object, ""});
  }
}

// A method that has not returned may have taken the semaphore if its type has the semaphore in a static field, or if it
// is a method of an object that is in a static field and has the semaphore.
void SemaphoreHolders::look_at_statics() {
  std::map<std::string, std::set<Address>, std::less<>> by_type;
  for (const auto &[object, semaphore] : targets_)
    if (const OwnerFields::Owner *owner = owners_->find(object); owner && owner->is_static)
      for (const std::string &type : owner->types)
        if (!type.empty())
          by_type[type].insert(semaphore);
  if (by_type.empty())
    return;
  auto add_all = [&](std::string_view method, std::optional<u32> thread, TaskNumber task) {
    if (method.find("<.cctor>") != method.npos)
      return; // a lambda that initializes another field
    if (auto of = by_type.find(type_of_member(method)); of != by_type.end())
      for (Address semaphore : of->second)
        add(semaphore, {thread, task, Grounds::static_field, 0, std::string(method)});
  };
  for (u32 thread = 0; thread < frames_.size(); ++thread) {
    bool waits = false;
    for (const StackFrame &frame : frames_[thread]) {
      const std::string method = runtime_.method_text(frame.method_desc).qualified;
      waits |= method.starts_with(waiting_methods);
      if (waits || !is_entry_point(method))
        add_all(method, thread, no_task);
    }
  }
  for (TaskNumber task = 0; task < tasks_.count(); ++task)
    if (is_waiting_method(task) && tasks_.machine(task) && !is_entry_point(tasks_.machine(task)->method))
      add_all(tasks_.machine(task)->method, {}, task);
}

std::string SemaphoreHolders::field_of(Address semaphore) const {
  auto part = collections_.find(semaphore);
  const OwnerFields::Owner *owner =
      owners_ ? owners_->find(part != collections_.end() ? part->second.collection : semaphore) : nullptr;
  return !owner ? "" : owner->is_static ? "static " + owner->text : owner->text;
}

bool SemaphoreHolders::may_be_anywhere(Address semaphore) const {
  const OwnerFields::Owner *owner = owners_->find(semaphore);
  return owner && owner->is_static;
}

bool SemaphoreHolders::is_behind(const Places &places, const Place &place) const {
  auto waits = places.find(place.method);
  return waits != places.end() && place.position && *place.position > waits->second;
}

// If no static field leads to the semaphore, other calls of the method may have other semaphores, so only calls that
// refer to this one count.
void SemaphoreHolders::look_behind_waits() {
  struct There {
    std::optional<u32> thread;
    TaskNumber task;
    Place place;
    std::string method;
  };
  std::map<Address, std::vector<There>> by_method;
  for (const auto &[semaphore, places] : places_)
    if (!is_collection(semaphore))
      for (const auto &[method, position] : places)
        by_method[method];
  for (u32 thread = 0; thread < frames_.size(); ++thread)
    for (const StackFrame &frame : frames_[thread])
      if (auto in = by_method.find(frame.method_desc); in != by_method.end())
        in->second.push_back({thread, no_task, place_of(frame), runtime_.method_text(frame.method_desc).qualified});
  for (TaskNumber task = 0; task < tasks_.count() && !by_method.empty(); ++task)
    if (is_waiting_method(task) && tasks_.machine(task) && !awaited_.contains(task)) {
      const Place place = place_of(task);
      if (auto in = by_method.find(place.method); in != by_method.end())
        in->second.push_back({{}, task, place, tasks_.machine(task)->method});
    }
  for (const auto &[semaphore, places] : places_) {
    if (is_collection(semaphore))
      continue;
    const bool counts_all = may_be_anywhere(semaphore);
    for (const auto &[method, position] : places)
      for (const There &one : by_method[method])
        if (is_behind(places, one.place) && !(one.thread && waiting_[semaphore].contains(*one.thread)) &&
            (counts_all || known_.contains({semaphore, one.thread.value_or(no_thread), one.task})))
          add(semaphore, {one.thread, one.task, Grounds::passed_wait, 0, one.method});
  }
}

const std::vector<MethodBodies::Call> *SemaphoreHolders::calls_of(TaskNumber task) {
  const MachineShape *machine = tasks_.machine(task);
  if (!machine)
    return nullptr;
  return machine->resumes_at.method_desc ? bodies_.calls_of(machine->resumes_at.method_desc)
                                         : bodies_.calls_of_machine(machine->method_table);
}

// True if the holder's methods wait for semaphores at one place only, and the holder waits there for another semaphore,
// so that it cannot have taken this one. The receiver of a signal is an example. False if the IL is unknown.
bool SemaphoreHolders::waits_at_its_only_wait(const SemaphoreHolder &holder) {
  if (!holder.thread)
    return awaited_.contains(holder.task) && uses_.of(calls_of(holder.task)).waits == u64{1};
  const bool waits =
      std::ranges::any_of(waiting_, [&](const auto &one) { return one.second.contains(*holder.thread); });
  u64 count = 0;
  for (const StackFrame &frame : frames_[*holder.thread]) {
    if (runtime_.method_text(frame.method_desc).qualified.starts_with("System."))
      continue; // parts of the wait itself, and the code that started the thread
    const std::optional<u64> here = uses_.of(bodies_.calls_of(frame.method_desc)).waits;
    if (!here)
      return false;
    count += *here;
  }
  return waits && count == 1;
}

// A method that only refers to a semaphore has not taken a permit. A method that takes from a collection does not add
// to it, and is left out.
void SemaphoreHolders::judge_users() {
  for (auto &[semaphore, holders] : semaphores_) {
    auto part = collections_.find(semaphore);
    const bool is_of_collection = part != collections_.end(),
               is_for_place = is_of_collection && part->second.is_for_place;
    const Places &places = places_[semaphore];
    for (const SemaphoreHolder &holder : holders)
      if (holder.through && field_of(semaphore).empty())
        owners_->add(holder.through);
    std::erase_if(holders, [&](SemaphoreHolder &holder) {
      bool stands_with_those = false, does_the_same = false;
      // `is_its`: the method is the one that refers to it.
      auto look_at = [&](const MethodUses::Uses &uses_of_method, bool is_its) {
        const auto &[permits, gives_back, adds, takes, waits] = uses_of_method;
        const std::optional<bool> &uses = !is_of_collection ? permits : is_for_place ? takes : adds;
        if (uses == true || (is_its && !holder.is_user))
          holder.is_user = uses;
        does_the_same |= (is_for_place ? adds : takes) == true;
      };
      if (holder.thread) {
        for (const StackFrame &frame : frames_[*holder.thread]) {
          const MethodText text = runtime_.method_text(frame.method_desc);
          look_at(uses_.of(bodies_.calls_of(frame.method_desc)),
                  text.name == holder.method || text.qualified == holder.method);
          stands_with_those |= places.contains(frame.method_desc);
        }
      } else {
        look_at(uses_.of(calls_of(holder.task)), true);
        stands_with_those = places.contains(place_of(holder.task).method);
      }
      if (!is_of_collection) {
        if (!holder.is_sure() && waits_at_its_only_wait(holder))
          holder.is_user = false;
        return false;
      }
      if (holder.through && is_enumerator(holder.through)) {
        holder.is_user = is_for_place;
        holder.grounds = Grounds::reference;
        return !is_for_place;
      }
      return holder.is_user != true && (stands_with_those || does_the_same);
    });
  }
  known_.clear(); // its indices are outdated
}

// A thread that runs a state machine is in its MoveNext, whether the state machine is boxed yet or not.
void SemaphoreHolders::look_at_locks() {
  std::map<Address, std::set<Address>> by_machine; // → semaphores
  for (const auto &[semaphore, places] : places_)
    for (const auto &[method, position] : places) {
      const std::optional<bool> gives = uses_.of(bodies_.calls_of_any(method)).gives_back;
      if (gives)
        given_back_[semaphore] |= *gives;
      by_machine[method].insert(semaphore);
    }
  for (u32 thread = 0; thread < frames_.size(); ++thread)
    for (const StackFrame &frame : frames_[thread])
      if (auto in = by_machine.find(bodies_.type_of(frame.method_desc)); in != by_machine.end())
        for (Address semaphore : in->second)
          runners_[semaphore].insert(thread);
  for (TaskNumber task = 0; task < tasks_.count() && !by_machine.empty(); ++task)
    if (tasks_.is_pending(task) && tasks_.machine(task) && (tasks_.state(task) == -1 || is_released(task)))
      if (auto in = by_machine.find(place_of(task).method); in != by_machine.end())
        for (Address semaphore : in->second)
          if (runners_[semaphore].empty())
            runners_[semaphore].insert(no_thread);
}

// True for a call that waited, was given the permit, and is not run yet.
bool SemaphoreHolders::is_released(TaskNumber task) const {
  if (!is_waiting_method(task) || awaited_.contains(task))
    return false;
  const TaskNumber awaited = waits_.awaited_task(task);
  return awaited != no_task && !tasks_.is_pending(awaited);
}

u64 SemaphoreHolders::failed_calls(Address semaphore) const {
  std::set<u32> types; // of the boxes of its waiters
  for (const auto &[task, awaited] : awaited_)
    if (awaited == semaphore && tasks_.type(task).is_box)
      types.insert(tasks_.type_number(task));
  u64 out = 0;
  for (TaskNumber task = 0; task < tasks_.count() && !types.empty(); ++task)
    out += tasks_.status(task) == TaskStatus::faulted && types.contains(tasks_.type_number(task));
  return out;
}

std::optional<bool> SemaphoreHolders::is_given_back(Address semaphore) const {
  auto found = given_back_.find(semaphore);
  return found != given_back_.end() ? std::optional(found->second) : std::nullopt;
}

bool SemaphoreHolders::has_runners(Address semaphore, const std::function<bool(u32 thread)> &goes_on) const {
  auto found = runners_.find(semaphore);
  return found != runners_.end() && std::any_of(found->second.begin(), found->second.end(),
                                                [&](u32 thread) { return thread == no_thread || goes_on(thread); });
}

// Marks the collections to which an object leads in a few steps.
void SemaphoreHolders::look_from_outside(Address object) {
  std::set<Address> met = {object};
  std::vector<Address> now = {object};
  for (unsigned i = 0; i < most_steps_away && !now.empty(); ++i) {
    std::vector<Address> next;
    for (Address one : now)
      for (Address other : references_of(one)) {
        if (const auto target = targets_.find(other); target != targets_.end() && target->second != other)
          outsiders_.insert(target->second);
        if (met.size() < most_met && met.insert(other).second)
          next.push_back(other);
      }
    now = std::move(next);
  }
}

// Finds outsiders that run later: timers, tasks that have not begun, and work that is queued for the pool.
void SemaphoreHolders::look_for_outsiders(const Snapshot &snapshot) {
  if (std::ranges::none_of(semaphores_, [&](const auto &one) { return is_collection(one.first); }))
    return; // nobody waits for a collection
  for (const TypedObject &one : objects_that(snapshot, [&](Address type) {
         const std::string &name = runtime_.types().name(type);
         return name == "System.Threading.TimerQueueTimer" ||
                name.starts_with("System.Threading.QueueUserWorkItemCallback");
       })) {
    snapshot.watch().check();
    look_from_outside(one.address);
  }
  for (TaskNumber task = 0; task < tasks_.count(); ++task)
    if (tasks_.status(task) == TaskStatus::created || tasks_.status(task) == TaskStatus::waiting_to_run)
      look_from_outside(tasks_.address(task));
}

// Adds a holder. If it is known already, keeps the surer grounds.
void SemaphoreHolders::add(Address semaphore, SemaphoreHolder holder) {
  auto sureness = [](Grounds grounds) { return grounds == Grounds::stack ? 9 : static_cast<int>(grounds); };
  Holders &holders = semaphores_.find(semaphore)->second;
  auto [known, is_new] =
      known_.try_emplace({semaphore, holder.thread.value_or(no_thread), holder.task}, holders.size());
  if (is_new)
    holders.push_back(std::move(holder));
  else if (sureness(holder.grounds) < sureness(holders[known->second].grounds) ||
           (holder.through && is_collection(semaphore) && is_enumerator(holder.through)))
    holders[known->second] = std::move(holder);
}

std::vector<Address> SemaphoreHolders::references_of(Address object) {
  std::vector<Address> out;
  OpenedObject opened;
  if (object && reader_->open(object, opened) && !opened.type->references.empty() &&
      opened.size <= most_references * fields_.pointer_size())
    opened.type->references.for_each_slot(opened.bytes, opened.size, fields_.memory().format(),
                                          [&](const std::byte *slot) {
                                            if (Address target = load_pointer(slot, fields_.memory().format()))
                                              out.push_back(target);
                                          });
  return out;
}

// Returns the semaphores to which an object refers. References of a waiting method count for that method, not for
// objects that refer to it.
const std::vector<Address> &SemaphoreHolders::semaphores_in(Address object) {
  if (by_object_.size() >= most_semaphore_objects)
    by_object_.clear();
  auto [known, is_new] = by_object_.try_emplace(object);
  if (!is_new)
    return known->second;
  if (const TaskNumber task = tasks_.behind(object); task != no_task && is_waiting_method(task))
    return known->second;
  if (std::binary_search(static_arrays_->begin(), static_arrays_->end(), object))
    return known->second;
  for (Address one : references_of(object))
    if (auto target = targets_.find(one); target != targets_.end())
      known->second.push_back(target->second);
  return known->second;
}

} // namespace dnheap
