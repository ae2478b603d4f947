#include "runtime/nativeaot/framework_shapes.h"

#include <algorithm>

namespace dnheap {

namespace {

// Fields in the order of declaration, each with its kind: a reference (&), a number as wide as a pointer (*) or of so
// many bytes (8, 4, 2, 1), a struct of one reference ({&}) or of one number ({*}), the type's generic argument ({T1}),
// a struct of so many bytes without references, none of its fields wider than four bytes (b124); behind that one,
// numbers of four bytes by their place in it (+64). Rows of one type differ between versions. dotnet/runtime
// src/libraries/System.Private.CoreLib, src/coreclr/nativeaot/System.Private.CoreLib.
struct Row {
  std::string_view name_space;
  std::vector<std::string_view> levels;
  std::string_view fields;
};

const std::vector<Row> &rows() {
  constexpr std::string_view threading = "System.Threading", tasks = "System.Threading.Tasks",
                             services = "System.Runtime.CompilerServices";
  static const std::vector<Row> all = {
      {"System",
       {"Exception"},
       "_message:& _data:& _innerException:& _helpURL:& _source:& _HResult:4 _stackTraceString:& "
       "_remoteStackTraceString:& _corDbgStackTrace:& _idxFirstFreeStackTraceEntry:4"},
      {"System", {"AggregateException"}, "_innerExceptions:& _rocView:&"},
      {"System", {"MarshalByRefObject"}, ""},
      {"System.Runtime.ConstrainedExecution", {"CriticalFinalizerObject"}, ""},
      {threading,
       {"Thread"},
       "_executionContext:& _synchronizationContext:& _threadState:4 _priority:4 _managedThreadId:& _name:& "
       "_startHelper:& _startException:& _lock:& _mayNeedResetForThreadPool:1 _stopped:& _waitInfo:&"},
      {threading, {"ManagedThreadId"}, "_managedThreadId:4"},
      {threading,
       {"Lock"},
       "_owningThreadId:4 _state:4 _recursionCount:4 _spinCount:2 _waiterStartTimeMs:2 _waitEventOrCondition:&"},
      {threading, {"Condition"}, "_lock:& _waitersHead:& _waitersTail:&"},
      {threading, {"Condition"}, "_lock:& _waitEvent:& _waitersHead:& _waitersTail:&"},
      {threading, {"Condition", "Waiter"}, "next:& prev:& ev:& signalled:1"},
      {threading, {"Condition", "Waiter"}, "next:& prev:& ev:&"},
      {threading, {"WaitHandle"}, "_waitHandle:&"},
      {"System.Runtime.InteropServices", {"SafeHandle"}, "handle:* _state:4 _ownsHandle:1 _fullyInitialized:1"},
      {threading,
       {"WaitSubsystem", "ThreadWaitInfo"},
       "_thread:& _waitMonitor:{*} _waitSignalState:1 _waitedObjectIndexThatSatisfiedWait:4 _isWaitForAll:1 "
       "_waitedCount:4 _waitedObjects:& _waitedListNodes:& _isPendingInterrupt:1 _lockedMutexesHead:&"},
      {threading,
       {"WaitSubsystem", "ThreadWaitInfo"},
       "_thread:& _waitMonitor:{*} _waitSignalState:1 _waitedObjectIndexThatSatisfiedWait:4 _isWaitForAll:1 "
       "_waitedCount:4 _waitedObjects:& _waitedListNodes:& _isPendingInterrupt:1 _lockedMutexesHead:& "
       "_namedMutexOwnershipChain:&"},
      {threading,
       {"WaitSubsystem", "WaitableObject"},
       "_type:1 _signalCount:4 _maximumSignalCount:4 _referenceCount:4 _name:& _ownershipInfo:& _waitersHead:& "
       "_waitersTail:&"},
      {threading,
       {"WaitSubsystem", "ThreadWaitInfo", "WaitedListNode"},
       "_waitInfo:& _waitedObjectIndex:4 _previous:& _next:&"},
      {threading, {"ManualResetEventSlim"}, "m_lock:& m_eventObj:& m_combinedState:4"},
      {threading,
       {"SemaphoreSlim"},
       "m_currentCount:4 m_maxCount:4 m_waitCount:4 m_countOfWaitersPulsedToWake:4 m_lockObjAndDisposed:& "
       "m_waitHandle:& m_asyncHead:& m_asyncTail:&"},
      {threading, {"SemaphoreSlim", "TaskNode"}, "Prev:& Next:&"},
      {threading,
       {"TimerQueueTimer"},
       "_associatedTimerQueue:& _next:& _prev:& _short:1 _startTicks:8 _dueTime:4 _period:4 _timerCallback:& "
       "_state:& _executionContext:& _callbacksRunning:4 _canceled:1 _everQueued:1 _notifyWhenNoCallbacksRunning:&"},
      {threading, {"Timer"}, "_timer:&"},
      {threading, {"TimerHolder"}, "_timer:&"},
      {threading, {"CancellationTokenSource"}, "_state:4 _disposed:1 _timer:& _kernelEvent:& _registrations:&"},
      {tasks,
       {"Task"},
       "m_taskId:4 m_action:& m_stateObject:& m_taskScheduler:& m_stateFlags:4 m_continuationObject:& "
       "m_contingentProperties:&"},
      {tasks,
       {"Task", "ContingentProperties"},
       "m_capturedContext:& m_completionEvent:& m_exceptionsHolder:& m_cancellationToken:{&} "
       "m_cancellationRegistration:& m_internalCancellationRequested:4 m_completionCountdown:4 "
       "m_exceptionalChildren:& m_parent:&"},
      {tasks, {"Task", "DelayPromise"}, "_timer:&"},
      {tasks, {"TaskExceptionHolder"}, "m_task:& m_faultExceptions:& m_cancellationException:& m_isHandled:1"},
      {tasks, {"TaskContinuation"}, ""},
      {tasks, {"AwaitTaskContinuation"}, "m_capturedContext:& m_action:& m_continuationId:4"},
      {tasks, {"ContinueWithTaskContinuation"}, "m_task:& m_options:4 m_taskScheduler:&"},
      {services, {"AsyncTaskMethodBuilder`1", "AsyncStateMachineBox`1"}, "StateMachine:{T1}"},
      {services,
       {"AsyncTaskMethodBuilder`1", "AsyncStateMachineBox`1"},
       "_moveNextAction:& StateMachine:{T1} Context:&"},
      {services, {"Continuation"}, "Next:& ResumeInfo:* Flags:4 State:4"},
      {services, {"RuntimeAsyncTaskContinuation"}, "Task:& RuntimeAsyncTask:& _getResult:* ContinuationContext:&"},
      {services,
       {"AsyncHelpers", "ValueTaskSourceContinuation"},
       "Source:& Token:2 OnCompletedValueTaskSource:* _getResult:*"},
      {"System.Collections.Generic", {"List`1"}, "_items:& _size:4 _version:4"},
      {"System.Collections.Concurrent", {"ConcurrentQueue`1"}, "_crossSegmentLock:& _tail:& _head:&"},
      // Lines of the processor's cache, of 64 bytes or, on arm64, of 128, hold one number each.
      {"System.Collections.Concurrent",
       {"ConcurrentQueueSegment`1"},
       "_slots:& _slotsMask:4 _headAndTail:b192 _headAndTail.Head:+64 _headAndTail.Tail:+128 "
       "_preservedForObservation:1 _frozenForEnqueues:1 _nextSegment:&"},
      {"System.Collections.Concurrent",
       {"ConcurrentQueueSegment`1"},
       "_slots:& _slotsMask:4 _headAndTail:b384 _headAndTail.Head:+128 _headAndTail.Tail:+256 "
       "_preservedForObservation:1 _frozenForEnqueues:1 _nextSegment:&"},
      {threading,
       {"ThreadPoolWorkQueue"},
       "_loggingEnabled:1 _dispatchNormalPriorityWorkFirst:1 _mayHaveHighPriorityWorkItems:1 workItems:& "
       "highPriorityWorkItems:& _assignableWorkItemQueues:& _queueAssignmentLock:& "
       "_assignedWorkItemQueueThreadCounts:& _separated:b124"},
      {threading,
       {"ThreadPoolWorkQueue", "WorkStealingQueue"},
       "m_array:& m_mask:4 m_headIndex:4 m_tailIndex:4 m_foreignLock:4"},
  };
  return all;
}

constexpr unsigned most_parents = 64;
constexpr u64 most_words = 1 << 16; // searched words of an object

// One field of a row.
struct Declared {
  std::string_view name, kind;
};

u64 number_in(std::string_view digits) {
  u64 out = 0;
  for (const char digit : digits)
    out = 10 * out + static_cast<u64>(digit - '0');
  return out;
}

std::vector<Declared> declared_in(std::string_view row) {
  std::vector<Declared> out;
  while (!row.empty()) {
    const std::size_t space = row.find(' '), colon = row.find(':');
    out.push_back({row.substr(0, colon), row.substr(colon + 1, space == row.npos ? space : space - colon - 1)});
    row = space == row.npos ? std::string_view() : row.substr(space + 1);
  }
  return out;
}

} // namespace

// The compiler's layout of a class: references first, then numbers, the widest first, then structs; each kind in the
// order of declaration. ILCompiler: Common/TypeSystem/Common/MetadataFieldLayoutAlgorithm.cs, ComputeAutoFieldLayout.
class FrameworkShapes::Layout {
public:
  Layout(u64 pointer_size, u64 from) : p_(pointer_size), at_(from) {}

