// StackSamples: the threads of a process at many moments: their stacks, their waits, and who had the locks that others
// waited for. Costs what following all managed stacks costs, per sample; keeps each different stack once, as numbers of
// methods, and stops keeping new ones at a limit. Not for several threads at once.
#pragma once
#include "report/table.h"
#include "runtime/facts/thread_data.h"
#include "snapshot/snapshot.h"
#include "target/system_thread.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace dnheap {

struct WalkedStack;
struct StackFrame;

class StackSamples {
public:
  // Adds one sample. `system`: what the system said of the process's threads just before. `seconds`: since the first
  // sample.
  void add(const Snapshot &snapshot, const std::map<u64, SystemThread> &system, double seconds);

  u64 samples() const { return samples_; }
  // Returns what stands out, in sentences: where threads run, and which locks they wait for, with the holder's place.
  std::vector<std::string> findings() const;
  // `threads`: one row for each thread: how often it was seen, its processor time, and where it was most often.
  report::Table threads_table() const;
  // `locks`: one row for each lock that was waited for.
  report::Table locks_table() const;
  // `stacks`: each different stack with the number of times it was seen, for data formats.
  report::Table stacks_table() const;
  // `running` and `waiting`: the same as trees, for people.
  std::vector<report::Table> tree_tables() const;
  bool has_locks() const { return !locks_.empty(); }
  // What is unknown, and in how many samples.
  const std::map<std::string, u64> &problems() const { return problems_; }

private:
  using Counts = std::map<std::string, u64>; // by text: samples
  struct ThreadSeen {
    std::string name;
    bool is_managed = false;
    u64 samples = 0, running = 0;
    Counts places, running_places, waits;
    u64 first_ticks = 0, last_ticks = 0; // of processor time
    double first = 0, last = 0;          // seconds at which these were read
    // Returns its share of one processor; nullopt if it was seen once only, or the system does not say.
    std::optional<double> processor() const;
  };
  struct LockSeen {
    std::string text;
    u64 samples = 0; // in which threads waited for the lock
    u64 waiters = 0; // sum over all samples
    u64 most = 0;    // maximum in one sample
    Counts holders;  // "thread 4711 (worker) in Shop.Cart.Pay"
  };
  struct StackSeen {
    u64 waiting = 0, running = 0;
  };

  void add_stack(const std::vector<u32> &methods, bool runs);
  void note_ticks(const std::map<u64, SystemThread> &system, double seconds);
  u32 number_of(const std::string &method);
  std::vector<std::string> methods_of(const std::vector<u32> &stack) const;

  u64 samples_ = 0;
  u64 running_ = 0; // threads of all samples that ran
  std::vector<std::string> methods_;
  std::unordered_map<std::string, u32> numbers_;
  std::map<std::vector<u32>, StackSeen> stacks_;              // methods, innermost first
  std::map<u64, ThreadSeen> threads_;                         // by OS id
  std::map<std::pair<std::string, Address>, LockSeen> locks_; // by text and object
  Counts running_in_;                                         // the program's innermost method of threads that ran
  u64 halted_ = 0;                                            // samples in which all threads were stopped by a signal
  std::map<std::string, u64> problems_;
};

} // namespace dnheap
