#include "objects/roots.h"

#include "base/text.h"
#include "objects/recorded_roots.h"
#include "objects/stack_roots.h"
#include "runtime/object_1.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 max_finalizer_roots = 1 << 28;
constexpr u64 max_holder_elements = 1 << 24;
constexpr u64 max_spine_handles = 4096, max_spine_elements = 1 << 20;

class RootCollection {
public:
  RootCollection(const Runtime &runtime, RootSet &to, const RootOptions &options)
      : runtime_(runtime), memory_(runtime.memory()), p_(memory_.format().pointer_size), to_(to), options_(options) {}

  void add_threads() {
    try {
      threads_ = runtime_.threads(to_.notes);
    } catch (const Error &e) {
      to_.notes.add(Subject::roots, Effect::liveness, "the thread list was not found: ", e);
    }
    for (const ThreadData &thread : threads_) {
      numbers_.emplace(thread.address, static_cast<u32>(to_.threads.size() + 1));
      to_.threads.push_back({thread.address, thread.os_id, thread.managed_id});
    }
  }

  // Weak handles are not roots, and a dependent handle is an edge. But the GC treats a frozen key (literals, and Type
  // objects of types that cannot be unloaded) as always alive (gc.cpp, IsPromoted), so its value is a root.
  void add_handles() {
    const Gc &gc = runtime_.gc();
    for (const HandleData &h : gc.get_handles(gc.get_supported_handle_types(), to_.notes)) {
      if (h.type == HandleType::dependent) {
        if (!h.secondary || !*h.secondary)
          continue;
        to_.dependent.push_back({h.handle, h.object, *h.secondary});
        if (options_.is_frozen && options_.is_frozen(h.object))
          add_handle(h, *h.secondary);
        continue;
      }
      // The count of a ref-counted handle may be unknown (ComWrappers on Linux). The object may live then, so it counts
      // as a root.
      if (!h.strong_reference && !(h.type == HandleType::ref_counted && !h.ref_count))
        continue;
      add_handle(h, h.object);
    }
    std::sort(to_.dependent.begin(), to_.dependent.end(),
              [](const DependentHandle &a, const DependentHandle &b) { return a.handle < b.handle; });
  }

  // Adds objects that were found dead and whose finalizer is due or running. Objects that are only registered for
  // finalization are no roots.
  void add_finalizer_queue() {
    const Gc &gc = runtime_.gc();
    for (Address heap : gc.get_gc_heaps())
      for (const GCFinalizeQueuePart &part : finalize_queue_parts(gc.get_heap_data(heap))) {
        std::string_view name = part.name;
        if (name == "critical" || name == "ready")
          add_finalizer_part(part);
      }
  }

  void add_statics() {
    std::vector<StaticRoot> statics = runtime_.static_roots(to_.notes);
    for (StaticRoot &s : statics) {
      u32 name = static_cast<u32>(to_.names.size());
      to_.names.push_back(std::move(s.name));
      auto number = numbers_.find(s.thread);
      u32 thread = s.thread && number != numbers_.end() ? number->second : 0;
      to_.slots.push_back({s.slot, name, thread});
      if (!s.is_root)
        continue;
      Root root;
      root.slot = s.slot;
      root.object = s.object;
      root.kind = s.thread ? RootKind::thread_static : RootKind::static_field;
      root.name = name;
      root.thread = thread;
      to_.roots.push_back(root);
      if (s.holder)
        to_.holders.push_back(s.holder);
    }
    if (runtime_.kind() == std::string_view("nativeaot"))
      add_spines();
    std::sort(to_.slots.begin(), to_.slots.end(),
              [](const NamedSlot &a, const NamedSlot &b) { return a.slot < b.slot; });
    std::sort(to_.holders.begin(), to_.holders.end());
    to_.holders.erase(std::unique(to_.holders.begin(), to_.holders.end()), to_.holders.end());
    add_other_elements();
  }

  const std::vector<ThreadData> &threads() const { return threads_; }

private:
  void add_handle(const HandleData &handle, Address object) {
    Root root;
    root.slot = handle.handle;
    root.object = object;
    root.handle = handle.type;
    root.pinned = handle.type == HandleType::pinned || handle.type == HandleType::async_pinned;
    to_.roots.push_back(root);
  }

  void add_finalizer_part(const GCFinalizeQueuePart &part) {
    u64 missing = 0;
    for (Address at = part.start; at + p_ <= part.end; at += p_) {
      std::optional<u64> object = memory_.try_pointer(at);
      if (!object && ++missing > 4096)
        break;
      if (!object || !*object || to_.roots.size() >= max_finalizer_roots)
        continue;
      Root root;
      root.slot = at;
      root.object = *object;
      root.kind = RootKind::finalizer;
      to_.roots.push_back(root);
    }
    if (missing)
      to_.notes.add(Subject::roots, Effect::liveness,
                    "a part of the queue of objects to be finalized is not in this dump, so objects that only it holds "
                    "look dead");
  }