  void add_reference(std::string_view name) { references_.push_back({name, {}, p_, 0}); }
  void add_number(std::string_view name, u64 size) { numbers_.push_back({name, {}, size, 0}); }
  // `references`: by word.
  void add_struct(std::string_view name, u64 size, std::vector<bool> references, Address type) {
    structs_.push_back({name, std::move(references), size, type});
  }
  void add_bytes(std::string_view name, u64 size) { structs_.push_back({name, {}, size, 0, 4}); }
  // `at`: in the struct that was added last.
  void add_inside(std::string_view name, u64 at) {
    if (!structs_.empty())
      structs_.back().inside.emplace_back(name, at);
  }

  bool run() {
    if (at_ % p_ && !(references_.empty() && numbers_.empty() && structs_.empty()))
      return false; // small fields fill the gap; their order is unknown here
    if (p_ < 8)
      place_numbers(8);
    for (const Part &part : references_)
      place(part, ElementType::Class);
    for (u64 size : {u64{8}, u64{4}, u64{2}, u64{1}})
      if (p_ >= 8 || size < 8)
        place_numbers(size);
    for (const Part &part : structs_) {
      if (part.alignment) {
        at_ = align_up(at_, part.alignment);
        place(part, ElementType::ValueType);
        continue;
      }
      const bool holds_references =
          std::find(part.references.begin(), part.references.end(), true) != part.references.end();
      if (at_ % p_ && !holds_references && part.size % p_)
        return false; // its alignment is unknown
      at_ = align_up(at_, p_);
      place(part, ElementType::ValueType);
    }
    return true;
  }

