#include "runtime/nativeaot/managed_threads.h"

#include "runtime/object_1.h"

#include <set>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 most_modules = 4096;   // modules whose inlined thread statics one thread has
constexpr u64 most_references = 256; // of a Thread

} // namespace

ManagedThreads::Kind ManagedThreads::kind_of(Address object) const {
  const Address type = method_table_of(*memory_, object);
  if (!type)
    return Kind::other;
  auto [known, is_new] = kinds_.try_emplace(type, Kind::other);
  if (is_new && types_->object_layout(type)) {
    const std::string &name = types_->name(type);
    known->second = name == "System.Threading.Thread"            ? Kind::thread
                    : name == "System.Threading.ManagedThreadId" ? Kind::number
                                                                 : Kind::other;
  }
  return known->second;
}

// Returns the number in an object with a single field.
std::optional<u32> ManagedThreads::number_in(Address object) const {
  const u64 p = memory_->format().pointer_size;
  const std::optional<ObjectLayout> layout = types_->object_layout(method_table_of(*memory_, object));
  if (!layout || layout->base_size != 3 * p || layout->contains_gc_pointers)
    return std::nullopt;
  const std::optional<u32> number = memory_->try_load<u32>(object + p);
  return number.value_or(0) ? number : std::nullopt;
}

bool ManagedThreads::refers_to(Address thread_object, Address other) const {
  const u64 p = memory_->format().pointer_size;
  const std::optional<ObjectLayout> layout = types_->object_layout(method_table_of(*memory_, thread_object));
  for (u64 at = p; layout && at + p < layout->base_size && at < most_references * p; at += p)
    if (memory_->try_pointer(thread_object + at) == other)
      return true;
  return false;
}

ManagedThread ManagedThreads::find(const ThreadData &thread) const {
  const u64 p = memory_->format().pointer_size;
  const std::optional<i64> inlined = descriptor_->try_offset("Thread", "InlinedThreadLocalStatics");
  if (!inlined)
    return {};
  std::set<Address> threads, numbers;
  std::unordered_set<Address> seen;
  // {object, next one, TypeManager}: one per separately compiled module.
  Address node = memory_->try_pointer(thread.address + static_cast<u64>(*inlined)).value_or(0);
  for (; node && seen.size() < most_modules && seen.insert(node).second;
       node = memory_->try_pointer(node + p).value_or(0)) {
    const Address statics = memory_->try_pointer(node).value_or(0);
    const Address type = statics ? method_table_of(*memory_, statics) : 0;
    if (!type || !types_->object_layout(type))
      continue;
    for (const auto &[offset, size] : types_->made_up_series(type))
      for (u64 at = offset; at < offset + size; at += p)
        if (const Address object = memory_->try_pointer(statics + at).value_or(0)) {
          const Kind kind = kind_of(object);
          if (kind == Kind::thread)
            threads.insert(object);
          else if (kind == Kind::number)
            numbers.insert(object);
        }
  }
  ManagedThread out;
  if (threads.size() == 1 &&
      (numbers.empty() || (numbers.size() == 1 && refers_to(*threads.begin(), *numbers.begin()))))
    out.object = *threads.begin();
  if (numbers.size() == 1 && (out.object || threads.empty()))
    out.number = number_in(*numbers.begin());
  return out;
}

} // namespace dnheap
