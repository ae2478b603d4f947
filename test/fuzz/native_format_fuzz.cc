// Any bytes as NativeFormat: half of them metadata, half a table; and every name that can be had from them.
#include "metadata/native_format.h"

using namespace dnheap;

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  if (size < 2)
    return 0;
  Bytes bytes = std::as_bytes(std::span(data + 1, size - 1));
  Bytes blob = bytes.first(bytes.size() / 2), table = bytes.subspan(blob.size());
  NativeMetadata metadata(blob, 7 + data[0] % 2);
  std::vector<NativeMapEntry> entries = native_map_entries(table);
  if (entries.size() > table.size())
    __builtin_trap();
  for (u64 i = 0; i < entries.size() && i < 1000; ++i)
    if (std::optional<NativeTypeName> name = metadata.type_name(entries[i].handle & 0xffffff)) {
      (void)native_type_hash(*name, static_cast<NativeHashing>(data[0] / 2 % 2));
      if (name->format({}).empty())
        __builtin_trap();
    }
  u64 looked_at = 0;
  for (const NativeInvokeEntry &entry : native_invoke_entries(table))
    if (++looked_at < 1000)
      (void)metadata.method_name(entry.method);
  const std::vector<NativeMethod> methods = native_methods(table);
  if (methods.size() > table.size())
    __builtin_trap();
  for (u64 i = 0; i < methods.size() && i < 1000; ++i) {
    (void)metadata.string(methods[i].name);
    if (std::optional<NativeTypeName> name = metadata.token_name(methods[i].owner); name && name->format({}).empty())
      __builtin_trap();
  }
  return 0;
}
