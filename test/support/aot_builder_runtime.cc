// What the compiler and the runtime say of themselves: ReadyToRun header, debug header, GcDacVars, heaps, threads.
#include "support/aot_builder.h"

namespace dnheap::test {

namespace {

constexpr u64 thread_words = 24; // of a thread

} // namespace

Address AotBuilder::text(const std::string &text) { return constants.append(text + std::string(1, '\0')); }

void AotBuilder::write_sections() {
  // Four buckets; offsets of two bytes.
  std::vector<Address> mts;
  if (shape.metadata)
    for (const auto &[mt, record] : records_)
      mts.push_back(mt);
  const unsigned bits = shape.major >= 5 ? 7 : 8;
  FormatWriter lists({8, ByteOrder::little}), entries({8, ByteOrder::little});
  const u64 lists_at = 1 + 5 * 2, entries_at = lists_at + 6 * mts.size();
  std::vector<u64> starts;
  for (u64 bucket = 0; bucket < 4; ++bucket) {
    starts.push_back(lists_at + lists.size() - 1);
    for (u64 i = bucket; i < mts.size(); i += 4) {
      lists.put(hashes.at(mts[i]) & 0xff, 1);
      u64 from = lists_at + lists.size();
      put_number(lists, static_cast<u32>(entries_at + entries.size() - from), true);
      put_number(entries, static_cast<u32>(i));
      put_number(entries, u32{0x3a} << (32 - bits) | records_.at(mts[i]));
    }
  }
  starts.push_back(lists_at + lists.size() - 1);
  FormatWriter map({8, ByteOrder::little});
  map.put(2 << 2 | 1, 1);
  for (u64 start : starts)
    map.put(start, 2);
  map.append(lists.bytes());
  map.append(entries.bytes());

  Address fixups = constants.reserve(4 * mts.size(), 4);
  for (u64 i = 0; i < mts.size(); ++i)
    constants.word(fixups + 4 * i, mts[i] - (fixups + 4 * i));
  Address type_map = constants.append(map.bytes()), metadata = constants.append(metadata_.bytes());
  struct Row {
    u32 id;
    Address start, end;
  };
  std::vector<Row> rows = {{204, cell_, 0},
                           {301, type_map, type_map + map.size()},
                           {308, fixups, fixups + 4 * mts.size()},
                           {313, metadata, metadata + metadata_.size()}};
  if (!static_cells_.empty()) {
    Address region = constants.reserve(4 * static_cells_.size(), 4);
    for (u64 i = 0; i < static_cells_.size(); ++i)
      constants.word(region + 4 * i, static_cells_[i] - (region + 4 * i));
    rows.insert(rows.begin(), {201, region, region + 4 * static_cells_.size()});
  }
  Address at = variables["ready_to_run"];
  data.put(at, shape.format.byte_order == ByteOrder::little ? 0x00525452 : 0x52545200, 4);
  data.half(at + 4, shape.released ? 26 : shape.major >= 5 ? 16 : shape.major == 4 ? 10 : 9);
  data.half(at + 12, rows.size());
  const u64 row_size = shape.released ? 8 + p : 8 + 2 * p;
  data.put(at + 14, row_size, 1);
  data.put(at + 15, 1, 1);
  at += 16;
  for (const Row &row : rows) {
    data.word(at, row.id);
    data.pointer(at + 8, row.start);
    relocated_.push_back(at + 8);
    if (shape.released) {
      data.word(at + 4, row.end ? row.end - row.start : 2 * p);
    } else {
      data.pointer(at + 8 + p, row.end);
      if (row.end)
        relocated_.push_back(at + 8 + p);
    }
    at += row_size;
  }
}

void AotBuilder::write_header() {
  const std::string thread = shape.major <= 3 ? "ThreadBuffer" : "RuntimeThreadLocals";
  std::vector<std::tuple<std::string, std::string, u64>> rows = {{"GcDacVars", "SIZEOF", 45 * p},
                                                                 {"dac_gc_heap", "generation_table", 3}, // wrong, as
                                                                 {"dac_gc_heap", "alloc_allocated", 0},  // in real ones
                                                                 {"gc_alloc_context", "alloc_ptr", 0},
                                                                 {"gc_alloc_context", "alloc_limit", p},
                                                                 {"gc_alloc_context", "alloc_bytes", 16},
                                                                 {"gc_alloc_context", "alloc_bytes_uoh", 24},
                                                                 {"dac_generation", "allocation_context", 0},
                                                                 {"dac_generation", "start_segment", 7 * p},
                                                                 {"dac_generation", "allocation_start", 8 * p},
                                                                 {"Globals", "MinObjectSize", 3 * p},
                                                                 {"ThreadStore", "m_ThreadList", 2 * p},
                                                                 {thread, "SIZEOF", thread_words * p},
                                                                 {thread, "m_pNext", 11 * p},
                                                                 {thread, "m_threadId", 13 * p},
                                                                 {"MethodTable", "m_uFlags", 0},
                                                                 {"MethodTable", "m_uBaseSize", 4},
                                                                 {"MethodTable", "m_pRelatedParameterType", 8},
                                                                 {"MethodTable", "m_VTable", 16 + p},
                                                                 {"RuntimeInstance", "m_pThreadStore", p}};
  if (shape.major >= 5) {
    rows.emplace_back("ee_alloc_context", "m_rgbAllocContextBuffer", p);
    rows.emplace_back(thread, "m_eeAllocContext", 2 * p);
  } else {
    rows.emplace_back(thread, "m_rgbAllocContextBuffer", 3 * p);
  }
  const char *members[] = {"allocated", "committed", "reserved", "used",
                           "mem",       "flags",     "next",     "background_allocated"};
  for (u64 i = 0; i < std::size(members); ++i)
    rows.emplace_back("dac_heap_segment", members[i], i * p);
  Address at = types;
  for (const auto &[type, field, offset] : rows) {
    data.pointer(at, text(type));
    data.pointer(at + p, text(field));
    data.word(at + 2 * p, offset);
    at += p == 8 ? 24 : 12;
  }
  at = variables["globals"];
  for (const auto &[name, value] : {std::pair{"g_CrashInfoBuffer", variables["crash"]},
                                    {"g_pTheRuntimeInstance", variables["instance"]},
                                    {"g_gcDacGlobals", variables["GcDacVars"]},
                                    {"g_pFreeObjectEEType", free_type}}) {
    data.pointer(at, text(name));
    data.pointer(at + p, value);
    at += 2 * p;
  }
  bool little = shape.format.byte_order == ByteOrder::little;
  data.put(header, little ? 0x48444e44 : 0x444e4448, 4);
  data.half(header + 4, shape.major);
  data.word(header + 8, (p == 8 ? 1 : 0) | (little ? 0 : 2));
  data.pointer(header + 16, types);
  data.pointer(header + 16 + p, variables["globals"]);
}

// Generations 0 to 4 at `table`: chains of their segments.
void AotBuilder::write_generations(Address table, bool in_data) {
  Block &to = in_data ? data : native;
  for (u64 generation = 0; generation < 5; ++generation) {
    Address link = table + generation * generation_words * p + start_segment_word * p;
    bool first = true;
    for (const AotSegment &s : segments) {
      u64 listed = s.generation == GCSegmentGeneration::frozen ? 2 : static_cast<u64>(s.generation);
      if (listed != generation)
        continue;
      (first ? to : native).pointer(link, s.structure);
      link = s.structure + 6 * p;
      first = false;
    }
  }
}

void AotBuilder::write_heap() {
  Address ephemeral = 0, allocated = 0;
  for (AotSegment &s : segments) {
    s.structure = native.reserve(12 * p, p);
    Address end = s.block.end();
    bool is_ephemeral = s.generation == GCSegmentGeneration::gen0;
    if (is_ephemeral) {
      ephemeral = s.structure;
      allocated = end;
    }
    // Of the segment that is allocated from, its own end is out of date.
    const u64 members[] = {is_ephemeral ? s.start : end,
                           align_up(end, 4096),
                           align_up(end, 4096),
                           end,
                           s.start,
                           s.generation == GCSegmentGeneration::frozen ? 1u : 0u};
    for (u64 i = 0; i < std::size(members); ++i)
      native.pointer(s.structure + i * p, members[i]);
  }
  Address vars = variables["GcDacVars"];
  data.put(vars, 2, 1);
  data.put(vars + 1, 4, 1);
  data.pointer(vars + (p == 8 ? 8 : 4), generation_words * p);
  data.pointer(vars + (p == 8 ? 16 : 8), 5);
  data.pointer(vars + 45 * p, vars); // the variable that points at it
  auto set = [&](u64 index, const char *name) { data.pointer(vars + (3 + index) * p, variables.at(name)); };
  set(1, "built_with_svr");
  set(4, "max_gen");
  set(6, "c_gc_state");
  set(21, "invalid_count");
  set(26, "handle_table_map");
  set(28, "generation_offsets");
  data.word(variables["max_gen"], 2);
  if (!segments.empty()) {
    data.pointer(variables["lowest"], segments.front().block.address());
    data.pointer(variables["highest"], segments.back().block.address() + (1 << 20));
  }
  // CFinalize: ends of POH, LOH, gen2, gen1, gen0, critical, ready; begin and end of the array.
  Address array = native.words(finalizable), end = array + finalizable.size() * p;
  Address queue = native.words({array, array, end, end, end, end, end, array, end + p});
  if (shape.server) {
    Address heap = native.reserve(8 * p + 5 * generation_words * p, p), table = native.words({heap});
    native.pointer(heap + 5 * p, allocated);
    native.pointer(heap + 6 * p, ephemeral);
    native.pointer(heap + 7 * p, queue);
    write_generations(heap + 8 * p, false);
    data.word(variables["n_heaps"], 1);
    data.pointer(variables["g_heaps"], table);
    set(19, "n_heaps");
    set(20, "g_heaps");
    set(27, "heap_offsets");
    return;
  }
  data.pointer(variables["finalize_queue"], queue);
  data.pointer(variables["ephemeral"], ephemeral);
  data.pointer(variables["alloc_allocated"], allocated);
  write_generations(variables["generation_table"], true);
  set(3, "generation_table");
  set(5, "mark_array");
  set(7, "ephemeral");
  set(12, "alloc_allocated");
  set(15, "finalize_queue");
}

void AotBuilder::write_threads() {
  Address next = 0;
  for (u64 i = threads.size(); i-- > 0;) {
    const AotThread &of = threads[i];
    Address thread = native.reserve((thread_words + 6) * p, p), inlined = 0;
    for (u64 j = of.inlined_statics.size(); j-- > 0;)
      inlined = native.words({of.inlined_statics[j], inlined, native.address()});
    native.pointer(thread + 3 * p, of.context.pointer);
    native.pointer(thread + 4 * p, of.context.limit);
    native.pointer(thread + 7 * p, 1); // with the next one as if it were the bounds of a stack
    native.pointer(thread + 8 * p, stack(i) + 0xff00);
    native.pointer(thread + 11 * p, next);
    native.put(thread + 13 * p, 5001 + i, shape.descriptor ? 8 : p);
    // As in real ones, though elsewhere: two words of statics, one of frames, two of the stack.
    const u64 words[] = {of.statics, inlined, 0, stack(i), stack(i + 1)};
    for (u64 j = 0; j < std::size(words); ++j)
      native.pointer(thread + (18 + j) * p, words[j]);
    // Behind a thread others keep bounds of its stack.
    if (shape.header && !shape.descriptor)
      for (u64 j = 0; j < std::size(words); ++j)
        native.pointer(thread + (thread_words + j) * p, j < 3 ? 0 : words[j]);
    variables["thread " + std::to_string(i)] = next = thread;
  }
  Address store = native.words({0, 0, next});
  // Elsewhere than what has no published place is searched.
  variables["instance"] = shape.released ? native.words({0, 0, 0, base_, 0, store}) : native.words({0, store});
  if (shape.released)
    native.word(variables["instance"] + 4 * p, 0x400);
  data.pointer(variables["runtime_instance"], variables["instance"]);
  data.pointer(variables["thread_store"], store);
}

} // namespace dnheap::test
