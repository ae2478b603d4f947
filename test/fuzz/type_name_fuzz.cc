// Sizes and names of types whose MethodTables, EEClasses, dictionaries and metadata have been patched: names have
// bounds, and are the same when asked for again.
#include "fuzz/check.h"
#include "fuzz/patches.h"

using namespace dnheap;
using namespace dnheap::test;

namespace {

struct Process {
  HeapBuilder heap;
  std::vector<Address> types;
  std::unique_ptr<Opened> opened;

  explicit Process(Net net) : heap({.net = net, .published = net != Net::net8}) {
    auto generic = [&](const char *name, std::vector<Address> arguments, u32 ancestors) {
      std::vector<std::string> parameters;
      for (u64 i = 0; i < arguments.size(); ++i)
        parameters.push_back("T" + std::to_string(i));
      u32 rid = heap.app().metadata.type("Shop", name);
      heap.app().metadata.generic(token(Table::TypeDef, rid), parameters);
      types.push_back(heap.method_table({.rid = rid, .arguments = arguments, .ancestor_dictionaries = ancestors}));
    };
    types = {heap.object_type, heap.string_type, heap.object_array_type, heap.type("Shop.Order", 3)};
    types.push_back(heap.array(types.back(), 8));
    types.push_back(heap.array(types.back(), 8, 3));
    generic("List`1", {heap.string_type}, 0);
    generic("Map`2", {types.back(), heap.object_type}, 1);
    generic("Map`3", {types.back(), types.back(), types[5]}, 2);
    types.push_back(heap.array(types.back(), 8));
    // Type descriptions: pointer, function pointer, variable; each an argument.
    for (u64 kind : {0x0f, 0x1b, 0x13}) {
      Address desc = heap.native.words({kind, types[1], types[2], types[3], 0x2a000001, types[4], 2, types[5]});
      generic("Of`1", {desc | 2}, 0);
    }
    heap.segment(GCSegmentGeneration::gen0).object(heap.object_type);
    opened = std::make_unique<Opened>(heap);
  }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  static Process processes[] = {Process(Net::net8), Process(Net::net9), Process(Net::net11)};
  if (size < 1)
    return 0;
  Process &process = processes[data[0] % std::size(processes)];
  const HeapBuilder &heap = process.heap;
  std::unique_ptr<Target> target = patched_target(
      *process.opened->target,
      {{heap.native.address(), heap.native.end()}, {heap.modules[1].image, heap.modules[1].image + 0x10000}},
      process.types, std::as_bytes(std::span(data + 1, size - 1)));
  const ContractDescriptor &descriptor = process.opened->runtime.descriptor();
  Loader1 loader(*target, descriptor);
  try {
    RuntimeTypeSystem1 types(target->memory, descriptor, loader);
    for (Address mt : process.types) {
      if (std::optional<ObjectLayout> layout = types.object_layout(mt))
        check(layout->base_size <= 1u << 30 && layout->component_size <= 0xffff);
      std::string name = types.name(mt);
      check(!name.empty() && name.size() < 40000 && types.name(mt) == name);
    }
    check(types.notes().size() < 1000);
  } catch (const Error &) {
  }
  return 0;
}