  // NativeAOT keeps the objects that hold statics alive through an array (the spine) below a handle. Users want to see
  // the statics instead. An array is taken for a spine if half of its elements are held by static fields.
  void add_spines() {
    for (const Root &root : to_.roots)
      if (root.kind == RootKind::static_field)
        held_.insert(root.object);
    std::vector<Address> handles;
    for (const Root &root : to_.roots)
      if (root.kind == RootKind::handle && handles.size() < max_spine_handles)
        handles.push_back(root.object);
    for (u64 i = 0; i < handles.size() && !held_.empty(); ++i)
      add_spine(handles[i], true);
  }
  void add_spine(Address array, bool look_below) {
    const u64 length = reference_array_length(array);
    u64 elements = 0, held = 0;
    for (u64 i = 0; i < std::min(length, max_spine_elements); ++i)
      if (Address element = memory_.try_pointer(array + (2 + i) * p_).value_or(0)) {
        ++elements;
        held += held_.contains(element);
      }
    if (held && 2 * held >= elements)
      to_.holders.push_back(array);
    else if (look_below)
      for (u64 i = 0; i < std::min<u64>(length, 4); ++i)
        add_spine(memory_.try_pointer(array + (2 + i) * p_).value_or(0), false);
  }
  // Returns 0 if this is not an array of references.
  u64 reference_array_length(Address array) const {
    Address type = array ? method_table_of(memory_, array) : 0;
    std::optional<ObjectLayout> layout = type ? runtime_.types().object_layout(type) : std::nullopt;
    if (!layout || layout->component_size != p_ || !layout->contains_gc_pointers)
      return 0;
    return memory_.try_load<u32>(array + p_).value_or(0);
  }

  // True if the holder is not an array (NativeAOT): each of its references is a named field, so no other elements
  // exist.
  bool is_object_of_fields(Address holder) const {
    Address type = method_table_of(memory_, holder);
    std::optional<ObjectLayout> layout = type ? runtime_.types().object_layout(type) : std::nullopt;
    return layout && layout->component_size == 0;
  }

  // The graph leaves out a holder's references, so elements that are not a named field must become roots, too.
  void add_other_elements() {
    u32 name = 0;
    u64 elements = 0;
    for (Address holder : to_.holders) {
      if (is_object_of_fields(holder))
        continue;
      u64 length = memory_.try_load<u32>(holder + p_).value_or(0);
      for (u64 i = 0; i < length; ++i) {
        if (++elements > max_holder_elements) {
          to_.notes.add(Subject::roots, Effect::liveness,
                        "not every element of the arrays that hold static fields was looked at");
          return;
        }
        Address slot = holder + (2 + i) * p_;
        std::optional<u64> object = memory_.try_pointer(slot);
        if (!object)
          break;
        if (*object == 0 || to_.find_slot(slot) || held_.contains(*object))
          continue;
        if (!name) {
          name = static_cast<u32>(to_.names.size());
          to_.names.emplace_back(unnamed_static);
        }
        Root root;
        root.slot = slot;
        root.object = *object;
        root.kind = RootKind::static_field;
        root.name = name;
        to_.roots.push_back(root);
      }
    }
  }

  const Runtime &runtime_;
  const Memory &memory_;
  const u64 p_;
  RootSet &to_;
  const RootOptions &options_;
  std::vector<ThreadData> threads_;
  std::unordered_map<Address, u32> numbers_; // Thread → its number, from 1
  std::unordered_set<Address> held_;         // by static fields
};

template <class Step> void attempt(RootSet &to, const char *what, Step step) {
  try {
    step();
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &e) {
    to.notes.add(Subject::roots, Effect::liveness, std::string(what) + " could not be read: ", e);
  }
}

} // namespace

std::string RootThread::text() const {
  if (os_id && *os_id)
    return "thread " + std::to_string(*os_id);
  if (managed_id)
    return "managed thread " + std::to_string(*managed_id);
  return "thread at " + hex(address);
}

const char *name_of(RootKind kind) {
  switch (kind) {
  case RootKind::handle: return "handle";
  case RootKind::finalizer: return "finalizer";
  case RootKind::static_field: return "static";
  case RootKind::thread_static: return "thread_static";
  case RootKind::com: return "com";
  case RootKind::stack: return "stack";
  case RootKind::stack_conservative: break;
  }
  return "stack_conservative";
}

