// HeapBuilder, third part: the AppDomain's assemblies and what statics are found by.
#include "support/heap_builder.h"

namespace dnheap::test {

namespace {

// In pointer-sized words.
constexpr u64 domain_list = 40, assembly_word = 12, type_params_word = 23; // the last: behind the map of types
constexpr u64 local_module_word = 70;                                      // of a Module, 8.0
constexpr u64 stack_base_word = 60, thread_statics_word = 66;              // of a Thread

} // namespace

Address HeapBuilder::auxiliary_of(Address mt) const {
  return load_pointer(native.bytes().data() + (mt + 16 + 2 * p - native.address()), shape.format);
}

// In front of the auxiliary data: {GC base, other base, MethodTable}, and in front of that {u32 index, u32 GC index,
// …}.
void HeapBuilder::statics(Address mt, Address base) {
  Address auxiliary = auxiliary_of(mt);
  u32 flags = load<u32>(native.bytes().data() + (mt + 8 - native.address()), shape.format.byte_order);
  native.word(mt + 8, flags | 2);
  native.pointer(auxiliary - 3 * p, base);
  native.pointer(auxiliary - p, mt);
  native.word(auxiliary - 4 * p - 8, 0xffffffff);
  native.word(auxiliary - 4 * p - 4, 0xffffffff);
}

void HeapBuilder::thread_statics(Address mt, u32 index) { native.word(auxiliary_of(mt) - 4 * p - 4, index); }

// AppDomain → {u32 count, {next block, u32 size, elements}} → (DomainAssembly →) Assembly → Module.
void HeapBuilder::write_assemblies() {
  Address domain = native.reserve(80 * p);
  std::vector<u64> elements;
  for (ModuleWriter &m : modules) {
    Address assembly = native.reserve(6 * p), element = native.words({assembly});
    native.pointer(assembly, native.address());
    native.pointer(assembly + (shape.net == Net::net8 ? 3 : 2) * p, m.module);
    native.pointer(m.module + assembly_word * p, assembly);
    elements.push_back(shape.net == Net::net11 ? assembly : element);
    // {…, buckets, u32 count}; buckets: their number, two words, the chains; an entry: {TypeHandle, next}.
    Address table = native.reserve(4 * p), buckets = native.reserve((3 + 2) * p);
    native.pointer(table + 2 * p, buckets);
    native.word(table + 3 * p, m.instantiations.size() + 1);
    native.pointer(buckets, 2);
    u64 chains[] = {0, 1};
    std::vector<Address> entries = m.instantiations;
    entries.push_back(&m == &core() ? object_array_type : string_type);
    for (u64 i = 0; i < entries.size(); ++i)
      chains[i % 2] = native.words({entries[i], chains[i % 2]});
    native.pointer(buckets + 3 * p, chains[0]);
    native.pointer(buckets + 4 * p, chains[1]);
    native.pointer(m.module + (layout.module_types + type_params_word) * p, table);
    if (shape.net == Net::net8 && !m.half_gone)
      native.pointer(m.module + local_module_word * p,
                     native.words({element, 0, 0, 0, m.statics, m.number.value_or(elements.size() - 1), 0, 0}));
  }
  Address list = domain + domain_list * p, block = list + p;
  native.word(list, elements.size());
  while (!elements.empty()) {
    u64 size = std::min<u64>(elements.size(), 5);
    native.word(block + p, size);
    for (u64 i = 0; i < size; ++i)
      native.pointer(block + (2 + i) * p, elements[i]);
    elements.erase(elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(size));
    Address next = elements.empty() ? 0 : native.reserve(8 * p);
    native.pointer(block, next);
    block = next;
  }
  set("AppDomain", domain);
}

void HeapBuilder::write_thread_parts(const ThreadWriter &thread) {
  native.pointer(thread.address + stack_base_word * p, thread.stack_base);
  native.pointer(thread.address + (stack_base_word + 1) * p, thread.stack_limit);
}

// .NET 9 on: Thread → {u32 count, u32, object[], handles, Thread, in flight}. 8.0: Thread → a table by module →
// {0, 0, handle of an object[]}.
void HeapBuilder::write_thread_statics() {
  for (ThreadWriter &thread : threads) {
    if (!thread.statics)
      continue;
    Address at = thread.address + thread_statics_word * p;
    if (shape.net == Net::net8) {
      Address handle = native.words({thread.statics}), module = native.words({0, 0, handle, 0});
      native.pointer(at, native.words({0, module}));
      native.pointer(at + p, 2);
    } else {
      Address data_of_thread = native.reserve(8 + 4 * p);
      native.word(data_of_thread, thread.statics_count);
      native.pointer(data_of_thread + 8, thread.statics);
      native.pointer(data_of_thread + 8 + 2 * p, thread.address);
      native.pointer(at, data_of_thread);
    }
  }
}

} // namespace dnheap::test
