#include "support/aot_builder.h"

#include "image/elf_file.h"
#include "metadata/native_format.h"

#include <algorithm>

namespace dnheap::test {

namespace {

constexpr Address program_at = 0x10000000, native_at = 0x20000000, handles_at = 0x30000000, stacks_at = 0x38000000,
                  heap_at = 0x40000000;
constexpr u64 stack_bytes = 0x10000, most_series = 5;
constexpr u64 segment_stride = 1 << 20;

Address place(Format format, Address low) { return format.pointer_size == 8 ? 0x5600'0000'0000 + low : low; }

} // namespace

void put_number(FormatWriter &out, u32 value, bool longest) {
  if (!longest && value < 1 << 7) {
    out.put(value << 1, 1);
  } else if (!longest && value < 1 << 14) {
    out.put((value << 2 & 0xff) | 1, 1);
    out.put(value >> 6, 1);
  } else {
    out.put(15, 1);
    for (unsigned shift = 0; shift < 32; shift += 8)
      out.put(value >> shift & 0xff, 1);
  }
}

AotBuilder::AotBuilder(const AotShape &s)
    : shape(s), p(s.format.pointer_size),
      constants(s.format, place(s.format, program_at) + ElfLibraryWriter::read_only_at),
      data(s.format, place(s.format, program_at) + ElfLibraryWriter::writable_at),
      native(s.format, place(s.format, native_at)), handle_segment(s.format, place(s.format, handles_at)),
      base_(place(s.format, program_at)), metadata_({8, ByteOrder::little}) {
  threads.resize(3);
  native.reserve(64);
  metadata_.word(0xdeaddffd);
  // .data: what the file knows. The rest is .bss.
  initialised.first = data.reserve(0, p);
  header = data.reserve(16 + 2 * p, p);
  cell_ = data.reserve(p, p);
  variables["ready_to_run"] = data.reserve(16 + 5 * (8 + 2 * p), p);
  variables["heap_offsets"] = data.reserve(22 * 4, 4);
  variables["generation_offsets"] = data.reserve(3 * 4, 4);
  for (u64 i = 0; i < 22; ++i)
    data.word(variables["heap_offsets"] + 4 * i, i == 0    ? 5 * p
                                                 : i == 1  ? 6 * p
                                                 : i == 2  ? 7 * p
                                                 : i == 18 ? 8 * p
                                                           : ~u32{0});
  data.word(variables["generation_offsets"], 0);
  data.word(variables["generation_offsets"] + 4, start_segment_word * p);
  data.word(variables["generation_offsets"] + 8, ~u32{0});
  initialised.second = data.reserve(0, 4096);
  for (const char *name :
       {"max_gen", "c_gc_state", "mark_array", "ephemeral", "alloc_allocated", "invalid_count", "finalize_queue",
        "built_with_svr", "n_heaps", "g_heaps", "crash", "free", "thread_store", "lowest", "highest", "processors",
        "runtime_instance", "gc_descriptor", "managed_descriptor"})
    variables[name] = data.reserve(p, p);
  variables["handle_table_map"] = data.reserve(3 * p, p);
  variables["generation_table"] = data.reserve(5 * generation_words * p, p);
  variables["GcDacVars"] = data.reserve(48 * p, 8);
  types = data.reserve(100 * (p == 8 ? 24 : 12), p);
  variables["globals"] = data.reserve(8 * 2 * p, p);
  free_type = data.reserve(8 * p, p);
  data.word(free_type, 0x80000001);
  data.word(free_type + 4, 3 * p);
  sizes_[free_type] = {static_cast<u32>(3 * p), 1};
  object_type = type("System", "Object", 1);
  data.pointer(object_type + 8, 0);
  string_type = described("System", "String", static_cast<u32>(2 * p + 6), 0x80000002, 0);
}

Address AotBuilder::method_table(u32 flags, u32 base_size, Address related, u32 hash,
                                 const std::vector<Address> &parts) {
  constexpr u64 slots = 3, interfaces = 2;
  data.reserve((1 + 2 * most_series) * p, p); // a GCDesc would lie in front
  Address mt = data.reserve(8 + p + 8 + (slots + interfaces) * p + 4 * parts.size(), p);
  data.word(mt, flags);
  data.word(mt + 4, base_size);
  data.pointer(mt + 8, related);
  data.half(mt + 8 + p, slots);
  data.half(mt + 10 + p, interfaces);
  data.word(mt + 12 + p, hash);
  Address at = mt + 16 + p + (slots + interfaces) * p;
  for (Address part : parts) {
    relative(at, part);
    at += 4;
  }
  sizes_[mt] = {base_size, flags >> 31 ? flags & 0xffff : 0};
  hashes[mt] = hash;
  return mt;
}

u32 AotBuilder::metadata_string(const std::string &text) {
  u32 at = static_cast<u32>(metadata_.size());
  put_number(metadata_, static_cast<u32>(text.size()));
  metadata_.text(text);
  return at;
}

u32 AotBuilder::metadata_name_space(const std::string &name) {
  if (auto known = name_spaces_.find(name); known != name_spaces_.end())
    return known->second;
  std::size_t dot = name.rfind('.');
  const unsigned bits = shape.major >= 5 ? 7 : 8;
  u32 parent = 0, parent_kind = 0x38, text = 0;
  if (!name.empty()) {
    parent = metadata_name_space(dot == name.npos ? "" : name.substr(0, dot));
    parent_kind = 0x2f;
    text = metadata_string(dot == name.npos ? name : name.substr(dot + 1));
  }
  u32 at = static_cast<u32>(metadata_.size());
  put_number(metadata_, parent << bits | parent_kind);
  put_number(metadata_, text);
  return name_spaces_[name] = at;
}

Address AotBuilder::described(const std::string &name_space, const std::string &name, u32 base_size, u32 flags,
                              Address enclosing) {
  u32 space = enclosing ? 0 : metadata_name_space(name_space), text = metadata_string(name);
  u32 record = static_cast<u32>(metadata_.size());
  for (u32 value : {0x100001u, 0x3du, space, text, 0u, 0u, enclosing ? records_.at(enclosing) : 0u})
    put_number(metadata_, value);
  Bytes blob = metadata_.bytes();
  u32 hash = native_type_hash(*NativeMetadata(blob, shape.major >= 5 ? 7 : 8).type_name(record), hashing());
  Address mt = method_table(flags, base_size, object_type, hash, {cell_, data.address()});
  records_[mt] = record;
  return mt;
}

Address AotBuilder::type(const std::string &name_space, const std::string &name, u64 fields, Address enclosing) {
  return described(name_space, name, static_cast<u32>((2 + fields) * p), 0x50000000, enclosing);
}

Address AotBuilder::definition(const std::string &name_space, const std::string &name, u32 arity) {
  Address mt = type(name_space, name, 1);
  data.word(mt, 0x52030000 | (shape.major <= 3 ? arity : 0));
  if (shape.major > 3)
    data.word(mt + 4, arity);
  return mt;
}

Address AotBuilder::instance(Address definition, const std::vector<Address> &arguments, u64 fields, u32 more_flags) {
  std::vector<u32> of;
  for (Address argument : arguments)
    of.push_back(hashes.at(argument));
  Address list = arguments[0];
  if (arguments.size() > 1) {
    list = data.reserve(4 * arguments.size(), 4);
    for (u64 i = 0; i < arguments.size(); ++i)
      relative(list + 4 * i, arguments[i]);
  }
  std::vector<Address> parts = {cell_, data.address()};
  // Dispatch map, finalizer, optional fields (only 8.0 has them), sealed slots.
  for (u32 flag : {0x40000u, 0x100000u, shape.major <= 3 ? 0x1000000u : 0u, 0x400000u})
    if (more_flags & flag)
      parts.push_back(data.address());
  parts.push_back(definition);
  parts.push_back(list);
  return method_table(0x52000000 | more_flags, static_cast<u32>((2 + fields) * p), object_type,
                      native_instance_hash(hashes.at(definition), of), parts);
}

Address AotBuilder::array(Address element, u32 component_size, u32 rank) {
  u32 flags = 0x80020000 | (rank ? 0x17u : 0x18u) << 26 | component_size;
  return method_table(flags, static_cast<u32>(3 * p + 8 * rank), element,
                      native_array_hash(hashes.at(element), std::max(rank, 1u), rank == 0, hashing()),
                      {cell_, data.address()});
}

void AotBuilder::references(Address mt, std::string_view words) {
  const u64 base_size = sizes_.at(mt).base;
  u64 series = 0;
  for (std::size_t from = words.find('r'), to = 0; from != words.npos; from = words.find('r', to)) {
    to = std::min(words.find_first_not_of('r', from), words.size());
    ++series;
    data.pointer(mt - 2 * series * p, (1 + from) * p);
    data.pointer(mt - (2 * series + 1) * p, (to - from) * p - base_size);
  }
  data.pointer(mt - p, series);
  data.word(mt, load<u32>(data.bytes().data() + (mt - data.address()), shape.format.byte_order) | has_pointers());
}

// As real ones: 16 bytes, behind the runs of references.
Address AotBuilder::statics(u64 fields) {
  u64 base_size = (2 + fields) * p;
  Address gc_desc = data.words({fields * p - base_size, p, 1});
  Address mt = data.reserve(8 + p, 1);
  (void)gc_desc;
  data.word(mt, has_pointers());
  data.word(mt + 4, base_size);
  data.pointer(mt + 8, object_type);
  sizes_[mt] = {static_cast<u32>(base_size), 0};
  return mt;
}

// Next, ResumeInfo, u32 Flags, u32 State.
Address AotBuilder::continuation_type() {
  if (!continuation_type_)
    continuation_type_ =
        described("System.Runtime.CompilerServices", "Continuation", static_cast<u32>(4 * p + 8), 0x50000000, 0);
  references(continuation_type_, "r");
  return continuation_type_;
}

// 16 bytes as well; its runs of references are Next, and what lies at its end.
Address AotBuilder::continuation(u64 numbers, u64 references) {
  const u64 parent = continuation_type(), base_size = (4 + numbers + references) * p + 8;
  if (references)
    data.words({references * p - base_size, base_size - (1 + references) * p});
  data.words({p - base_size, p, references ? 2u : 1u});
  Address mt = data.reserve(8 + p, 1);
  data.word(mt, has_pointers());
  data.word(mt + 4, base_size);
  data.pointer(mt + 8, parent);
  sizes_[mt] = {static_cast<u32>(base_size), 0};
  return mt;
}

AotSegment &AotBuilder::segment(GCSegmentGeneration generation) {
  Address at = place(shape.format, heap_at) + segments.size() * segment_stride;
  AotSegment &out = segments.emplace_back(AotSegment{generation, 0, Block(shape.format, at)});
  out.start = out.block.reserve(0x28) + 0x28;
  return out;
}

Address AotBuilder::object(AotSegment &segment, Address method_table, u64 components) {
  Sizes sizes = sizes_.at(method_table);
  u64 size = std::max<u64>(sizes.base + sizes.component * components, 3 * p);
  bool large = segment.generation == GCSegmentGeneration::loh || segment.generation == GCSegmentGeneration::poh;
  Address at = segment.block.reserve(align_up(size, large ? 8 : p), 1);
  segment.block.pointer(at, method_table);
  if (components)
    segment.block.word(at + p, components);
  objects.push_back({at, method_table, size});
  return at;
}

AllocationContext AotBuilder::context(AotSegment &segment, u64 unused) {
  Address at = segment.block.reserve(unused + 3 * p, 1);
  return threads[0].context = {at, at + unused};
}

Address AotBuilder::static_cell(u64 content) {
  Address at = data.words({content});
  static_cells_.push_back(at);
  return at;
}

Address AotBuilder::stack(u64 thread) const { return place(shape.format, stacks_at) + thread * stack_bytes; }

void AotBuilder::build() {
  write_sections();
  before_ = data.bytes();
  std::fill(before_.begin() + static_cast<i64>(initialised.second - data.address()), before_.end(), std::byte{});
  native.pointer(native.address() + p, variables["ready_to_run"]); // the TypeManager
  data.pointer(cell_, native.address());
  write_heap();
  write_threads();
  if (shape.header)
    write_header();
  write_handles();
  if (shape.descriptor)
    write_descriptors();
}

std::vector<std::byte> AotBuilder::library(const std::vector<std::byte> &writable) const {
  ElfLibraryWriter out{.format = shape.format};
  out.build_id = {1, 2, 3, 4};
  out.read_only = constants.bytes();
  out.writable = writable;
  out.bss = 0x100;
  if (shape.exported && shape.header)
    out.symbols.push_back({"DotNetRuntimeDebugHeader", header - base_});
  if (shape.exported && shape.descriptor)
    out.symbols.push_back({"DotNetRuntimeContractDescriptor", descriptor_ - base_});
  out.symbols.push_back({"main", ElfLibraryWriter::read_only_at});
  for (Address at : relocated_) {
    u64 value = load_pointer(data.bytes().data() + (at - data.address()), shape.format);
    out.relocations.push_back({at - base_, value - base_});
  }
  return out.write();
}

std::vector<std::byte> AotBuilder::program_file() const { return library(before_); }

std::unique_ptr<Target> AotBuilder::target() {
  if (!built_)
    build();
  built_ = true;
  auto out = std::make_unique<Target>();
  std::vector<Range> pieces, ranges;
  std::vector<std::byte> program = library(data.bytes());
  std::vector<std::shared_ptr<const void>> storage;
  pieces = ElfFile::parse(program)->layout(base_, storage);
  pieces.push_back(native.range());
  pieces.push_back(handle_segment.range());
  for (const AotSegment &s : segments)
    pieces.push_back(s.block.range());
  for (const Range &piece : pieces)
    edits_.apply(piece, shape.format, ranges, out->storage);
  out->path = "synthetic.core";
  out->container = "elf-core";
  out->os = OperatingSystem::linux_os;
  out->architecture = p == 8 ? Architecture::x64 : Architecture::x86;
  out->pid = 5001;
  out->memory = Memory(shape.format, ranges);
  out->modules = {{"/srv/shop", base_, {{base_, end(), 0}}}};
  out->auxv[9] = constants.address();
  for (u64 i = 0; i < threads.size(); ++i)
    out->threads.push_back({5001 + i, 0, stack(i) + stack_bytes / 2, {}});
  return out;
}

std::vector<AotShape> all_aot_shapes() {
  std::vector<AotShape> out;
  for (Format format : all_formats)
    for (u16 major : {u16{3}, u16{4}, u16{5}})
      for (bool server : {false, true})
        for (bool exported : {true, false})
          out.push_back({.format = format, .major = major, .server = server, .exported = exported});
  return out;
}

std::vector<AotShape> all_n1_shapes() {
  std::vector<AotShape> out;
  for (Format format : all_formats)
    for (bool server : {false, true})
      for (bool exported : {true, false})
        for (bool header : {false, true})
          for (bool early : {false, true})
            out.push_back({.format = format,
                           .server = server,
                           .exported = exported,
                           .header = header,
                           .descriptor = true,
                           .early = early});
  for (Format format : all_formats)
    for (bool server : {false, true})
      for (bool exported : {true, false})
        out.push_back({.format = format,
                       .server = server,
                       .exported = exported,
                       .header = false,
                       .descriptor = true,
                       .released = true});
  return out;
}

std::string name_of(const AotShape &shape) {
  return name_of(shape.format) + (shape.header ? " header " + std::to_string(shape.major) : "") +
         (shape.descriptor ? shape.early      ? " early descriptor"
                             : shape.released ? " released descriptor"
                                              : " descriptor"
                           : "") +
         (shape.server ? " server" : " workstation") + (shape.exported ? "" : " by its cookie");
}

} // namespace dnheap::test
