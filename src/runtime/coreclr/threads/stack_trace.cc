#include "runtime/coreclr/threads/stack_trace.h"

#include "runtime/object_1.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_elements = 1 << 20;

} // namespace

// If the target does not publish a value, that of .NET 8 to 10 is used.
StackTrace::StackTrace(const Memory &memory, const ContractDescriptor &descriptor, const RuntimeTypeSystem1 &types,
                       const MethodDescs &methods)
    : memory_(&memory), types_(&types), methods_(&methods), p_(memory.format().pointer_size) {
  auto offset = [&](const char *field, u64 otherwise) {
    return static_cast<u64>(descriptor.try_offset("StackTraceElement", field).value_or(static_cast<i64>(otherwise)));
  };
  ip_at_ = offset("Ip", 0);
  method_at_ = offset("MethodDesc", 2 * p_);
  const DataType *element = descriptor.find_type("StackTraceElement"),
                 *header = descriptor.find_type("StackTraceArrayHeader");
  element_size_ = element && element->size.value_or(0) ? *element->size : 4 * p_;
  const std::optional<i64> count = descriptor.try_offset("StackTraceArrayHeader", "Size");
  if (header && header->size && count) {
    header_ = *header->size;
    count_at_ = static_cast<u64>(*count);
  }
}

// The array begins with {number of elements: in .NET 8 as wide as a pointer, later a u32 followed by a second u32;
// Thread}, then come {ip, sp, MethodDesc, u32 flags}. The two forms differ only in 32-bit processes; there, the form
// whose elements point at methods is taken.
std::optional<std::vector<StackTraceElement>> StackTrace::read(Address object) {
  if (!object)
    return std::vector<StackTraceElement>();
  for (int level = 0; level < 2; ++level) {
    std::optional<ObjectLayout> layout = types_->object_layout(dnheap::method_table_of(*memory_, object));
    std::optional<u32> length = memory_->try_load<u32>(object + p_);
    if (!layout || !length)
      return std::nullopt;
    if (layout->component_size == 1) {
      std::optional<u32> count = memory_->try_load<u32>(object + 2 * p_ + count_at_.value_or(0));
      for (u64 header : header_ ? std::vector{*header_} : std::vector{2 * p_, 8 + p_}) {
        if (!count || header + u64{*count} * element_size_ > *length)
          continue;
        if (auto found = read_at(object + 2 * p_ + header, std::min<u64>(*count, most_elements)))
          return found;
      }
      return std::nullopt;
    }
    if (layout->component_size != p_ || !*length)
      return std::nullopt;
    object = memory_->try_pointer(object + 2 * p_).value_or(0);
    if (!object)
      return std::vector<StackTraceElement>();
  }
  return std::nullopt;
}

std::optional<std::vector<StackTraceElement>> StackTrace::read_at(Address first, u64 count) {
  std::vector<StackTraceElement> out;
  if (count > left_)
    return std::nullopt;
  left_ -= count;
  for (u64 i = 0; i < count; ++i) {
    const Address at = first + i * element_size_;
    std::optional<u64> ip = memory_->try_pointer(at + ip_at_), method = memory_->try_pointer(at + method_at_);
    if (!ip || !method || !is_method(*method))
      return std::nullopt;
    out.push_back({*ip, *method});
  }
  return out;
}

bool StackTrace::is_method(Address method) {
  auto [known, is_new] = known_.try_emplace(method);
  if (is_new)
    known->second = methods_->is_method_desc(method);
  return known->second;
}

} // namespace dnheap
