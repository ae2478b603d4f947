#include "analysis/shapes/suspended_calls.h"

#include "base/text.h"
#include "objects/object_index.h"
#include "snapshot/snapshot.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_calls = 1 << 16; // more calls of one chain are not followed
constexpr std::string_view dispatcher = ".DispatchContinuations";

} // namespace

SuspendedCalls::SuspendedCalls(const Snapshot &snapshot)
    : snapshot_(snapshot), runtime_(snapshot.runtime()), layout_(runtime_.continuation_layout()), fields_(runtime_),
      bases_(runtime_) {}

const MachineShape *SuspendedCalls::shape_of(Address resume_info, i32 state) {
  auto [known, is_new] = by_place_.try_emplace({resume_info, state});
  if (is_new) {
    const ResumePoint point = runtime_.resume_point(resume_info);
    if (!point.method_desc)
      ++unknown_[point.why_not];
    MachineShape shape = make_shape(point);
    const std::pair<std::string, i32> key = {shape.method, state};
    known->second = &shapes_.try_emplace(key, std::move(shape)).first->second;
  }
  return known->second;
}

MachineShape SuspendedCalls::make_shape(const ResumePoint &point) {
  MachineShape out;
  out.resumes_at = point;
  if (point.method_desc)
    out.method = runtime_.method_text(point.method_desc).qualified;
  else
    out.method = point.module.empty() ? "<a call>" : "<a call of " + point.module + ">";
  return out;
}

// The library's own leaf objects name what is awaited; otherwise the innermost method keeps its awaiter among its data.
SuspendedCalls::Chain SuspendedCalls::chain_of(Address state_object) {
  const Address mt = fields_.type_of(state_object);
  if (!mt)
    return {};
  if (is_call(mt)) {
    const Address awaiter = awaiter_in(state_object);
    return {awaiter, state_object, !awaiter && goes_on_in_context(state_object)};
  }
  const Address awaited = fields_.reference_or_null(state_object, "Task");
  return {awaited ? awaited : fields_.reference_or_null(state_object, "Source"),
          fields_.reference_or_null(state_object, "Next")};
}

std::vector<SuspendedCalls::Running> SuspendedCalls::find_running() {
  std::vector<Running> out;
  Notes ignored; // already reported where threads are listed
  for (const ThreadData &thread : runtime_.threads(ignored)) {
    snapshot_.watch().check();
    if (!thread.os_id.value_or(0))
      continue;
    const WalkedStack stack = runtime_.walk_stack(thread);
    for (u64 i = 0; i < stack.frames.size(); ++i)
      if (const Address method = stack.frames[i].method_desc;
          method && runtime_.method_text(method).qualified.ends_with(dispatcher))
        if (std::optional<Running> running = running_in(stack.frames, i)) {
          running->thread = *thread.os_id;
          out.push_back(std::move(*running));
        }
  }
  return out;
}

// The dispatcher has the task that it resumes in the stack word directly after that of the next Continuation. The
// resumed method is further in on the stack, with a stub between the two.
std::optional<SuspendedCalls::Running> SuspendedCalls::running_in(std::span<const StackFrame> frames, u64 dispatcher) {
  const u64 p = fields_.pointer_size();
  Running out;
  for (const StackReference &reference : frames[dispatcher].references) {
    const Address mt = reference.interior || !reference.slot ? 0 : fields_.type_of(reference.value);
    if (!mt || !runtime_.types().object_layout(mt) || !runtime_.types().name(mt).starts_with(runtime_async_task))
      continue;
    const std::optional<u64> next = fields_.memory().try_pointer(reference.slot - p);
    const bool is_call = next && *next && this->is_call(fields_.type_of(*next));
    if (is_call || (next == u64{0} && !out.task))
      out = {reference.value, is_call ? *next : 0, 0, {}};
  }
  if (!out.task)
    return std::nullopt;
  for (u64 i = dispatcher; i-- > 0;) {
    const StackFrame &frame = frames[i];
    if (frame.kind != StackFrame::Kind::method || !frame.method_desc)
      break;
    const MethodText text = runtime_.method_text(frame.method_desc);
    if (text.qualified.starts_with(stub_class))
      continue;
    out.shape.method = text.qualified;
    out.shape.resumes_at = {frame.method_desc, frame.ip, text.module, ""};
    break;
  }
  return out.shape.method.empty() ? std::nullopt : std::optional(std::move(out));
}

// Returns null if the method is unknown.
const MachineShape *SuspendedCalls::shape_of_call(Address call) {
  const Memory &memory = fields_.memory();
  const std::optional<u64> place = memory.try_pointer(call + layout_->resume_info);
  const std::optional<u32> state = memory.try_load<u32>(call + layout_->state);
  const MachineShape *shape = place && state ? shape_of(*place, static_cast<i32>(*state)) : nullptr;
  return shape && shape->resumes_at.method_desc ? shape : nullptr;
}

std::string SuspendedCalls::method_of_call(Address call) {
  const MachineShape *shape = shape_of_call(call);
  return shape ? shape->method : "";
}

const std::vector<SavedVariable> &SuspendedCalls::variables_of(const ResumePoint &point) {
  auto [known, is_new] = variables_.try_emplace(point.ip);
  if (!is_new)
    return known->second;
  known->second = runtime_.saved_variables(point);
  for (SavedVariable &variable : known->second)
    if (variable.local) {
      if (!symbols_)
        symbols_ = std::make_unique<SourceLines>(snapshot_);
      variable.name = symbols_->local(point.method_desc, point.ip, *variable.local);
      if (variable.name.empty())
        variable.name = "local " + std::to_string(*variable.local);
    }
  return known->second;
}