std::string kind_text(const Root &root) {
  std::string out = name_of(root.kind);
  return root.kind == RootKind::handle ? out + ":" + name_of(root.handle) : out;
}

bool RootSet::is_holder(Address object) const { return std::binary_search(holders.begin(), holders.end(), object); }

const NamedSlot *RootSet::find_slot(Address slot) const {
  auto found =
      std::lower_bound(slots.begin(), slots.end(), slot, [](const NamedSlot &s, Address a) { return s.slot < a; });
  return found != slots.end() && found->slot == slot ? &*found : nullptr;
}

namespace {

const char *plural_of(RootKind kind) {
  switch (kind) {
  case RootKind::handle: return "GC handles";
  case RootKind::finalizer: return "objects whose finalizer is due";
  case RootKind::static_field: return "static fields";
  case RootKind::thread_static: return "thread statics";
  case RootKind::com: return "COM objects";
  default: return "stacks";
  }
}

// Reports roots that lead to no object. Stack words may point at anything; every other root must point at an object.
void add_lost_roots(const RootOptions &options, RootSet &to) {
  struct Lost {
    u64 count = 0;
    Address slot = 0, object = 0; // of the first
  };
  std::map<std::string, Lost> by_kind;
  auto look = [&](const char *kind, Address slot, Address object) {
    if (!object || options.is_object(object))
      return;
    Lost &lost = by_kind[kind];
    if (!lost.count++)
      lost.slot = slot, lost.object = object;
  };
  for (const Root &root : to.roots)
    if (!is_on_stack(root.kind) && !root.interior)
      look(plural_of(root.kind), root.slot, root.object);
  for (const DependentHandle &handle : to.dependent) {
    look("dependent handles", handle.handle, handle.key);
    look("dependent handles", handle.handle, handle.value);
  }
  for (const auto &[kind, lost] : by_kind)
    to.notes.add(Subject::roots, Effect::liveness,
                 kind + ": " + count_text(lost.count) + (lost.count == 1 ? " points" : " point") +
                     " at no object (the first: slot " + hex(lost.slot) + " points at " + hex(lost.object) +
                     "), so objects that were held only this way look dead");
}

} // namespace

namespace {

void add_process_roots(const Runtime &runtime, const ObjectAt &object_at, const RootOptions &options, RootSet &out) {
  RootCollection collection(runtime, out, options);
  collection.add_threads();
  attempt(out, "handles", [&] { collection.add_handles(); });
  attempt(out, "the queue of objects to be finalized", [&] { collection.add_finalizer_queue(); });
  if (options.statics)
    attempt(out, "static fields", [&] { collection.add_statics(); });
  if (options.stacks)
    add_stack_roots(runtime, collection.threads(), object_at, out);
}

} // namespace

RootSet find_roots(const Runtime &runtime, const ObjectAt &object_at, const RootOptions &options) {
  RootSet out;
  if (const HeapRecord *record = runtime.record())
    add_recorded_roots(*record, out);
  else
    add_process_roots(runtime, object_at, options, out);
  if (options.is_object)
    add_lost_roots(options, out);
  std::stable_sort(out.roots.begin(), out.roots.end(), [](const Root &a, const Root &b) {
    return std::tie(a.kind, a.handle, a.thread, a.slot, a.object) <
           std::tie(b.kind, b.handle, b.thread, b.slot, b.object);
  });
  return out;
}

RootOwners group_roots(const RootSet &roots, const std::function<u64(Address)> &type_of,
                       const std::function<std::string(u64)> &type_name) {
  RootOwners out;
  out.owner_of.resize(roots.roots.size());
  std::map<std::tuple<RootKind, HandleType, u32, u32, u64>, u32> known;
  for (u64 i = 0; i < roots.roots.size(); ++i) {
    const Root &root = roots.roots[i];
    u64 type = root.kind == RootKind::handle ? type_of(root.object) : 0;
    auto [it, added] =
        known.try_emplace({root.kind, root.handle, root.name, root.thread, type}, static_cast<u32>(out.owners.size()));
    if (added) {
      std::string kind = root.is_conservative() ? "a word on the stack" : kind_text(root);
      RootOwners::Owner owner{root.kind, root.is_conservative(), std::move(kind), root.thread, ""};
      if (root.name)
        owner.name += " " + roots.name(root);
      if (root.kind == RootKind::handle)
        owner.name += " " + type_name(type);
      owner.source = owner.name;
      if (const RootThread *thread = roots.thread(root))
        owner.name = root.kind == RootKind::stack ? thread->text() + " " + roots.name(root)
                                                  : owner.name + " of " + thread->text();
      out.owners.push_back(std::move(owner));
    }
    out.owner_of[i] = it->second;
  }
  return out;
}

} // namespace dnheap
