// Any bytes as a debug file: its sections, symbols and types.
#include "runtime/nativeaot/debug_types.h"
#include "runtime/nativeaot/native_symbols.h"

using namespace dnheap;

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  Bytes file = std::as_bytes(std::span(data, size));
  (void)NativeSymbols(file, 0x1000, nullptr).find_type("Node");
  DebugTypes types(file, 0x1000, 8, nullptr);
  for (const char *name : {"Object", "Node", "Pair", "Cache"})
    for (const DebugTypes::Class *of = types.find(name); of; of = nullptr) {
      for (const DebugTypes::Field &field : of->fields)
        (void)types.type(field.type);
      (void)types.class_at(of->parent);
    }
  (void)types.statics_at(0x1800);
  return 0;
}
