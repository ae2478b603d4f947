#include "runtime/coreclr/types/method_descs.h"

#include "base/text.h"
#include "runtime/vm/method_table_flags.h"

namespace dnheap {

namespace {

constexpr unsigned max_jumps = 4;
constexpr u16 kind_mask = 7, kind_instantiated = 5, kind_dynamic = 7;

} // namespace

// If the target does not publish a value, the value of .NET 8 to 10 is used, which is the same in all three.
MethodDescs::MethodDescs(const Target &target, const ContractDescriptor &descriptor, RuntimeTypeSystem1 &types,
                         Loader1 &loader)
    : memory_(&target.memory), types_(&types), loader_(&loader), p_(target.format().pointer_size),
      is_x64_(target.architecture == Architecture::x64) {
  auto offset = [&](const char *type, const char *field, u64 otherwise) {
    std::optional<i64> found = descriptor.try_offset(type, field);
    return found ? static_cast<u64>(*found) : otherwise;
  };
  alignment_ = descriptor.try_number("MethodDescAlignment").value_or(p_);
  remainder_bits_ = std::min<u64>(descriptor.try_number("MethodDescTokenRemainderBitCount").value_or(12), 16);
  remainder_ = offset("MethodDesc", "Flags3AndTokenRemainder", 0);
  index_ = offset("MethodDesc", "ChunkIndex", 2);
  flags_ = offset("MethodDesc", "Flags", 6);
  // .NET 9 and later have one word more in a MethodDesc; only 8.0 has MethodTable.Token.
  name_ = offset("DynamicMethodDesc", "MethodName", descriptor.try_offset("MethodTable", "Token") ? 3 * p_ : 4 * p_);
  chunk_method_table_ = offset("MethodDescChunk", "MethodTable", 0);
  chunk_count_ = offset("MethodDescChunk", "Count", 2 * p_ + 1);
  chunk_range_ = offset("MethodDescChunk", "FlagsAndTokenRange", 2 * p_ + 2);
  const DataType *chunk = descriptor.find_type("MethodDescChunk");
  chunk_size_ = chunk && chunk->size ? *chunk->size : 3 * p_;
  fixup_method_ = offset("FixupPrecodeData", "MethodDesc", p_);
  stub_parameter_ = offset("StubPrecodeData", "SecretParam", 0);
  page_size_ = 0x4000; // pages of stub code and of their data alternate
  if (std::optional<u64> platform = descriptor.try_number("PlatformMetadata"))
    if (std::optional<i64> at = descriptor.try_offset("PrecodeMachineDescriptor", "StubCodePageSize"))
      if (std::optional<u32> size = memory_->try_load<u32>(*platform + static_cast<u64>(*at)); size && *size)
        page_size_ = *size;
}

// {MethodTable, Next, u8 Size, u8 Count, u16 flags and upper bits of the row numbers}, then Count + 1 MethodDescs.
Address MethodDescs::chunk_of(Address method) const {
  std::optional<u8> index = method % alignment_ == 0 ? memory_->try_load<u8>(method + index_) : std::nullopt;
  if (!index || method < 0x10000)
    return 0;
  Address chunk = method - alignment_ * *index - chunk_size_;
  Address mt = memory_->try_pointer(chunk + chunk_method_table_).value_or(0);
  return types_->is_method_table(mt) ? chunk : 0;
}

u32 MethodDescs::rid_of(Address method, Address chunk) const {
  u32 low = memory_->try_load<u16>(method + remainder_).value_or(0) & ((1u << remainder_bits_) - 1);
  u32 high = memory_->try_load<u16>(chunk + chunk_range_).value_or(0) & ((1u << (24 - remainder_bits_)) - 1);
  return high << remainder_bits_ | low;
}

std::optional<u16> MethodDescs::kind_of(Address method) const {
  std::optional<u16> flags = memory_->try_load<u16>(method + flags_);
  return flags ? std::optional<u16>(*flags & kind_mask) : std::nullopt;
}

bool MethodDescs::is_dynamic(Address method) const { return kind_of(method) == kind_dynamic; }

bool MethodDescs::is_instantiated(Address method) const { return kind_of(method) == kind_instantiated; }

u32 MethodDescs::row(Address method) const {
  const Address chunk = chunk_of(method);
  return chunk ? rid_of(method, chunk) : 0;
}

Address MethodDescs::method_table_of(Address method) const {
  Address chunk = chunk_of(method);
  return chunk ? memory_->try_pointer(chunk + chunk_method_table_).value_or(0) : 0;
}

bool MethodDescs::is_method_desc(Address method) const {
  Address chunk = chunk_of(method);
  std::optional<u16> kind = chunk ? kind_of(method) : std::nullopt;
  if (!kind)
    return false;
  if (is_dynamic(method))
    return true;
  Address mt = memory_->try_pointer(chunk + chunk_method_table_).value_or(0);
  const Metadata *metadata = loader_->metadata(types_->module_of(mt));
  return !metadata || (types_->flags(mt).value_or(0) & mt_has_component_size) ||
         metadata->type_of_method(rid_of(method, chunk)) == types_->type_def_rid(mt);
}

std::string MethodDescs::name(Address method) const {
  Address chunk = chunk_of(method);
  if (!chunk)
    return "";
  if (is_dynamic(method)) {
    std::optional<u64> text = memory_->try_pointer(method + name_);
    return text && *text ? shortened(memory_->try_text(*text, 1024).value_or("")) : "";
  }
  Address mt = memory_->try_pointer(chunk + chunk_method_table_).value_or(0);
  const Metadata *metadata = loader_->metadata(types_->module_of(mt));
  std::optional<MethodDefRow> row = metadata ? metadata->method(rid_of(method, chunk)) : std::nullopt;
  return row ? shortened(row->name) : "";
}

// Returns the address in a 32-bit operand relative to the instruction's end, if the opcode lies there.
std::optional<Address> MethodDescs::operand(Address code, unsigned at, std::initializer_list<u8> opcode) const {
  Address end = code + at;
  for (u8 byte : opcode)
    if (memory_->try_load<u8>(end++) != byte)
      return std::nullopt;
  std::optional<u32> distance = memory_->try_load<u32>(end);
  return distance ? std::optional(end + 4 + static_cast<u64>(static_cast<i64>(static_cast<i32>(*distance))))
                  : std::nullopt;
}

// x64: `jmp [target]; mov r10, [MethodDesc]` (fixup) or `mov r10, [MethodDesc]; jmp [target]` (stub). On other
// processors, or if the code is not in the dump: the data lie one page behind the code. In both cases, only a sound
// MethodDesc counts.
Address MethodDescs::of_code(Address code) const {
  for (unsigned jumps = 0; is_x64_ && jumps < max_jumps; ++jumps) {
    std::optional<Address> target = operand(code, 0, {0xe9});
    if (!target)
      break;
    code = *target;
  }
  std::vector<Address> places;
  if (is_x64_ && operand(code, 0, {0xff, 0x25}))
    if (std::optional<Address> place = operand(code, 6, {0x4c, 0x8b, 0x15}))
      places.push_back(*place);
  if (is_x64_ && operand(code, 7, {0xff, 0x25}))
    if (std::optional<Address> place = operand(code, 0, {0x4c, 0x8b, 0x15}))
      places.push_back(*place);
  if (places.empty() && code % p_ == 0)
    places = {code + page_size_ + fixup_method_, code + page_size_ + stub_parameter_};
  for (Address place : places)
    if (Address method = memory_->try_pointer(place).value_or(0); method && is_method_desc(method))
      return method;
  return 0;
}

} // namespace dnheap
