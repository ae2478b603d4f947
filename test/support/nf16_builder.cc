#include "support/nf16_builder.h"

#include "image/elf_file.h"

#include <algorithm>
#include <stdexcept>

namespace dnheap::test {

namespace {

using G = GCSegmentGeneration;

constexpr u64 segment_stride = 64 << 20;
constexpr Address module_at = 0x10000000, native_at = 0x20000000, heap_at = 0x40000000;
constexpr const char *export_name = "g_NetNativeRuntimeDebugHeader";

Address place(Format format, Address low) { return format.pointer_size == 8 ? 0x7f0000000000 + low : low; }

// A PE image as it lies in memory, but for its data: headers, and the exports at RVA 0x1000.
std::vector<std::byte> pe_headers(Format format, u32 data_size, u32 exported) {
  const bool wide = format.pointer_size == 8;
  constexpr u64 pe = 0x80, optional = pe + 24;
  const u64 directories = optional + (wide ? 112 : 96), sections = directories + 16 * 8;
  constexpr u32 exports = 0x1000, data = ElfLibraryWriter::writable_at;
  FormatWriter out({8, ByteOrder::little});
  out.fill_to(0x2000);
  out.put_at(0, 0x5a4d, 2);
  out.put_at(60, pe, 4);
  out.put_at(pe, 0x4550, 4);
  out.put_at(pe + 4, wide ? 0x8664 : 0x14c, 2);
  out.put_at(pe + 6, 2, 2);
  out.put_at(pe + 20, directories - optional + 16 * 8, 2);
  out.put_at(optional, wide ? 0x20b : 0x10b, 2);
  out.put_at(optional + 56, align_up(data + data_size, 4096), 4);
  out.put_at(optional + 60, 0x400, 4);
  out.put_at(directories - 4, 16, 4);
  if (exported) {
    out.put_at(directories, exports, 4);
    out.put_at(directories + 4, 0x200, 4);
  }
  const std::pair<u32, u32> places[] = {{exports, 0x1000}, {data, data_size}};
  for (u64 i = 0; i < 2; ++i)
    for (u64 field : {8, 16}) {
      out.put_at(sections + i * 40 + field, places[i].second, 4);
      out.put_at(sections + i * 40 + field + 4, places[i].first, 4);
    }
  out.put_at(exports + 20, 1, 4);
  out.put_at(exports + 24, 1, 4);
  out.put_at(exports + 28, exports + 40, 4); // functions
  out.put_at(exports + 32, exports + 44, 4); // names
  out.put_at(exports + 36, exports + 48, 4); // indices
  out.put_at(exports + 40, exported, 4);
  out.put_at(exports + 44, exports + 64, 4);
  for (u64 i = 0; export_name[i]; ++i)
    out.put_at(exports + 64 + i, static_cast<u8>(export_name[i]), 1);
  return out.bytes();
}

} // namespace

Nf16Segment::Nf16Segment(Nf16Builder &b, G g, Address address) : generation(g), block(b.format, address), builder_(b) {
  start = block.reserve(0x28) + 0x28;
}

Address Nf16Segment::object(Address eetype, u64 components) {
  const u64 size = builder_.size_of(eetype, components);
  const u64 aligned = align_up(size, generation == G::loh ? 8 : builder_.p);
  Address at = block.reserve(aligned, 1);
  block.pointer(at, eetype);
  if (components)
    block.word(at + builder_.p, components);
  builder_.objects.push_back({at, eetype, size, aligned, generation});
  return at;
}

AllocationContext Nf16Segment::context(u64 unused) {
  Address at = block.reserve(unused + builder_.gc.min_object_size, 1);
  return {at, at + unused};
}

Nf16Builder::Nf16Builder(Format f, bool as_pe)
    : format(f), p(f.pointer_size), pe(as_pe), data(f, place(f, module_at) + ElfLibraryWriter::writable_at),
      native(f, place(f, native_at)), module_base_(place(f, module_at)) {
  const u32 w = f.pointer_size;
  gc = {.number_generations = 4,
        .generation_allocation_context = 2 * w,
        .generation_allocation_start = 9 * w,
        .generation_start_segment = 7 * w,
        .size_of_generation = 13 * w,
        .heap_segment_mem = 6 * w,
        .heap_segment_allocated = 3 * w,
        .heap_segment_next = 8 * w,
        .alloc_context_alloc_ptr = 3 * w, // limit first: no real one is like that
        .alloc_context_alloc_limit = 1 * w,
        .min_object_size = 3 * w};
  data.reserve(0x40);
  native.reserve(0x40);
}

Address Nf16Builder::type(u64 base_size, u32 component_size, bool in_program) {
  Block &to = in_program ? data : native;
  Address at = to.reserve(8 + 4 * p);
  to.half(at, component_size);
  to.half(at + 2, 0x8401); // flags, none of references
  to.word(at + 4, base_size);
  to.pointer(at + 8, at); // the rest is nobody's business
  types_[at] = {static_cast<u32>(base_size), component_size};
  return at;
}

Nf16Segment &Nf16Builder::segment(G generation) {
  return segments.emplace_back(*this, generation, place(format, heap_at) + segments.size() * segment_stride);
}

u64 Nf16Builder::size_of(Address eetype, u64 components) const {
  const TypeSize &type = types_.at(eetype);
  return std::max<u64>(type.base_size + type.component_size * components, 3 * p);
}

void Nf16Builder::write_context(Block &to, Address at, AllocationContext c) const {
  to.pointer(at + gc.alloc_context_alloc_ptr, c.pointer);
  to.pointer(at + gc.alloc_context_alloc_limit, c.limit);
}

Address Nf16Builder::store_context(AllocationContext c) {
  Address at = native.reserve(8 * p);
  write_context(native, at, c);
  return at;
}

// Two lists: segments of objects with the ephemeral one last, and of large objects.
void Nf16Builder::write_segments() {
  auto lists = std::array<std::vector<Nf16Segment *>, 2>();
  for (Nf16Segment &s : segments)
    if (s.generation == G::gen2)
      lists[0].push_back(&s);
    else if (s.generation == G::loh)
      lists[1].push_back(&s);
  Nf16Segment *ephemeral = nullptr;
  for (Nf16Segment &s : segments)
    if (s.generation == G::gen0) {
      lists[0].push_back(&s);
      ephemeral = &s;
    }
  generation_table = data.reserve(u64{gc.number_generations} * gc.size_of_generation);
  gc.generation_table_addr = generation_table;
  gc.alloc_allocated_addr = data.reserve(p);
  gc.ephemeral_heap_segment_addr = data.reserve(p);
  auto generation = [&](u64 i) { return generation_table + i * gc.size_of_generation; };
  for (u64 l = 0; l < 2; ++l) {
    for (Nf16Segment *s : lists[l])
      s->structure = native.reserve(12 * p);
    for (u64 i = 0; i < lists[l].size(); ++i) {
      const Nf16Segment &s = *lists[l][i];
      // Of the ephemeral segment only alloc_allocated tells the end.
      native.pointer(s.structure + gc.heap_segment_allocated,
                     s.allocated.value_or(s.generation == G::gen0 ? s.start : s.end()));
      native.pointer(s.structure + gc.heap_segment_mem, s.start);
      native.pointer(s.structure + gc.heap_segment_next,
                     s.next.value_or(i + 1 < lists[l].size() ? lists[l][i + 1]->structure : 0));
    }
    if (!lists[l].empty())
      data.pointer(generation(gc.number_generations - 2 + l) + gc.generation_start_segment, lists[l][0]->structure);
  }
  if (ephemeral) {
    if (ephemeral->gen1 == 0)
      ephemeral->gen1 = ephemeral->gen0 ? ephemeral->gen0 : ephemeral->start;
    if (ephemeral->gen0 == 0)
      ephemeral->gen0 = ephemeral->gen1;
    for (WrittenObject &object : objects)
      if (object.generation == G::gen0 && object.address < ephemeral->gen0)
        object.generation = object.address < ephemeral->gen1 ? G::gen2 : G::gen1;
    data.pointer(gc.alloc_allocated_addr, ephemeral->end());
    data.pointer(gc.ephemeral_heap_segment_addr, ephemeral->structure);
    data.pointer(generation(0) + gc.generation_allocation_start, ephemeral->gen0);
    if (gc.number_generations > 2)
      data.pointer(generation(1) + gc.generation_allocation_start, ephemeral->gen1);
  }
  write_context(data, generation(0) + gc.generation_allocation_context, context);
}

void Nf16Builder::write_header() {
  counter_ = data.reserve(4);
  data.word(counter_, structures_invalid);
  const Address addresses[] = {gc.generation_table_addr, gc.alloc_allocated_addr, gc.ephemeral_heap_segment_addr};
  const u32 words[] = {gc.number_generations,
                       gc.generation_allocation_context,
                       gc.generation_allocation_start,
                       gc.generation_start_segment,
                       gc.size_of_generation,
                       gc.heap_segment_mem,
                       gc.heap_segment_allocated,
                       gc.heap_segment_next,
                       gc.alloc_context_alloc_ptr,
                       gc.alloc_context_alloc_limit,
                       gc.min_object_size};
  for (u64 i = 0; i < nf16_section_count; ++i) {
    Address at = sections[i] = data.reserve(p + 3 * p + sizeof words, p);
    data.half(at, versions[i].major);
    data.half(at + 2, versions[i].minor);
    if (i == static_cast<u64>(Nf16Section::gc))
      data.pointer(at + p, counter_);
    if (i == static_cast<u64>(Nf16Section::workstation_gc)) {
      for (u64 k = 0; k < 3; ++k)
        data.pointer(at + p + k * p, addresses[k]);
      for (u64 k = 0; k < std::size(words); ++k)
        data.word(at + 4 * p + 4 * k, words[k]);
    }
  }
  const u32 flags = (p == 8 ? 1u : 0) | (format.byte_order == ByteOrder::big ? 2u : 0);
  auto start = [&](Address at, u32 with_flags) {
    // Little-endian on every machine.
    const u8 bytes[] = {0x6e, 0x66, 0x31, 0x36};
    for (u64 i = 0; i < 4; ++i)
      data.put(at + i, bytes[i], 1);
    auto little = [&](u64 offset, u64 value, u64 size) {
      for (u64 i = 0; i < size; ++i)
        data.put(at + offset + i, value >> 8 * i & 0xff, 1);
    };
    little(4, version.major, 2);
    little(6, version.minor, 2);
    little(8, with_flags, 4);
    little(12, padding, 4);
  };
  for (u64 i = 0; i < decoys; ++i) {
    Address at = data.reserve(16 + 5 * p);
    start(at, i == 0 ? flags ^ 1 : flags); // the other pointer size; then addresses that are not there
    for (u64 k = 0; k < nf16_section_count; ++k)
      data.pointer(at + 16 + k * p, 0x1230 + 16 * i);
  }
  header = data.reserve(16 + 5 * p);
  start(header, flags | more_flags);
  for (u64 i = 0; i < nf16_section_count; ++i)
    data.pointer(header + 16 + i * p, named[i] ? sections[i] : 0);
}

void Nf16Builder::build() {
  if (built_)
    return;
  built_ = true;
  write_segments();
  write_header();
}

std::vector<Nf16Builder::Piece> Nf16Builder::program() const {
  if (pe)
    return {{module_base_, pe_headers(format, static_cast<u32>(data.bytes().size()),
                                      exported ? static_cast<u32>(header - module_base_) : 0)},
            {data.address(), data.bytes()}};
  ElfLibraryWriter library{.format = format};
  library.writable = data.bytes();
  library.bss = 0x100;
  library.symbols.push_back({"main", ElfLibraryWriter::read_only_at});
  if (exported)
    library.symbols.push_back({export_name, header - module_base_});
  library.read_only.resize(16);
  std::vector<std::byte> file = library.write();
  std::vector<std::shared_ptr<const void>> storage;
  std::vector<Piece> out;
  for (const Range &range : ElfFile::parse(file)->layout(module_base_, storage))
    out.push_back({range.address, {range.bytes.begin(), range.bytes.end()}});
  return out;
}

std::vector<Nf16Builder::Piece> Nf16Builder::pieces() const {
  std::vector<Piece> out = program();
  out.push_back({native.address(), native.bytes()});
  for (const Nf16Segment &s : segments)
    out.push_back({s.block.address(), s.block.bytes()});
  return out;
}

std::unique_ptr<Target> Nf16Builder::target() {
  build();
  auto out = std::make_unique<Target>();
  std::vector<Range> ranges;
  for (const Piece &piece : pieces())
    edits_.apply({piece.address, piece.bytes}, format, ranges, out->storage);
  out->path = "synthetic.core";
  out->container = "elf-core";
  out->os = pe ? OperatingSystem::windows : OperatingSystem::linux_os;
  out->architecture = p == 8 ? Architecture::x64 : Architecture::x86;
  out->pid = 4001;
  out->memory = Memory(format, ranges);
  out->modules = {{pe ? "C:\\app\\shop.exe" : "/app/shop", module_base_, {{module_base_, data.end(), 0}}}};
  return out;
}

} // namespace dnheap::test
