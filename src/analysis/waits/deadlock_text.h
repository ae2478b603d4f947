// Deadlocks in words: who waits for whom in a circle, with threads by number, name and managed id, and how sure that
// is. For the verbs that report waits. Reads names when it is asked for them. Not for several threads at once.
#pragma once
#include "analysis/threads/thread_names.h"
#include "analysis/waits/sureness.h"
#include "analysis/waits/thread_waits.h"

#include <optional>

namespace dnheap {

class DeadlockText {
public:
  // All arguments must outlive this object.
  DeadlockText(const Runtime &runtime, Tasks &tasks, const LockSet &locks)
      : runtime_(runtime), tasks_(tasks), locks_(locks) {}

  using Circle = std::vector<WaitingOne>;
  // The members before and after one, all around the circle.
  static const WaitingOne &one_before(const Circle &circle, u64 i) {
    return circle[(i + circle.size() - 1) % circle.size()];
  }
  static const WaitingOne &one_after(const Circle &circle, u64 i) { return circle[(i + 1) % circle.size()]; }
  // True for a thread that waits for the end of a thread.
  static bool waits_for_an_end(const WaitingOne &one) {
    return one.thread && !one.waits_for && !one.is_for_finalizers && !one.is_for_callback;
  }
  // Returns the weakest grounds of its members.
  static Grounds grounds_of(const Circle &circle);
  // True if one of its members waits for a limited time only.
  static bool ends_by_itself(const Circle &circle) { return has_any(circle, &WaitingOne::has_limit); }
  // True if it is unknown whether one of its members waits for a limited time only.
  static bool is_limit_unknown(const Circle &circle) { return has_any(circle, &WaitingOne::is_limit_unknown); }
  Sureness sureness_of(const Circle &circle) const;
  // "; 2 DEADLOCKS; 1 PROBABLE DEADLOCK"; empty: there are none.
  std::string counts(const std::vector<Circle> &circles) const;
  // "thread 4711 (Buyer, managed 7) waits for A 0x…, which thread 4712 (Seller, managed 8) holds; …"
  std::string words(const Circle &circle);
  // "threads Buyer and Seller wait for each other": without addresses.
  std::string brief(const Circle &circle);

  // "4711", or the address of a thread that has no number.
  std::string thread_number(u32 thread) const;
  std::string name(u32 thread) const; // empty: the thread has none
  // How sentences call threads. Reads the names of all threads once.
  const ThreadNames &names();
  // "thread 4711 (Buyer, managed 7)"
  std::string thread(u32 thread) const;
  // Returns the method of a task in words, "Shop.Cart.Pay", "a lambda in Run of Shop.Program"; empty: unknown, or part
  // of .NET's own tasks.
  std::string task_method(Address task) { return method_in_source(tasks_.behind(task)); }
  std::string object(Address object); // "Shop.Cart 0x…", "task 0x… (Shop.Cart.Pay)"
  // Returns the type's name; for a MethodTable whose static constructor threads wait for, the name of that type.
  std::string type_name(Address object) const;

private:
  std::string who(const WaitingOne &one) { return one.thread ? thread(*one.thread) : object(one.task); }
  std::string method_of(TaskNumber task);
  std::string method_in_source(TaskNumber task);
  std::vector<std::string> parties(const Circle &circle);
  bool has(const Circle &circle, LockKind kind) const;
  bool has_collection(const Circle &circle) const;
  static bool has_any(const Circle &circle, bool WaitingOne::*that);

  const Runtime &runtime_;
  Tasks &tasks_;
  const LockSet &locks_;
  std::optional<ThreadNames> names_;
};

} // namespace dnheap
