// SuspendedCalls: what the Continuation objects of runtime-async calls (.NET 11) say: which method goes on where, and
// what the innermost call of a chain waits for. A chain leads from RuntimeAsyncTask.m_stateObject to its leaf, a
// library's object that names what is awaited, and by Next from the innermost method to the outermost. A look-up of
// code per place of resumption, once; some reads per call. One thread.
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
  explicit SuspendedCalls(Snapshot &snapshot);

  // False: the runtime has no such calls.
  bool exist() const { return layout_.has_value(); }
  const ContinuationLayout &layout() const { return *layout_; }
  bool is_call(Address method_table) const { return layout_ && runtime_.is_continuation(method_table); }

  // The method that stands at its await of that number. Valid as long as this object.
  const MachineShape *shape_of(Address resume_info, i32 state);

  struct Chain {
    Address awaited = 0; // 0: nothing that is known
    Address first = 0;   // the innermost method's Continuation; 0: none
    // It awaits nothing any more: a SynchronizationContext or a TaskScheduler has it.
    bool is_in_context = false;
  };
  // `state_object`: RuntimeAsyncTask.m_stateObject.
  Chain chain_of(Address state_object);

  // What runs now of a task whose chain is being resumed: the innermost method, which has no Continuation meanwhile.
  struct Running {
    Address task = 0;   // the RuntimeAsyncTask
    Address caller = 0; // the Continuation of the method that awaits the one that runs; 0: nobody does
    u64 thread = 0;     // the operating system's id
    MachineShape shape; // of the method, which has no state
  };
  // Walks the stacks of all threads.
  std::vector<Running> find_running();

  // The method whose pending call is kept in that object: of a call its own, of a RuntimeAsyncTask, and of the leaf of
  // its chain, the outermost of its calls. Empty: it is none of these, or that is not known.
  std::string method_of(Address object);
  // The one of a RuntimeAsyncTask's calls that goes on first; empty: it is no such task, or that is not known.
  std::string next_method_of(Address task);

  // What the method of a call calls the variable that lies so many bytes into its Continuation, by its metadata and the
  // symbols beside its module: "order"; "order.0x8" inside of a struct. Empty: none of its variables lies there, or
  // that is not known.
  std::string variable_at(Address call, u64 offset);
  // The same for all calls that are kept in objects of that type: "variable order of Shop.Cart.Pay", "a variable of
  // Shop.Cart.Pay" where the target does not say which; empty: of several methods, or not known. The first time a look
  // at the type of each object.
  std::string variable_of_all(Address method_table, u64 offset);

  // How many places of resumption lead to no method, by why.
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

  Snapshot &snapshot_;
  const Runtime &runtime_;
  const std::optional<ContinuationLayout> layout_;
  FieldReader fields_;
  const BaseTypes bases_;
  std::map<std::pair<Address, i32>, const MachineShape *> by_place_;
  std::map<std::pair<std::string, i32>, MachineShape> shapes_; // code compiled anew is the same method
  std::map<Address, bool> contexts_;                           // by type
  std::map<std::string, u64> unknown_;
  std::unique_ptr<SourceLines> symbols_;                    // once a variable is asked for
  std::map<Address, std::vector<SavedVariable>> variables_; // by where the call goes on
  std::optional<std::map<Address, std::set<const MachineShape *>>> shapes_of_types_;
};

} // namespace dnheap