std::string SuspendedCalls::variable_at(const ResumePoint &point, u64 offset) {
  const SavedVariable *found = nullptr;
  for (const SavedVariable &variable : variables_of(point))
    if (variable.offset <= offset)
      found = &variable;
  if (!found || found->name.empty())
    return "";
  return found->name + (found->offset == offset ? "" : "." + hex(offset - found->offset));
}

std::string SuspendedCalls::variable_at(Address call, u64 offset) {
  const MachineShape *shape = layout_ ? shape_of_call(call) : nullptr;
  return shape ? variable_at(shape->resumes_at, offset) : "";
}

void SuspendedCalls::find_shapes_of_types() {
  shapes_of_types_.emplace();
  const HeapTypes &types = snapshot_.references().types();
  std::vector<bool> is_wanted(types.size());
  for (u32 i = 0; i < types.size(); ++i)
    is_wanted[i] = is_call(types[TypeId{i}].method_table);
  if (std::find(is_wanted.begin(), is_wanted.end(), true) == is_wanted.end())
    return;
  ReferenceReader reader(snapshot_.references());
  const ObjectIndex &index = snapshot_.index();
  for (u64 block = 0; block < index.places().blocks(); ++block) {
    snapshot_.watch().check();
    index.for_each(block, [&](ObjectId, Address address) {
      OpenedObject opened;
      if (reader.open(address, opened) && is_wanted[static_cast<u32>(opened.id)])
        (*shapes_of_types_)[opened.type->method_table].insert(shape_of_call(address));
    });
  }
}

std::string SuspendedCalls::variable_of_all(Address method_table, u64 offset) {
  if (!is_call(method_table))
    return "";
  if (!shapes_of_types_)
    find_shapes_of_types();
  std::string out;
  for (const MachineShape *shape : (*shapes_of_types_)[method_table]) {
    if (!shape)
      return "";
    const std::string variable = variable_at(shape->resumes_at, offset), method = method_in_words(shape->method);
    const std::string text = (variable.empty() ? "a variable of " : "variable " + variable + " of ") + method;
    if (out.empty() || out == text)
      out = text;
    else if (out.ends_with(" of " + method))
      out = "a variable of " + method;
    else
      return "";
  }
  return out;
}

std::string SuspendedCalls::method_of(Address object) {
  const Address mt = layout_ ? fields_.type_of(object) : 0;
  if (is_call(mt))
    return method_of_call(object);
  if (!mt || !runtime_.types().object_layout(mt) || !is_of_suspended_call(runtime_.types().name(mt)))
    return "";
  const bool is_task = runtime_.types().name(mt).starts_with(runtime_async_task);
  Address outermost = chain_of(is_task ? fields_.reference_or_null(object, "m_stateObject") : object).first;
  for (u64 i = 0; i < most_calls && outermost; ++i) {
    const Address next = fields_.memory().try_pointer(outermost + layout_->next).value_or(0);
    if (!is_call(fields_.type_of(next)))
      break;
    outermost = next;
  }
  return is_call(fields_.type_of(outermost)) ? method_of_call(outermost) : "";
}

std::string SuspendedCalls::next_method_of(Address task) {
  const Address mt = layout_ ? fields_.type_of(task) : 0;
  if (!mt || !runtime_.types().object_layout(mt) || !runtime_.types().name(mt).starts_with(runtime_async_task))
    return "";
  Address call = chain_of(fields_.reference_or_null(task, "m_stateObject")).first;
  for (u64 i = 0; i < most_calls && is_call(fields_.type_of(call)); ++i) {
    std::string method = method_of_call(call);
    const Address next = fields_.memory().try_pointer(call + layout_->next).value_or(0);
    if (!is_await_helper(method) || !next)
      return method;
    call = next;
  }
  return "";
}

// Every call refers to its context and its exception; its first reference to something else is the awaiter.
Address SuspendedCalls::awaiter_in(Address call) {
  ReferenceReader reader(snapshot_.references());
  OpenedObject opened;
  if (!reader.open(call, opened))
    return 0;
  const Address next = fields_.memory().try_pointer(call + layout_->next).value_or(0);
  Address found = 0;
  reader.for_each(opened, [&](Address target) {
    if (!found && target != next && !is_context(fields_.type_of(target)))
      found = target;
  });
  return found;
}

bool SuspendedCalls::goes_on_in_context(Address call) {
  ReferenceReader reader(snapshot_.references());
  OpenedObject opened;
  bool found = false;
  if (reader.open(call, opened))
    reader.for_each(opened, [&](Address target) {
      const Address mt = fields_.type_of(target);
      for (const char *type : {"System.Threading.SynchronizationContext", "System.Threading.Tasks.TaskScheduler"})
        found |= mt && is_context(mt) && bases_.derives(mt, type);
    });
  return found;
}

bool SuspendedCalls::is_context(Address method_table) {
  auto [known, is_new] = contexts_.try_emplace(method_table, method_table == 0);
  for (const char *type : {"System.Threading.ExecutionContext", "System.Threading.SynchronizationContext",
                           "System.Threading.Tasks.TaskScheduler", "System.Exception"})
    if (is_new && method_table)
      known->second |= bases_.derives(method_table, type);
  return known->second;
}

} // namespace dnheap
