// HeapBuilder, second half: the structures of the GC, the threads and what the runtime publishes.
#include "support/descriptor_writer.h"
#include "support/gc_text.h"
#include "support/heap_builder.h"

#include <algorithm>

namespace dnheap::test {

namespace {

// In pointer-sized words.
constexpr u64 generation_words = 33, start_segment_word = 7, allocation_start_word = 8;
constexpr u64 heap_alloc_allocated = 100, heap_ephemeral = 101, heap_generation_table = 110, heap_words = 400;
constexpr const char *segment_fields[] = {"Allocated", "Committed", "Reserved", "Used", "Mem", "Flags", "Next"};

} // namespace

void HeapBuilder::build() {
  for (auto [name, type] : {std::pair{"Free", free_type},
                            {"String", string_type},
                            {"Object", object_type},
                            {"ObjectArray", object_array_type}})
    set(name, type);
  for (const ModuleWriter &m : modules)
    write_module(m);
  write_threads();
  write_assemblies();
  write_thread_statics();
  write_locks();
  write_segments();
  write_heaps();
  write_gc_state();
  if (shape.net != Net::net11)
    write_dac_vars();
  if (shape.published && shape.net != Net::net8)
    write_descriptors();
  data.reserve(0x400); // scans look a little ahead
}

// Module.Base from .NET 9 on; before, Module → PEAssembly → PEImage → layout → base.
void HeapBuilder::write_module(const ModuleWriter &m) {
  Address image_layout = native.words({native.address(), m.image}), image = native.reserve(40 * p);
  native.pointer(image + layout.loaded_layout * p, m.has_image ? image_layout : 0);
  Address assembly = native.words({native.address(), image});
  native.pointer(m.module, native.address());
  native.pointer(m.module + layout.module_assembly * p, assembly);
  if (layout.module_base)
    native.pointer(m.module + layout.module_base * p, m.has_image ? m.image : 0);
  // TypeDefToMethodTableMap {Next, TableData, Count}: by row number; what is not loaded is null.
  u32 row_count = m.metadata.row_count(Table::TypeDef);
  Address rows = native.reserve((row_count + 1) * p);
  for (const auto &[mt, type] : types_)
    if (type.rid && type.rid <= row_count && type.module == m.module && !type.canonical)
      native.pointer(rows + type.rid * p, mt);
  native.pointer(m.module + (layout.module_types + 1) * p, rows);
  native.word(m.module + (layout.module_types + 2) * p, row_count + 1);
  if (layout.module_path) {
    std::string path = "/app/" + m.file_name;
    Address text = native.reserve(2 * path.size() + 2);
    for (u64 i = 0; i < path.size(); ++i)
      native.half(text + 2 * i, static_cast<u8>(path[i]));
    native.pointer(m.module + layout.module_path * p, text);
  }
}

void HeapBuilder::write_threads() {
  for (ThreadWriter &thread : threads) {
    thread.address = native.reserve(thread_size + thread_gap);
    if (shape.net == Net::net11)
      native.word(thread.address, 0x1020); // its state
    else
      native.pointer(thread.address, native.address());
    native.pointer(thread.address + layout.os_id * p, thread.os_id);
    write_thread_parts(thread);
    Address context = layout.context ? thread.address + layout.context * p : 0;
    if (!context && thread.has_locals) {
      Address locals = native.reserve(0x100);
      native.pointer(thread.address + layout.locals * p, locals);
      context = locals + layout.inner_context * p;
    }
    if (context) {
      write_context(native, context, thread.context);
      const Address counts = context + align_up(2 * p, u64{8});
      native.put(counts, thread.alloc_bytes, 8);
      native.put(counts + 8, thread.alloc_bytes_uoh, 8);
    }
  }
  // Links hold what they lead to: the next link up to .NET 10, the next Thread from .NET 11 on.
  auto link = [&](u64 i) { return threads[i].address + layout.link * p; };
  auto to = [&](u64 i) { return i >= threads.size() ? 0 : shape.net == Net::net11 ? threads[i].address : link(i); };
  for (u64 i = 0; i < threads.size(); ++i)
    native.pointer(link(i), to(i + 1));
  for (const ThreadWriter &thread : threads)
    if (has_block_sizes)
      native.pointer(thread.address - p, thread_size | 1);
  Address store = native.reserve(0x400);
  native.pointer(store, native.address());
  native.pointer(store + layout.store_first * p, to(0));
  native.pointer(store + layout.store_first * p + p, to(threads.size() - 1));
  native.word(store + layout.store_first * p + 3 * p, threads.size());
  set("ThreadStore", store);
  if (threads.size() > 1)
    set("Finalizer", threads[1].address);
  write_context(data, variables.at("GlobalAllocContext") + layout.inner_context * p, global_context);
}

const SegmentWriter *HeapBuilder::young_segment(u32 heap) const {
  const SegmentWriter *out = nullptr;
  for (const SegmentWriter &s : segments)
    if (s.heap == heap && (shape.regions ? s.generation == GCSegmentGeneration::gen0 : s.is_ephemeral))
      out = &s;
  return out;
}

Address HeapBuilder::alloc_allocated(u32 heap) const {
  const SegmentWriter *young = young_segment(heap);
  return young ? young->end() : 0;
}

// The lists are in the order of writing, but for frozen segments, which lead gen2's, and the ephemeral one, which ends
// it.
void HeapBuilder::write_segments() {
  for (SegmentWriter &s : segments) {
    if (s.is_ephemeral && !s.gen0)
      s.gen0 = s.end();
    if (s.is_ephemeral && !s.gen1)
      s.gen1 = s.gen0;
    s.structure = native.reserve(10 * p);
  }
  for (u32 heap = 0; heap < shape.heaps; ++heap)
    for (SegmentWriter &s : segments) {
      if (s.heap != heap)
        continue;
      bool young = &s == young_segment(heap);
      Address committed = align_up(s.end(), 4096), flags = s.generation == GCSegmentGeneration::frozen ? 1 : 0;
      // Of the segment that is being allocated from, `allocated` is out of date.
      Address allocated = s.allocated.value_or(young ? s.start : s.end());
      Address reserved = std::max(s.block.address() + (64 << 20), committed);
      u64 words[] = {allocated, committed, reserved, s.end(), s.start, flags, 0, s.start + p, 0};
      for (u64 i = 0; i < std::size(words); ++i)
        native.pointer(s.structure + i * p, words[i]);
    }
}

void HeapBuilder::write_generations(Address table, u32 heap, Block &to) {
  using G = GCSegmentGeneration;
  for (u32 g = 0; g < 5; ++g) {
    std::vector<const SegmentWriter *> list;
    auto add = [&](auto passes) {
      for (const SegmentWriter &s : segments)
        if (s.heap == heap && passes(s))
          list.push_back(&s);
    };
    constexpr G generations[] = {G::gen0, G::gen1, G::gen2, G::loh, G::poh};
    auto ephemeral = [](const SegmentWriter &s) { return s.is_ephemeral; };
    if (g == 2)
      add([](const SegmentWriter &s) { return s.generation == G::frozen; });
    add([&](const SegmentWriter &s) { return s.generation == generations[g] && !ephemeral(s); });
    if (g <= 2)
      add(ephemeral);
    Address at = table + g * generation_words * p;
    write_context(to, at, generation_contexts_[heap * 5 + g]);
    to.pointer(at + start_segment_word * p, list.empty() ? 0 : list[0]->structure);
    if (const SegmentWriter *young = young_segment(heap); young && !shape.regions && g < 3)
      to.pointer(at + allocation_start_word * p, g == 0 ? young->gen0 : g == 1 ? young->gen1 : young->start);
    for (u64 i = 0; i < list.size(); ++i)
      native.pointer(list[i]->structure + 6 * p,
                     list[i]->next.value_or(i + 1 < list.size() ? list[i + 1]->structure : 0));
  }
}

void HeapBuilder::write_heaps() {
  data.word(variables.at("max_gen"), 2);
  data.word(variables.at("invalid_count"), structures_invalid);
  if (!segments.empty()) {
    set("lowest", segments.front().block.address());
    set("highest", std::max(segments.back().block.address() + (64 << 20), segments.back().end()));
  }
  auto structure_of = [](const SegmentWriter *s) { return s ? s->structure : 0; };
  if (!shape.server) {
    set("ephemeral", structure_of(young_segment(0)));
    set("alloc_allocated", alloc_allocated(0));
    write_generations(variables.at("generation_table"), 0, data);
    return;
  }
  for (u32 heap = 0; heap < shape.heaps; ++heap) {
    Address at = native.reserve(heap_words * p);
    native.pointer(at + heap_alloc_allocated * p, alloc_allocated(heap));
    native.pointer(at + heap_ephemeral * p, structure_of(young_segment(heap)));
    write_generations(at + heap_generation_table * p, heap, native);
    heap_addresses_.push_back(at);
    for (const SegmentWriter &s : segments)
      if (s.heap == heap)
        native.pointer(s.structure + 8 * p, at);
  }
  data.word(variables.at("n_heaps"), shape.heaps);
  set("g_heaps", native.words(heap_addresses_));
}

// gcinterface.dac.h; the numbers are those of the pointers, in order.
void HeapBuilder::write_dac_vars() {
  auto offsets = [&](u64 count, const std::map<u64, u64> &words) {
    Address at = constants_.reserve(4 * count);
    for (u64 i = 0; i < count; ++i)
      constants_.word(at + 4 * i, words.contains(i) ? words.at(i) * p : 0xffffffff);
    return at;
  };
  std::map<u64, Address> pointers = {{0, variables.at("build_variant")},
                                     {1, variables.at("built_with_svr")},
                                     {4, variables.at("max_gen")},
                                     {6, variables.at("c_gc_state")},
                                     {21, variables.at("invalid_count")}};
  std::map<u64, u64> generation_fields = {{0, 0}, {1, start_segment_word}};
  if (!shape.regions)
    generation_fields[2] = allocation_start_word;
  pointers[28] = offsets(3, generation_fields);
  std::map<u64, u64> heap_fields = {{0, heap_alloc_allocated}, {1, heap_ephemeral}, {18, heap_generation_table}};
  add_gc_pointers(pointers, heap_fields);
  if (shape.server) {
    pointers[19] = variables.at("n_heaps");
    pointers[20] = variables.at("g_heaps");
    pointers[27] = offsets(22, heap_fields);
  } else {
    for (auto [index, name] : {std::pair{3, "generation_table"}, {7, "ephemeral"}, {12, "alloc_allocated"}})
      pointers[static_cast<u64>(index)] = variables.at(name);
  }
  if (dac_globals_in_front)
    variables["g_gcDacGlobals"] = data.reserve(4 * p, p);
  Address table = data.reserve(3 * p + 35 * p);
  data.put(table, 2, 1);
  data.put(table + 1, shape.net == Net::net10 ? 4 : 1, 1);
  data.pointer(table + p, generation_words * p);
  data.pointer(table + 2 * p, 5);
  for (auto [index, address] : pointers)
    data.pointer(table + (3 + index) * p, address);
  u64 tail = table + 38 * p;
  data.reserve(8 + p + (shape.net == Net::net10 ? p : 0), 1);
  data.word(tail + 4, 3);
  data.pointer(tail + 8, 64);
  if (shape.net == Net::net10 && shape.server)
    data.pointer(tail + 8 + p, variables.at("dynamic_mode"));
  if (!dac_globals_in_front)
    variables["g_gcDacGlobals"] = data.reserve(p, p);
  else // some other variable
    data.words({variables.at("dynamic_mode")});
  set("g_gcDacGlobals", table);
  write_dac_table();
}

// g_dacTable: the addresses of the variables that a debugger wants.
void HeapBuilder::write_dac_table() {
  data.word(variables.at("HeapType"), shape.server ? 2 : 1);
  // Code of arm64 reads addresses of variables from the image's own table: in front, in another order.
  variables["addresses"] =
      data.words({variables.at("String"), variables.at("g_gcDacGlobals"), variables.at("Dispenser")});
  data.reserve(64 * p); // other variables lie between
  std::vector<u64> entries;
  while (entries.size() < 16)
    entries.push_back(variables.at("SystemDomain"));
  for (const char *name :
       {"ThreadStore", "Finalizer", "Suspension", "HeapType", "g_gcDacGlobals", "AppDomain", "SystemDomain",
        "CardTable", "lowest", "highest", "GlobalAllocContext", "Object", "String", "Free"})
    entries.push_back(variables.at(name));
  while (entries.size() < 38)
    entries.push_back(variables.at("Free"));
  entries.push_back(variables.at("Dispenser"));
  while (entries.size() < 78)
    entries.push_back(variables.at("String"));
  entries.push_back(variables.at("SyncTable"));
  entries.push_back(variables.at("SyncBlockCache"));
  variables["g_dacTable"] = data.words(entries);
}

Address HeapBuilder::write_gc_descriptor() {
  DescriptorWriter description;
  auto bytes = [&](u64 words) { return static_cast<i64>(words * p); };
  description.contracts = {"GC"};
  description.types["Generation"] = {{"AllocationContext", 0}, {"StartSegment", bytes(start_segment_word)}};
  description.sizes["Generation"] = generation_words * p;
  if (!shape.regions)
    description.types["Generation"]["AllocationStart"] = bytes(allocation_start_word);
  for (u64 i = 0; i < std::size(segment_fields); ++i)
    description.types["HeapSegment"][segment_fields[i]] = bytes(i);
  description.numbers["TotalGenerationCount"] = 5;
  description.texts["GCIdentifiers"] = std::string(shape.server ? "server, " : "workstation, ") +
                                       (shape.regions ? "regions" : "segments") + ", background," +
                                       (shape.server ? " dynamic_heap" : "");
  description.pointers["MaxGeneration"] = variables.at("max_gen");
  description.pointers["StructureInvalidCount"] = variables.at("invalid_count");
  if (shape.server) {
    description.types["GCHeap"] = {{"AllocAllocated", bytes(heap_alloc_allocated)},
                                   {"EphemeralHeapSegment", bytes(heap_ephemeral)},
                                   {"GenerationTable", bytes(heap_generation_table)}};
    description.pointers["NumHeaps"] = variables.at("n_heaps");
    description.pointers["Heaps"] = variables.at("g_heaps");
  } else {
    description.pointers["GCHeapAllocAllocated"] = variables.at("alloc_allocated");
    description.pointers["GCHeapEphemeralHeapSegment"] = variables.at("ephemeral");
    description.pointers["GCHeapGenerationTable"] = variables.at("generation_table");
  }
  add_gc_description(description);
  if (auto version = contract_versions.find("GC"); version != contract_versions.end())
    description.set_contract("GC", version->second);
  if (gc.text_only)
    keep_what_the_text_lists(description);
  std::vector<u64> pointer_data;
  std::string json = description.json(pointer_data);
  return write_descriptor(data, constants_, json, pointer_data, &relocated_);
}

void HeapBuilder::write_descriptors() {
  DescriptorWriter d;
  auto bytes = [&](u64 words) { return static_cast<i64>(words * p); };
  d.version = shape.net == Net::net11 ? 2 : 0;
  d.contracts = {"EcmaMetadata", "Loader", "Object", "RuntimeTypeSystem", "Thread"};
  i64 words = 16;
  d.types["MethodTable"] = {
      {"MTFlags", 0}, {"BaseSize", 4}, {"MTFlags2", 8}, {"NumVirtuals", 12}, {"NumInterfaces", 14}};
  for (const char *field : {"ParentMethodTable", "Module", "AuxiliaryData", "EEClassOrCanonMT", "PerInstInfo"}) {
    d.types["MethodTable"][field] = words;
    words += bytes(1);
  }
  d.types["EEClass"]["MethodTable"] = bytes(2);
  d.types["EEClass"]["InternalCorElementType"] = bytes(5) + 8;
  if (shape.net == Net::net10 || shape.net == Net::net11)
    for (auto [field, offset] : {std::pair{"FieldDescList", bytes(3)},
                                 {"NumInstanceFields", bytes(5) + 10},
                                 {"NumStaticFields", bytes(5) + 14}})
      d.types["EEClass"][field] = offset;
  d.types["GenericsDictInfo"]["NumTypeArgs"] = p == 8 ? 6 : 2;
  // Shipped tables, which have it for 9.0, are for 64 bits only.
  if (shape.net != Net::net9 || p == 4)
    d.types["GenericsDictInfo"]["NumDicts"] = p == 8 ? 4 : 0;
  d.types["Object"]["m_pMethTab"] = 0;
  d.types["Array"]["m_NumComponents"] = bytes(1);
  d.types["String"] = {{"m_StringLength", bytes(1)}, {"m_FirstChar", bytes(1) + 4}};
  d.types["Module"] = {{"Base", bytes(layout.module_base)}, {"Path", bytes(layout.module_path)}};
  d.types["ThreadStore"] = {{"FirstThreadLink", bytes(layout.store_first)},
                            {"ThreadCount", bytes(layout.store_first + 3)}};
  d.types["Thread"] = {
      {"LinkNext", bytes(layout.link)}, {"OSId", bytes(layout.os_id)}, {"RuntimeThreadLocals", bytes(layout.locals)}};
  add_locks(d);
  d.types["RuntimeThreadLocals"]["AllocContext"] = 0;
  if (layout.inner_context)
    d.types["EEAllocContext"]["GCAllocationContext"] = bytes(layout.inner_context);
  d.types["GCAllocContext"] = {{"Pointer", 0}, {"Limit", bytes(1)}};
  if (shape.net == Net::net11) {
    const i64 counts = static_cast<i64>(align_up(2 * p, u64{8}));
    d.types["GCAllocContext"].insert({{"AllocBytes", counts}, {"AllocBytesLoh", counts + 8}});
  }
  d.pointers["FreeObjectMethodTable"] = variables.at("Free");
  d.pointers["StringMethodTable"] = variables.at("String");
  d.pointers["ObjectMethodTable"] = variables.at("Object");
  d.pointers["ThreadStore"] = variables.at("ThreadStore");
  d.pointers["AppDomain"] = variables.at("AppDomain");
  if (shape.net == Net::net11) {
    d.pointers["GlobalAllocContext"] = variables.at("GlobalAllocContext");
    d.pointers["GCLowestAddress"] = variables.at("lowest");
    d.pointers["GCHighestAddress"] = variables.at("highest");
    set("gc_descriptor", write_gc_descriptor());
    d.sub_descriptors["GC"] = variables.at("gc_descriptor");
  }
  if (continuation_base) {
    for (const char *name : {"ContinuationMethodTable", "ContinuationSingletonEEClass"})
      d.pointers[name] = variables.at(name);
    const i64 resume_info = bytes(2), state = bytes(3) + 4;
    d.types["ContinuationObject"] = {{"Next", bytes(1)}, {"ResumeInfo", resume_info}, {"State", state}};
    d.types["AsyncResumeInfo"] = {{"DiagnosticIP", bytes(1)}};
  }
  for (const auto &[type, fields] : more_fields)
    d.types[type].insert(fields.begin(), fields.end());
  for (const auto &[name, version] : contract_versions)
    if (name != "GC")
      d.set_contract(name, version);
  std::vector<u64> pointer_data;
  std::string json = d.json(pointer_data);
  descriptor_ = write_descriptor(data, constants_, json, pointer_data, &relocated_);
}

} // namespace dnheap::test