  std::vector<InstanceField> fields;
  std::vector<bool> references; // by word, up to the end of the fields
  u64 end() const { return at_; }

private:
  struct Part {
    std::string_view name;
    std::vector<bool> references;
    u64 size;
    Address type;
    u64 alignment = 0;                                         // 0: that of a pointer
    std::vector<std::pair<std::string_view, u64>> inside = {}; // numbers of four bytes
  };

  void place_numbers(u64 size) {
    const ElementType type = size == 8   ? ElementType::I8
                             : size == 4 ? ElementType::I4
                             : size == 2 ? ElementType::I2
                                         : ElementType::U1;
    for (const Part &part : numbers_)
      if (part.size == size)
        place(part, type);
  }

  void place(const Part &part, ElementType type) {
    InstanceField field;
    field.name = part.name;
    field.type = type;
    field.offset = at_;
    field.size = part.size;
    field.method_table = part.type;
    fields.push_back(std::move(field));
    references.resize(std::max<u64>(references.size(), (at_ + part.size + p_ - 1) / p_));
    if (type == ElementType::Class)
      references[at_ / p_] = true;
    for (u64 i = 0; i < part.references.size() && at_ / p_ + i < references.size(); ++i)
      references[at_ / p_ + i] = part.references[i];
    for (const auto &[name, at] : part.inside) {
      InstanceField number;
      number.name = name;
      number.type = ElementType::I4;
      number.offset = at_ + at;
      number.size = 4;
      fields.push_back(std::move(number));
    }
    at_ += part.size;
  }

