#include "analysis/waits/semaphore_holders.h"

#include "objects/roots.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_references = 1024;           // of one object that are looked at
constexpr u64 most_semaphore_objects = 1 << 22; // whose references are remembered
constexpr u32 no_thread = ~u32{0};
constexpr const char *waiting_methods = "System.Threading.SemaphoreSlim.Wait";

// "Shop.Cart" of "Shop.Cart.Pay", "Shop.Cart+<>c.<Pay>b__0" and "Shop.Cart..ctor": methods that a compiler makes of one
// stand for it. Empty: it has no type.
std::string_view type_of_method(std::string_view method) {
  method = method.substr(0, method.find('('));
  if (const u64 made = method.find("+<"); made != method.npos)
    return method.substr(0, made);
  u64 depth = 0, last = 0;
  for (u64 i = 0; i < method.size(); ++i) {
    depth += method[i] == '<';
    depth -= method[i] == '>' && depth;
    if (method[i] == '.' && !depth && i && method[i - 1] != '.')
      last = i;
  }
  return method.substr(0, last);
}

// Whoever starts a program takes, as a rule, nothing by itself.
bool is_entry_point(std::string_view method) {
  const std::string_view name = method.substr(std::min(type_of_method(method).size() + 1, method.size()));
  return name == "Main" || name == "<Main>" || name == "<Main>$";
}

} // namespace

const char *name_of(Grounds grounds) {
  constexpr const char *names[] = {"runtime", "stack", "reference", "reference_by_object", "static_field"};
  return names[static_cast<u8>(grounds)];
}

SemaphoreHolders::SemaphoreHolders(Snapshot &snapshot, const LockSet &locks, const Tasks &tasks)
    : tasks_(tasks), fields_(snapshot.runtime()) {
  for (const LockObject &lock : locks.locks)
    if ((lock.kind == LockKind::semaphore || lock.kind == LockKind::mutex) && lock.is_held && lock.waiters &&
        !lock.owner)
      semaphores_[lock.object];
  if (semaphores_.empty())
    return;
  reader_.emplace(snapshot.references());
  look_at_threads(snapshot, locks);
  look_at_methods(snapshot.watch());
  look_at_statics(snapshot, locks);
}

void SemaphoreHolders::look_at_threads(Snapshot &snapshot, const LockSet &locks) {
  const RootSet &roots = snapshot.roots();
  static_arrays_ = &roots.holders;
  for (const Root &root : roots.roots) {
    const RootThread *of = roots.thread(root);
    if (!of || !of->os_id || !is_on_stack(root.kind))
      continue;
    const std::optional<u32> thread = locks.thread_with_os_id(*of->os_id);
    if (!thread)
      continue;
    if (semaphores_.contains(root.object))
      add(root.object,
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
      if (semaphores_.contains(object))
        add(object, {{}, task, Grounds::reference, 0, ""});
      else
        for (Address semaphore : semaphores_in(object))
          add(semaphore, {{}, task, Grounds::reference_by_object, object, ""});
  }
}

// A method of the type that has the semaphore in a static field may have taken it, as long as it has not returned.
void SemaphoreHolders::look_at_statics(Snapshot &snapshot, const LockSet &locks) {
  const RootSet &roots = snapshot.roots();
  std::map<std::string, std::vector<Address>, std::less<>> by_type;
  for (const Root &root : roots.roots)
    if (root.kind == RootKind::static_field && semaphores_.contains(root.object))
      if (const std::string_view type = type_of_method(roots.name(root)); !type.empty())
        by_type[std::string(type)].push_back(root.object);
  if (by_type.empty())
    return;
  auto add_all = [&](std::string_view method, std::optional<u32> thread, TaskNumber task) {
    if (method.find("<.cctor>") != method.npos)
      return; // a lambda that initializes another field
    if (auto of = by_type.find(type_of_method(method)); of != by_type.end())
      for (Address semaphore : of->second)
        add(semaphore, {thread, task, Grounds::static_field, 0, std::string(method)});
  };
  const Runtime &runtime = snapshot.runtime();
  for (u32 thread = 0; thread < locks.threads.size(); ++thread) {
    snapshot.watch().check();
    if (locks.threads[thread].os_id.value_or(0) == 0)
      continue;
    bool waits = false;
    for (const StackFrame &frame : runtime.walk_stack(locks.threads[thread]).frames) {
      if (frame.kind != StackFrame::Kind::method || frame.is_unwound || !frame.method_desc)
        continue;
      const std::string method = runtime.method_text(frame.method_desc).qualified;
      waits |= method.starts_with(waiting_methods);
      if (waits || !is_entry_point(method))
        add_all(method, thread, no_task);
    }
  }
  for (TaskNumber task = 0; task < tasks_.count(); ++task)
    if (is_waiting_method(task) && tasks_.machine(task) && !is_entry_point(tasks_.machine(task)->method))
      add_all(tasks_.machine(task)->method, {}, task);
}

// Of several ways the surest.
void SemaphoreHolders::add(Address semaphore, SemaphoreHolder holder) {
  auto sureness = [](Grounds grounds) { return grounds == Grounds::stack ? 9 : static_cast<int>(grounds); };
  Holders &holders = semaphores_.find(semaphore)->second;
  auto [known, is_new] =
      known_.try_emplace({semaphore, holder.thread.value_or(no_thread), holder.task}, holders.size());
  if (is_new)
    holders.push_back(std::move(holder));
  else if (sureness(holder.grounds) < sureness(holders[known->second].grounds))
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

// What a method that waits refers to is that method's, whoever refers to the method.
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
    if (semaphores_.contains(one))
      known->second.push_back(one);
  return known->second;
}

} // namespace dnheap
