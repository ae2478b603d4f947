// SuspendedCalls: reads the Continuation objects of runtime-async calls (.NET 11): which method resumes where, and what
// the innermost call of a chain awaits. A chain leads from RuntimeAsyncTask.m_stateObject to its leaf, a library object
// that names what is awaited, and by Next from the innermost method to the outermost. One look-up of code per place of
// resumption; some reads per call. Not for several threads at once.
#pragma once
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/state_machines.h"
#include "objects/references.h"
#include "snapshot/source_lines.h"

#include <map>
#include <memory>
#include <set>

namespace dnheap {

class Snapshot;

class SuspendedCalls {
public:
  explicit SuspendedCalls(const Snapshot &snapshot);

  // False if the runtime has no such calls.
  bool exist() const { return layout_.has_value(); }
  const ContinuationLayout &layout() const { return *layout_; }
  bool is_call(Address method_table) const { return layout_ && runtime_.is_continuation(method_table); }

  // Returns the method that is suspended at its await number `state`; null if unknown. Valid as long as this object.
  const MachineShape *shape_of(Address resume_info, i32 state);

  struct Chain {
    Address awaited = 0; // 0: unknown
    Address first = 0;   // the innermost method's Continuation; 0: none
    // True if it awaits nothing any more, and a SynchronizationContext or a TaskScheduler is to run it.
    bool is_in_context = false;
  };
  // `state_object`: RuntimeAsyncTask.m_stateObject.
  Chain chain_of(Address state_object);

  // The innermost method of a task whose chain is being resumed: it runs, and has no Continuation while it does.
  struct Running {
    Address task = 0;   // the RuntimeAsyncTask
    Address caller = 0; // the Continuation of the method that awaits the running one; 0: none
    u64 thread = 0;     // the operating system's id
    MachineShape shape; // of the running method, which has no state
  };
  // Returns the running methods of all threads; walks all stacks.
  std::vector<Running> find_running();

  // Returns the method whose pending call the object holds: for a call its own method; for a RuntimeAsyncTask, and for
  // the leaf of its chain, the method of the outermost call. Empty if the object is none of these, or the method is
  // unknown.
  std::string method_of(Address object);
  // Returns which method of a RuntimeAsyncTask's calls resumes first; empty if the object is not a RuntimeAsyncTask, or
  // the method is unknown.
  std::string next_method_of(Address task);

  // Returns the name of the variable at that offset in a call's Continuation, from the metadata and the symbols beside
  // the method's module: "order", or "order.0x8" inside of a struct. Empty if there is no variable, or its name is
  // unknown.
  std::string variable_at(Address call, u64 offset);
  // The same for all calls whose objects have that type: "variable order of Shop.Cart.Pay", or "a variable of
  // Shop.Cart.Pay" if the variable's name is unknown; empty if the calls are of several methods, or unknown. Looks at
  // the type of each object the first time.
  std::string variable_of_all(Address method_table, u64 offset);

  // Returns how many places of resumption lead to no method, by reason.
  const std::map<std::string, u64> &unknown() const { return unknown_; }

private:
  const MachineShape *shape_of_call(Address call);
  std::string method_of_call(Address call);
  std::string variable_at(const ResumePoint &point, u64 offset);
  const std::vector<SavedVariable> &variables_of(const ResumePoint &point);
  void find_shapes_of_types();
  std::optional<Running> running_in(std::span<const StackFrame> frames, u64 dispatcher);
  MachineShape make_shape(const ResumePoint &point);
  Address awaiter_in(Address call);
  bool goes_on_in_context(Address call);
  bool is_context(Address method_table);

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  const std::optional<ContinuationLayout> layout_;
  FieldReader fields_;
  const BaseTypes bases_;
  std::map<std::pair<Address, i32>, const MachineShape *> by_place_;
  // By name, because a recompiled method is still the same method.
  std::map<std::pair<std::string, i32>, MachineShape> shapes_;
  std::map<Address, bool> contexts_; // by type
  std::map<std::string, u64> unknown_;
  std::unique_ptr<SourceLines> symbols_;                    // made when a variable is first asked for
  std::map<Address, std::vector<SavedVariable>> variables_; // by the place where the call resumes
  std::optional<std::map<Address, std::set<const MachineShape *>>> shapes_of_types_;
};

} // namespace dnheap
