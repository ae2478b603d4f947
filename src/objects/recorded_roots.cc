#include "objects/recorded_roots.h"

#include "target/heap_record.h"

#include <unordered_map>

namespace dnheap {

namespace {

using ListedRoot = HeapRecord::RootKind;

void set_kind(ListedRoot kind, Root &root) {
  auto set = [&](RootKind to, HandleType handle = HandleType::strong) {
    root.kind = to;
    root.handle = handle;
  };
  switch (kind) {
  case ListedRoot::strong_handle: return set(RootKind::handle);
  case ListedRoot::pinned_handle: return set(RootKind::handle, HandleType::pinned);
  case ListedRoot::async_pinned_handle: return set(RootKind::handle, HandleType::async_pinned);
  case ListedRoot::ref_counted_handle: return set(RootKind::handle, HandleType::ref_counted);
  case ListedRoot::dependent_handle: return set(RootKind::handle, HandleType::dependent);
  case ListedRoot::finalizer: return set(RootKind::finalizer);
  case ListedRoot::static_field: return set(RootKind::static_field);
  case ListedRoot::thread_static: return set(RootKind::thread_static);
  case ListedRoot::com: return set(RootKind::com);
  case ListedRoot::stack: return set(RootKind::stack);
  case ListedRoot::conservative_stack: return set(RootKind::stack_conservative);
  }
}

} // namespace

void add_recorded_roots(const HeapRecord &record, RootSet &to) {
  std::unordered_map<u64, u32> threads;
  to.names = record.names;
  for (const HeapRecord::Root &listed : record.roots) {
    Root root;
    root.object = listed.object;
    root.name = listed.name;
    set_kind(listed.kind, root);
    root.pinned = listed.kind == ListedRoot::pinned_handle || listed.kind == ListedRoot::async_pinned_handle;
    if (listed.thread) {
      const auto [at, is_new] = threads.try_emplace(listed.thread, static_cast<u32>(to.threads.size() + 1));
      if (is_new)
        to.threads.push_back({.address = 0, .os_id = listed.thread, .managed_id = {}});
      root.thread = at->second;
    }
    to.roots.push_back(root);
  }
  for (const auto &[object, target] : record.hidden)
    to.dependent.push_back({0, object, target});
}

} // namespace dnheap
