#include "runtime/coreclr/code/jit_code.h"

#include "runtime/coreclr/code/runtime_function.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u32 max_functions = 1 << 16; // of one method
constexpr u64 fat_header = 8;          // in front of the exception clauses

} // namespace

// If the target does not publish a value, the value of .NET 8 to 10 is used, which is the same in all three.
JitCode::JitCode(const Target &target, const ContractDescriptor &d)
    : target_(&target), memory_(&target.memory), p_(target.format().pointer_size) {
  auto offset = [&](const char *type, const char *field, u64 otherwise) {
    return static_cast<u64>(d.try_offset(type, field).value_or(static_cast<i64>(otherwise)));
  };
  at_.start = offset("CodeHeapListNode", "StartAddress", 2 * p_);
  at_.end = offset("CodeHeapListNode", "EndAddress", 3 * p_);
  at_.map_base = offset("CodeHeapListNode", "MapBase", 4 * p_);
  at_.header_map = offset("CodeHeapListNode", "HeaderMap", 5 * p_);
  at_.debug_info = offset("RealCodeHeader", "DebugInfo", 0);
  at_.eh_info = offset("RealCodeHeader", "EHInfo", p_);
  at_.gc_info = offset("RealCodeHeader", "GCInfo", 2 * p_);
  at_.method_desc = offset("RealCodeHeader", "MethodDesc", 3 * p_);
  at_.function_count = offset("RealCodeHeader", "NumUnwindInfos", 4 * p_);
  at_.functions = offset("RealCodeHeader", "UnwindInfos", 4 * p_ + 4);
  clause_ = eh_clause_layout(d);
  gc_info_version_ = static_cast<u32>(d.try_number("GCInfoVersion").value_or(0));
  // Look-ups in constant time came with .NET 10, as did version 4 of GC info. The contract's version does not show
  // them: it is 2 in .NET 10, and 1 again in .NET 11.
  constant_time_ = gc_info_version_ >= 4;
  last_stub_kind_ = d.try_number("StubCodeBlockLast").value_or(15);
}

// The number of clauses, as a word, and a header lie in front of the first clause.
bool JitCode::is_filter(Address header, u64 offset) const {
  const std::optional<u64> info = memory_->try_pointer(header + at_.eh_info);
  const std::optional<u64> count = info && *info ? memory_->try_pointer(*info - p_) : std::nullopt;
  return !count || has_filter_at(*memory_, clause_, *info + fat_header, *count, offset).value_or(true);
}

std::optional<CodeBlock> JitCode::find(const RangeSection &section, Address ip) const {
  const Address heap = section.heap_list;
  if (ip < memory_->pointer(heap + at_.start, "a heap of code") ||
      ip > memory_->pointer(heap + at_.end, "a heap of code"))
    return std::nullopt;
  const NibbleMap map(*memory_, memory_->pointer(heap + at_.header_map, "a heap of code"),
                      memory_->pointer(heap + at_.map_base, "a heap of code"), constant_time_);
  const std::optional<Address> start = map.find(ip);
  if (!start)
    return std::nullopt;
  const Address header = memory_->pointer(*start - p_, "the word in front of a method's code");
  if (header <= last_stub_kind_)
    return std::nullopt;
  CodeBlock out;
  out.start = *start;
  out.header = header;
  out.image_base = section.begin;
  out.method_desc = memory_->pointer(header + at_.method_desc, "a method's code header");
  out.gc_info = memory_->pointer(header + at_.gc_info, "a method's code header");
  out.gc_info_version = gc_info_version_;
  const RuntimeFunctions functions(
      *target_, header + at_.functions,
      std::min(memory_->u32_at(header + at_.function_count, "a method's code header"), max_functions));
  for (u32 i = 0; i < functions.count(); ++i) {
    const RuntimeFunction function = functions.at(i);
    out.function_start = section.begin + function.begin;
    out.function_end = out.function_start + functions.length(i, section.begin);
    if (ip < out.function_start || ip >= out.function_end)
      continue;
    out.unwind_info = section.begin + function.unwind_data;
    out.is_funclet = i > 0;
    out.is_filter = i > 0 && is_filter(header, out.function_start - out.start);
    return out;
  }
  return std::nullopt; // behind the method
}

std::optional<std::vector<Address>> JitCode::methods(const RangeSection &section) const {
  const Address heap = section.heap_list;
  const std::optional<u64> end = memory_->try_pointer(heap + at_.end),
                           map = memory_->try_pointer(heap + at_.header_map),
                           base = memory_->try_pointer(heap + at_.map_base);
  const std::optional<std::vector<Address>> starts =
      end && map && base ? NibbleMap(*memory_, *map, *base, constant_time_).starts(*end) : std::nullopt;
  if (!starts)
    return std::nullopt;
  std::vector<Address> out;
  for (Address start : *starts) {
    const std::optional<u64> header = memory_->try_pointer(start - p_);
    const bool is_stub = header && *header <= last_stub_kind_;
    const std::optional<u64> method =
        header && !is_stub ? memory_->try_pointer(*header + at_.method_desc) : std::nullopt;
    if (method)
      out.push_back(*method);
    else if (!is_stub)
      return std::nullopt;
  }
  return out;
}

// No runtime publishes the format of debug info, but it changed together with versions 4 and 5 of GC info.
DebugInfoPlace JitCode::debug_info(const CodeBlock &block) const {
  const DebugInfoFormat format = block.gc_info_version < 4   ? DebugInfoFormat::nibbles
                                 : block.gc_info_version < 5 ? DebugInfoFormat::packed
                                                             : DebugInfoFormat::packed_with_sizes;
  // Flags are present for methods that can be replaced while they run, which 32-bit processors do not support.
  return {memory_->pointer(block.header + at_.debug_info, "a method's code header"), format,
          format != DebugInfoFormat::packed_with_sizes && p_ == 8};
}

} // namespace dnheap
