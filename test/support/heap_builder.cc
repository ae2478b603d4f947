#include "support/heap_builder.h"

#include "image/elf_file.h"
#include "runtime/vm/method_table_flags.h"

#include <algorithm>
#include <stdexcept>

namespace dnheap::test {

namespace {

constexpr u64 segment_stride = 64 << 20, image_stride = 1 << 20;

// 64-bit targets live where Linux puts them, which no 32-bit number can name.
Address place(Format format, Address low) { return format.pointer_size == 8 ? 0x7f0000000000 + low : low; }

constexpr Address module_at = 0x10000000, native_at = 0x20000000, images_at = 0x28000000, handles_at = 0x18000000,
                  heap_at = 0x40000000;

Layout layout_of(Net net) {
  switch (net) {
  case Net::net8: return {20, 29, 53, 11, 0, 0, 0, 34, 0, 100, 15};
  case Net::net9: return {20, 14, 37, 0, 4, 0, 36, 35, 34, 78, 15};
  case Net::net10: return {11, 14, 37, 0, 4, 1, 28, 27, 25, 52, 16};
  case Net::net11: break;
  }
  return {12, 16, 40, 0, 5, 1, 30, 29, 26, 54, 16};
}

const char *version_text(Net net) {
  switch (net) {
  case Net::net8: return "@(#)Version 8.0.3326.1 @Commit: 0";
  case Net::net9: return "@(#)Version 9.0.2226.1 @Commit: 0";
  case Net::net10: return "@(#)Version 10.0.1426.1 @Commit: 0";
  case Net::net11: break;
  }
  return "@(#)Version 11.0.126.1 @Commit: 0";
}

} // namespace

SegmentWriter::SegmentWriter(HeapBuilder &b, GCSegmentGeneration g, u32 h, Address address)
    : generation(g), heap(h), block(b.shape.format, address), builder_(b) {
  start = block.reserve(0x28) + 0x28;
}

Address SegmentWriter::object(Address method_table, u64 components) {
  bool large = generation == GCSegmentGeneration::loh || generation == GCSegmentGeneration::poh;
  u64 size = builder_.size_of(method_table, components);
  u64 aligned = align_up(size, large ? 8 : builder_.p);
  Address at = block.reserve(aligned, 1);
  block.pointer(at, method_table);
  if (components)
    block.word(at + builder_.p, components);
  GCSegmentGeneration g = gen0 ? GCSegmentGeneration::gen0 : gen1 ? GCSegmentGeneration::gen1 : generation;
  builder_.objects.push_back({at, method_table, size, aligned, g});
  return at;
}

Address SegmentWriter::string(std::string_view text) {
  Address at = object(builder_.string_type, text.size());
  for (u64 i = 0; i < text.size(); ++i)
    block.half(at + builder_.p + 4 + 2 * i, static_cast<u8>(text[i]));
  return at;
}

Address SegmentWriter::free(u64 size) { return object(builder_.free_type, size - 3 * builder_.p); }

AllocationContext SegmentWriter::context(u64 unused) {
  Address at = block.reserve(unused + 3 * builder_.p, 1);
  return {at, at + unused};
}

Address SegmentWriter::zeros(u64 size) { return block.reserve(size, 1); }

HeapBuilder::HeapBuilder(const HeapShape &s)
    : shape(s), p(s.format.pointer_size), layout(layout_of(s.net)), native(s.format, place(s.format, native_at)),
      data(s.format, place(s.format, module_at) + ElfLibraryWriter::writable_at),
      module_base_(place(s.format, module_at)),
      constants_(s.format, place(s.format, module_at) + ElfLibraryWriter::read_only_at) {
  native.reserve(0x100);
  data.append(version_text(s.net));
  // All of the runtime's variables, in some order; what is said of them follows in build().
  for (const char *name :
       {"Free",           "String",          "Object",        "ObjectArray",  "ThreadStore", "Finalizer",
        "Suspension",     "HeapType",        "AppDomain",     "SystemDomain", "max_gen",     "c_gc_state",
        "ephemeral",      "alloc_allocated", "invalid_count", "n_heaps",      "g_heaps",     "build_variant",
        "built_with_svr", "dynamic_mode",    "lowest",        "highest",      "CardTable",   "SyncTable",
        "SyncBlockCache", "Dispenser",       "gc_descriptor"})
    variable(name);
  variable("generation_table", 5 * 33);
  variable("GlobalAllocContext", 8);
  add_gc_variables();
  add_core_types();
  threads = {{.os_id = 4001}, {.os_id = 4002}};
}

Address HeapBuilder::handles_address() const { return place(shape.format, handles_at); }

Address HeapBuilder::variable(const std::string &name, u64 words) { return variables[name] = data.reserve(words * p); }

ModuleWriter &HeapBuilder::module(const std::string &file_name) {
  ModuleWriter &out = modules.emplace_back();
  out.file_name = file_name;
  out.module = native.reserve(0x1000);
  out.image = place(shape.format, images_at) + (modules.size() - 1) * image_stride;
  out.metadata.module(file_name, {});
  return out;
}

void HeapBuilder::add_core_types() {
  MetadataWriter &core = module("System.Private.CoreLib.dll").metadata;
  core.assembly("System.Private.CoreLib", {});
  Blob key; // ECMA's
  if (shape.signed_app)
    key = {0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0};
  module("app.dll").metadata.assembly("app", {}, key);
  for (u32 i = 0; i < 40; ++i) // so that row numbers are not mistaken for other small numbers
    core.type("Internal", "Filler" + std::to_string(i));
  auto generic = [&](const char *name) {
    u32 rid = core.type("System", name);
    core.generic(token(Table::TypeDef, rid), {"T"});
    return rid;
  };
  u32 object = core.type("System", "Object"), string = core.type("System", "String");
  Blob text = field_signature(element(ElementType::String));
  std::vector<FieldShape> string_fields = {
      {core.field("_stringLength", field_signature(element(ElementType::I4))), ElementType::I4, 0},
      {core.field("_firstChar", field_signature(element(ElementType::Char))), ElementType::Char, 4},
      {core.field("Empty", text, 0x0036), ElementType::Class, 0, true}};
  u32 array = core.type("System", "Array");
  u32 equatable = generic("IEquatable`1"), comparable = generic("IComparable`1");
  u32 cloneable = core.type("System", "ICloneable"), convertible = core.type("System", "IConvertible");
  const Address module = modules[0].module;
  object_type = method_table({.rid = object, .module = module, .parent = 0});
  // Its interfaces are instantiated over it: they come first, and their argument is put in afterwards.
  TypeShape interface {
    .module = module, .parent = 0, .interfaces = {}, .arguments = {}
  };
  std::vector<Address> interfaces;
  for (u32 rid : {equatable, comparable, cloneable, convertible}) {
    interface.rid = rid;
    interface.arguments = rid == equatable || rid == comparable ? std::vector<Address>{1} : std::vector<Address>{};
    interfaces.push_back(method_table(interface));
  }
  string_type = method_table({.base_size = static_cast<u32>(2 * p + 6),
                              .component_size = 2,
                              .rid = string,
                              .module = module,
                              .interfaces = interfaces});
  fields(string_type, string_fields);
  auto pointer_at = [&](Address at) {
    return load_pointer(native.bytes().data() + (at - native.address()), shape.format);
  };
  for (Address mt : {interfaces[0], interfaces[1]})
    native.pointer(pointer_at(pointer_at(mt + 16 + 4 * p)), string_type);
  free_type = native.reserve(16 + 8 * p);
  native.word(free_type, mt_has_component_size | 1);
  native.word(free_type + 4, 3 * p);
  types_[free_type] = {.base_size = static_cast<u32>(3 * p), .component_size = 1};
  array_base_type_ = method_table({.rid = array, .module = module});
  object_array_type = this->array(object_type, static_cast<u32>(p));
  add_primitive("Byte", ElementType::U1, 1);
  add_primitive("Int32", ElementType::I4, 4);
  add_primitive("Int64", ElementType::I8, 8);
}

void HeapBuilder::add_primitive(const char *name, ElementType type, u32 size) {
  u32 rid = core().metadata.type("System", name);
  u32 field = core().metadata.field("m_value", field_signature(element(type)), 0x0001);
  Address mt = method_table({.base_size = static_cast<u32>(2 * p + align_up(u64{size}, p)),
                             .flags = mt_category_primitive | 0x10000,
                             .rid = rid,
                             .module = core().module});
  fields(mt, {{field, type, 0}});
  value_type(mt, type, size);
}

Address HeapBuilder::class_of(Address mt) const {
  const std::byte *at = native.bytes().data() + (mt - native.address());
  return load_pointer(at + 16 + 3 * p, shape.format);
}

// FieldDesc {MethodTable, u32 row and flags, u32 offset and type}. EEClass: the list at the fourth word; from .NET 9 on
// u16 counts of instance fields, methods and statics behind three bytes.
void HeapBuilder::fields(Address mt, const std::vector<FieldShape> &fields) {
  Address list = native.reserve(fields.size() * (p + 8)), at = list;
  u64 instances = instance_fields_[types_.at(mt).parent.value_or(object_type)], statics = 0;
  for (const FieldShape &field : fields) {
    native.pointer(at, mt);
    native.word(at + p, field.rid | (field.is_static ? 1u << 24 : 0) | (field.is_thread_static ? 1u << 25 : 0) |
                            (field.is_rva ? 1u << 26 : 0));
    native.word(at + p + 4, field.offset | static_cast<u32>(field.type) << 27);
    ++(field.is_static ? statics : instances);
    at += p + 8;
  }
  instance_fields_[mt] = instances;
  native.reserve(2 * (p + 8)); // what follows is no FieldDesc of this type
  native.pointer(class_of(mt) + 3 * p, list);
  if (shape.net != Net::net8) {
    native.half(class_of(mt) + 5 * p + 10, instances);
    native.half(class_of(mt) + 5 * p + 14, statics);
  }
}

void HeapBuilder::value_type(Address mt, ElementType normal_type, u64 size) {
  native.put(class_of(mt) + 5 * p + 8, static_cast<u8>(normal_type), 1);
  native.put(class_of(mt) + 5 * p + (shape.net == Net::net8 ? 11 : 9), types_.at(mt).base_size - size, 1);
}

Address HeapBuilder::type(const std::string &full_name, u64 fields) {
  std::size_t dot = full_name.rfind('.');
  u32 rid = dot == full_name.npos ? app().metadata.type("", full_name)
                                  : app().metadata.type(full_name.substr(0, dot), full_name.substr(dot + 1));
  return method_table({.base_size = static_cast<u32>((2 + fields) * p), .rid = rid});
}

Address HeapBuilder::continuation_type(u64 data_bytes, const std::vector<u64> &references) {
  const u64 data_at = 3 * p + 8; // header aside: MethodTable, Next, ResumeInfo, Flags, State
  const u32 base_size = static_cast<u32>(data_at + p);
  const bool is_first = !continuation_base;
  if (is_first) {
    const u32 rid = core().metadata.type("System.Runtime.CompilerServices", "Continuation");
    const FieldShape next{core().metadata.field("Next", field_signature(element(ElementType::Object))),
                          ElementType::Class, 0};
    continuation_base = method_table({.base_size = base_size, .rid = rid, .module = core().module, .series = {{p, p}}});
    fields(continuation_base, {next});
    data.pointer(variable("ContinuationMethodTable", 1), continuation_base);
  }
  TypeShape shape{
      .base_size = base_size + static_cast<u32>(data_bytes), .module = core().module, .parent = continuation_base};
  shape.series = {{p, p}};
  for (u64 offset : references)
    shape.series.emplace_back(data_at + offset, p);
  const Address mt = method_table(shape);
  if (is_first)
    data.pointer(variable("ContinuationSingletonEEClass", 1), continuation_class_ = class_of(mt));
  else
    native.pointer(mt + 16 + 3 * p, continuation_class_);
  return mt;
}

Address HeapBuilder::array(Address element, u32 component_size, u32 rank) {
  u32 flags = mt_category_array | (rank ? 0 : mt_category_sz_array_bit);
  TypeShape type{.base_size = static_cast<u32>(3 * p + 8 * rank),
                 .component_size = component_size,
                 .flags = flags,
                 .module = core().module,
                 .parent = array_base_type_,
                 .element = element};
  if (component_size == p)
    type.series = {{type.base_size - p, 0}};
  return method_table(type);
}

// MTFlags 0, BaseSize 4, MTFlags2 8, NumVirtuals 12, NumInterfaces 14; from 16 on words: Parent, Module, AuxiliaryData,
// EEClassOrCanonMT, PerInstInfo, interface map.
Address HeapBuilder::method_table(const TypeShape &s) {
  TypeShape type = s;
  type.base_size = std::max<u32>(type.base_size, type.component_size == 2 ? 0 : static_cast<u32>(3 * p));
  Address module = type.module ? type.module : app().module;
  std::vector<u64> dictionaries;
  Address per_inst = type.element;
  if (!type.arguments.empty()) {
    for (u32 i = 0; i < type.ancestor_dictionaries; ++i)
      dictionaries.push_back(native.words({object_type}));
    dictionaries.push_back(native.words(type.arguments));
    Address counts = native.reserve(8) + 8 - p;
    native.half(counts + (p == 8 ? 4 : 0), dictionaries.size());
    native.half(counts + (p == 8 ? 6 : 2), type.arguments.size());
    per_inst = native.words(dictionaries);
    if (per_inst != counts + p)
      throw std::logic_error("GenericsDictInfo must precede the dictionaries");
  }
  Address map = type.interfaces.empty() ? 0 : native.words(type.interfaces);
  Address auxiliary = native.reserve(16 * p), eeclass = type.canonical ? 0 : native.reserve(16 * p);
  write_gc_desc(type);
  Address mt = native.reserve(16 + 12 * p);
  u32 flags = type.flags | (type.component_size ? mt_has_component_size | type.component_size : 0);
  if (!type.series.empty() || !type.pattern.empty())
    flags |= mt_contains_gc_pointers;
  if (!type.arguments.empty() && !type.component_size)
    flags |= 0x10;
  native.word(mt, flags);
  native.word(mt + 4, type.base_size);
  if (shape.net == Net::net8)
    native.half(mt + 10, type.rid);
  else
    native.word(mt + 8, type.rid << 8);
  native.half(mt + 12, type.component_size == 2 ? 6 : 4);
  native.half(mt + 14, type.interfaces.size());
  u64 words[] = {type.parent.value_or(object_type),
                 module,
                 auxiliary,
                 type.canonical ? type.canonical | 1 : eeclass,
                 per_inst,
                 map};
  for (u64 i = 0; i < std::size(words); ++i)
    native.pointer(mt + 16 + i * p, words[i]);
  // Statics lie in front of the auxiliary data.
  native.pointer(mt + 16 + 2 * p, auxiliary + 8 * p);
  native.pointer(auxiliary + 9 * p, module);
  if (eeclass) {
    native.pointer(eeclass + 2 * p, mt);
    if (shape.net == Net::net8) // its size, which ends with the number of a class that a module makes up
      native.put(eeclass + 5 * p + 10, 5 * p + 16, 1);
  }
  type.module = module;
  types_[mt] = type;
  return mt;
}

// In front of the MethodTable, growing downwards; the size of a series lacks the base size.
void HeapBuilder::write_gc_desc(const TypeShape &type) {
  native.reserve(2 * p);
  std::vector<u64> words;
  if (!type.pattern.empty()) {
    for (u64 i = type.pattern.size(); i-- > 0;) {
      auto [references, skip] = type.pattern[i];
      bool little = shape.format.byte_order == ByteOrder::little;
      words.push_back(little ? references | skip << 4 * p : references << 4 * p | skip);
    }
    words.push_back(type.pattern_start);
    words.push_back(0 - u64{type.pattern.size()});
  } else {
    for (u64 i = type.series.size(); i-- > 0;) {
      words.push_back(type.series[i].second - type.base_size);
      words.push_back(type.series[i].first);
    }
    words.push_back(type.series.size());
  }
  // The MethodTable must follow at once, wherever its alignment puts it.
  u64 size = align_up(words.size() * p, 8);
  Address at = native.reserve(size) + size - words.size() * p;
  for (u64 i = 0; i < words.size(); ++i)
    native.pointer(at + i * p, words[i]);
}

u64 HeapBuilder::size_of(Address method_table, u64 components) const {
  const TypeShape &type = types_.at(method_table);
  return std::max<u64>(type.base_size + type.component_size * components, 3 * p);
}

SegmentWriter &HeapBuilder::segment(GCSegmentGeneration generation, u32 heap) {
  bool young = generation == GCSegmentGeneration::gen0 || generation == GCSegmentGeneration::gen1;
  if (young && !shape.regions)
    throw std::logic_error("without regions gen0 and gen1 are parts of ephemeral()");
  return segments.emplace_back(*this, generation, heap,
                               place(shape.format, heap_at) + segments.size() * segment_stride);
}

SegmentWriter &HeapBuilder::ephemeral(u32 heap) {
  SegmentWriter &out = segment(GCSegmentGeneration::gen2, heap);
  out.is_ephemeral = true;
  return out;
}

// A PE32+ file with one section: RVA 0x2000, at 0x400 in the file, with CLI header and metadata.
std::vector<std::byte> HeapBuilder::assembly_file(const ModuleWriter &module) const {
  std::vector<std::byte> metadata = module.metadata.write();
  constexpr u64 header = 0x80, optional = header + 24, directories = optional + 112, section = directories + 128;
  FormatWriter out({8, ByteOrder::little});
  out.fill_to(0x400);
  out.put_at(0, 0x5a4d, 2);
  out.put_at(60, header, 4);
  out.put_at(header, 0x4550, 4);
  out.put_at(header + 4, 0x8664, 2);
  out.put_at(header + 6, 1, 2);
  out.put_at(header + 20, 112 + 128, 2);
  out.put_at(optional, 0x20b, 2);
  out.put_at(optional + 56, 0x2000 + image_stride, 4);
  out.put_at(optional + 60, 0x400, 4);
  out.put_at(directories - 4, 16, 4);
  out.put_at(directories + 14 * 8, 0x2000, 4);
  out.put_at(directories + 14 * 8 + 4, 72, 4);
  for (u64 at : {section + 8, section + 16})
    out.put_at(at, 72 + metadata.size(), 4);
  out.put_at(section + 12, 0x2000, 4);
  out.put_at(section + 20, 0x400, 4);
  out.fill_to(0x400 + 72);
  out.put_at(0x400, 72, 4);
  out.put_at(0x408, 0x2000 + 72, 4);
  out.put_at(0x40c, metadata.size(), 4);
  out.append(metadata);
  return out.bytes();
}

std::vector<std::byte> HeapBuilder::library_file() const {
  ElfLibraryWriter library{.format = shape.format};
  library.build_id = build_id;
  library.read_only = constants_.bytes();
  library.writable = data.bytes();
  library.bss = 0x100;
  if (descriptor_ && shape.exported)
    library.symbols.push_back({"DotNetRuntimeContractDescriptor", descriptor_ - module_base_});
  library.symbols.push_back({"coreclr_initialize", ElfLibraryWriter::read_only_at});
  if (shape.single_file)
    library.symbols.push_back({"DotNetRuntimeInfo", ElfLibraryWriter::read_only_at});
  for (Address at : relocated_) {
    u64 value = load_pointer(data.bytes().data() + (at - data.address()), shape.format);
    library.relocations.push_back({at - module_base_, value - module_base_});
  }
  return library.write();
}

std::vector<HeapBuilder::Piece> HeapBuilder::pieces() const {
  std::vector<Piece> out;
  std::vector<std::byte> library = library_file();
  std::vector<std::shared_ptr<const void>> storage;
  for (const Range &range : ElfFile::parse(library)->layout(module_base_, storage))
    out.push_back({range.address, {range.bytes.begin(), range.bytes.end()}});
  out.push_back({native.address(), native.bytes()});
  for (const ModuleWriter &m : modules)
    if (m.has_image)
      out.push_back({m.image, assembly_file(m)});
  for (const SegmentWriter &s : segments)
    if (s.backing.empty())
      out.push_back({s.block.address(), s.block.bytes()});
  for (const Block &block : handle_segments)
    out.push_back({block.address(), block.bytes()});
  return out;
}

std::unique_ptr<Target> HeapBuilder::target() {
  if (!built_)
    build();
  built_ = true;
  auto out = std::make_unique<Target>();
  std::vector<Range> ranges;
  for (const Piece &piece : pieces())
    edits_.apply({piece.address, piece.bytes}, shape.format, ranges, out->storage);
  for (const SegmentWriter &s : segments)
    ranges.push_back({s.block.address(), s.backing});
  out->path = "synthetic.core";
  out->container = "elf-core";
  out->os = OperatingSystem::linux_os;
  out->architecture = p == 8 ? Architecture::x64 : Architecture::x86;
  out->pid = 4001;
  out->crash = crash;
  out->memory = Memory(shape.format, ranges);
  Module runtime{
      shape.single_file ? "/app/shop" : "/dotnet/libcoreclr.so", module_base_, {{module_base_, data.end(), 0}}};
  out->modules = {runtime};
  for (const ModuleWriter &m : modules)
    if (m.has_image) {
      Address end = m.image + align_up(assembly_file(m).size(), 4096);
      out->modules.push_back({"/app/" + m.file_name, m.image, {{m.image, end, 0}}});
    }
  std::sort(out->modules.begin(), out->modules.end(), [](const Module &a, const Module &b) { return a.base < b.base; });
  for (const ThreadWriter &thread : threads)
    if (thread.os_id && thread.in_target)
      out->threads.push_back({thread.os_id, 0, thread.stack_pointer, thread.registers});
  return out;
}

} // namespace dnheap::test