  const u64 p_;
  u64 at_;
  std::vector<Part> references_, numbers_, structs_;
};

FrameworkShapes::FrameworkShapes(const Memory &memory, const ContractDescriptor &descriptor, RuntimeTypeSystemN1 &types)
    : descriptor_(&descriptor), types_(&types), p_(memory.format().pointer_size) {}

// The base size includes an object's header, which lies in front of it.
u64 FrameworkShapes::capacity_of(Address type) const {
  const std::optional<ObjectLayout> layout = types_->object_layout(type);
  return layout && !layout->component_size && layout->base_size <= most_words * p_ ? layout->base_size - p_ : 0;
}

std::vector<bool> FrameworkShapes::references_of(Address type) const {
  if (const auto known = struct_references_.find(type); known != struct_references_.end())
    return known->second;
  std::vector<bool> out(capacity_of(type) / p_ + 1);
  for (const auto &[offset, size] : types_->reference_series(type))
    for (u64 at = offset; at < offset + size && at / p_ < out.size(); at += p_)
      out[at / p_] = true;
  return out;
}

std::optional<FrameworkShapes::Placed> FrameworkShapes::place(std::string_view declared, End from, Address type,
                                                              const std::vector<bool> &references, bool is_last) {
  const u64 capacity = capacity_of(type);
  Layout layout(p_, from.at);
  for (const Declared &field : declared_in(declared)) {
    if (field.kind == "&") {
      layout.add_reference(field.name);
    } else if (field.kind == "{&}" || field.kind == "{*}") {
      layout.add_struct(field.name, p_, {field.kind == "{&}"}, 0);
    } else if (field.kind[0] == 'b') {
      layout.add_bytes(field.name, number_in(field.kind.substr(1)));
    } else if (field.kind[0] == '+') {
      layout.add_inside(field.name, number_in(field.kind.substr(1)));
    } else if (field.kind == "{T1}") {
      const std::vector<Address> arguments = types_->arguments_of(type);
      const Address argument = arguments.size() > 1 ? arguments[1] : 0;
      const u64 size = argument ? capacity_of(argument) : 0;
      if (size <= p_)
        return std::nullopt;
      if (!types_->is_value_type(argument).value_or(true)) {
        layout.add_reference(field.name);
        continue;
      }
      std::vector<bool> inside = references_of(argument);
      inside.erase(inside.begin());
      layout.add_struct(field.name, size - p_, std::move(inside), argument);
    } else {
      layout.add_number(field.name, field.kind == "*" ? p_ : static_cast<u64>(field.kind[0] - '0'));
    }
  }
  if (!layout.run() || std::max(align_up(layout.end(), p_), 2 * p_) != capacity)
    return std::nullopt;
  layout.references.resize(capacity / p_);
  auto refers = [&](u64 word) { return word < references.size() && references[word]; };
  std::vector<bool> is_open(capacity / p_); // words in a struct whose own type does not list its references
  for (const InstanceField &field : layout.fields)
    if (field.method_table && types_->reference_series(field.method_table).empty())
      for (u64 word = field.offset / p_; word < std::min((field.offset + *field.size) / p_, capacity / p_); ++word)
        is_open[word] = true;
  for (u64 word = from.at / p_; word < (is_last ? capacity : align_up(layout.end(), p_)) / p_; ++word)
    if (!is_open[word] && layout.references[word] != refers(word))
      return std::nullopt;
  for (const InstanceField &field : layout.fields)
    if (field.method_table && is_open[field.offset / p_])
      learn_struct(field, references);
  return Placed{std::move(layout.fields), layout.end()};
}

void FrameworkShapes::learn_struct(const InstanceField &field, const std::vector<bool> &references) {
  std::vector<bool> inside(1); // word 0 is the MethodTable of a box
  for (u64 word = field.offset / p_; word < (field.offset + *field.size) / p_; ++word)
    inside.push_back(word < references.size() && references[word]);
  struct_references_.try_emplace(field.method_table, std::move(inside));
}

// Finds the state of a state machine. The compiler declares it first, so it is the first number of four bytes, behind
// all references that are not in structs. That is certain only if no wider number can lie in front of it.
std::optional<InstanceField> FrameworkShapes::state_of_machine(Address struct_type) {
  const std::vector<bool> references = references_of(struct_type);
  const u64 words = capacity_of(struct_type) / p_;
  u64 gap = 1; // the first word behind the MethodTable of a box
  while (gap < words && references[gap])
    ++gap;
  if (p_ < 8 || gap >= words || (gap + 1 < words && !references[gap + 1]))
    return std::nullopt;
  InstanceField out;
  out.name = "<>1__state";
  out.type = ElementType::I4;
  out.offset = gap * p_;
  out.size = 4;
  out.declaring_type = struct_type;
  return out;
}

// ILCompiler publishes offsets under the types' full names. For a field that is not a reference, the size is not
// published.
void FrameworkShapes::add_published(Address type, const std::vector<bool> &references, std::vector<InstanceField> &to) {
  const DataType *published = descriptor_->find_type(types_->name(type));
  if (!published)
    return;
  for (const auto &[name, at] : published->fields) {
    const u64 offset = static_cast<u64>(at.offset), word = offset / p_;
    if (at.offset < static_cast<i64>(p_) || offset >= capacity_of(type))
      continue;
    InstanceField field;
    field.name = name;
    field.type =
        word < references.size() && references[word] && offset % p_ == 0 ? ElementType::Class : ElementType::Void;
    field.offset = offset;
    field.declaring_type = type;
    const auto known =
        std::find_if(to.begin(), to.end(), [&](const InstanceField &other) { return other.name == name; });
    if (known == to.end())
      to.push_back(std::move(field));
    else if (known->offset != offset)
      *known = std::move(field);
  }
}

std::vector<InstanceField> FrameworkShapes::fields(Address mt) {
  std::vector<InstanceField> out;
  const std::optional<ObjectLayout> whole = types_->object_layout(mt);
  if (!whole || whole->component_size)
    return out;
  const std::optional<NativeHashing> hashing = types_->hashing(mt);
  if (!hashing)
    return out;
  if (!is_hashed_)
    for (const Row &row : rows())
      by_hash_.emplace(native_type_hash({std::string(row.name_space), row.levels}, *hashing), row.fields);
  is_hashed_ = true;
  if (types_->is_value_type(mt).value_or(false)) {
    if (types_->name(mt).find(">d") != std::string::npos)
      if (std::optional<InstanceField> state = state_of_machine(mt))
        out.push_back(std::move(*state));
    return out;
  }
  std::vector<Address> chain; // from the root's child to the type itself
  for (Address type = mt; type && chain.size() < most_parents; type = types_->parent_of(type))
    chain.push_back(type);
  if (chain.size() == most_parents || chain.empty())
    return out;
  chain.pop_back();
  std::reverse(chain.begin(), chain.end());
  const std::vector<bool> references = references_of(mt);
  End end{p_, true};
  for (const Address type : chain) {
    const u64 capacity = capacity_of(type);
    if (!capacity || capacity < end.at)
      return {};
    const auto [first, last] = by_hash_.equal_range(types_->definition_hash(type).value_or(0));
    std::vector<Placed> fitting;
    for (auto row = first; row != last; ++row)
      if (std::optional<Placed> placed = place(row->second, end, type, references, type == mt))
        fitting.push_back(std::move(*placed));
    unknown_ += first != last && fitting.size() != 1;
    if (fitting.size() == 1) {
      for (InstanceField &field : fitting[0].fields) {
        field.declaring_type = type;
        out.push_back(std::move(field));
      }
      end = {fitting[0].end, true};
    } else if (!end.is_exact || end.at != capacity) { // else there is no room for a field
      end = {capacity, false};
    }
    add_published(type, references, out);
  }
  return out;
}

} // namespace dnheap
