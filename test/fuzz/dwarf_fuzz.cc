// Any bytes as a debug file: its sections, symbols and types.
#include "runtime/nativeaot/debug_types.h"
#include "runtime/nativeaot/native_symbols.h"

using namespace dnheap;

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  const DebugFile file(std::as_bytes(std::span(data, size)), 0x1000, nullptr);
  (void)NativeSymbols(file).find_type("Node");
  DebugTypes types(file, 8);
  for (const char *name : {"Object", "Node", "Pair", "Cache"})
    for (const DebugTypes::Class *of = types.find(name); of; of = nullptr) {
      for (const DebugTypes::Field &field : of->fields)
        (void)types.type(field.type);
      (void)types.class_at(of->parent);
    }
  (void)types.statics_at(0x1800);
  return 0;
}
