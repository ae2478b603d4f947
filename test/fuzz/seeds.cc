// seeds FOLDER [CORE…]: writes FOLDER/NAME/… for every fuzz target that reads a format of its own: synthetic processes
// in all four formats, and what cores hold: their headers, the runtime's descriptor, images and metadata.
#include "analysis/records/record.h"
#include "base/host/host.h"
#include "dump/elf_core.h"
#include "dump/extracted.h"
#include "dump/open.h"
#include "report/write.h"
#include "runtime/describe/open_core_clr.h"
#include "support/bundle_writer.h"
#include "support/debug_file_writer.h"
#include "support/dwarf_writer.h"
#include "support/eh_frame_writer.h"
#include "support/gcdump_writer.h"
#include "support/lz4.h"
#include "support/macho_core_writer.h"
#include "support/minidump_writer.h"
#include "support/nettrace_writer.h"
#include "support/opened.h"
#include "support/pdb_writer.h"
#include "support/pe_writer.h"
#include "support/xz.h"
#include "support/zstd.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

using namespace dnheap;
using namespace dnheap::test;

namespace {

constexpr u64 largest = 128 << 10;

class Seeds {
public:
  explicit Seeds(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void add(const char *target, Bytes bytes) {
    if (bytes.empty() || bytes.size() > largest)
      return;
    std::filesystem::create_directories(folder_ / target);
    std::ofstream out(folder_ / target / std::to_string(count_++), std::ios::binary);
    out.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  void add_target(const Target &target) {
    for (const Module &module : target.modules)
      add("elf_fuzz", target.memory.view_up_to(module.base, largest));
    for (const Range &range : target.memory.ranges())
      for (u64 at = 0; at + 4096 <= range.bytes.size(); at += 4096) {
        Bytes rest = range.bytes.subspan(at);
        if (as_text(rest).starts_with("MZ"))
          add("pe_fuzz", rest.first(std::min<u64>(rest.size(), 16384)));
        if (std::size_t root = as_text(rest.first(4096)).find("BSJB"); root != std::string_view::npos)
          add("metadata_fuzz", rest.subspan(root, std::min<u64>(rest.size() - root, largest / 2)));
      }
    for (const Module *module : find_core_clr_modules(target)) {
      CoreClr runtime = open_core_clr(target, *module, tables_for_all_formats());
      for (const DescriptorSource &source : runtime.descriptor().sources)
        add("contract_fuzz", target.memory.view_up_to(source.json, source.json_size));
    }
  }

  u64 count() const { return count_; }

private:
  std::filesystem::path folder_;
  u64 count_ = 0;
};

void add_synthetic(Seeds &seeds) {
  for (const HeapShape &shape : all_shapes()) {
    if (shape.server || !shape.regions)
      continue;
    HeapBuilder heap(shape);
    heap.segment(GCSegmentGeneration::gen0).object(heap.type("Shop.Order", 2));
    std::unique_ptr<Target> target = heap.target();
    seeds.add_target(*target);
    seeds.add("elf_fuzz", heap.library_file());
    ElfCoreWriter core{.format = shape.format};
    core.segments = {{0x10000, std::vector<std::byte>(64)}, {0x20000, std::vector<std::byte>(64), 8192}};
    core.files = {{"/app/zoo.dll", 0x10000, 0x11000, 0}};
    core.threads = {{1, std::vector<u64>(27)}};
    core.auxv = {{6, 4096}};
    core.pid = 1;
    core.arguments = "dotnet zoo.dll";
    core.notes_at_end = shape.published;
    core.extended_count = shape.net == Net::net10;
    seeds.add("core_fuzz", core.write());
    Target dump;
    dump.container = "elf-core";
    dump.modules = {{"/app/zoo.dll", 0x10000, {{0x10000, 0x11000, 0}}, false, {}}};
    dump.threads = {{1, 2, 3, {4, 5}}};
    dump.extraction = Extraction{"zoo.core", true};
    const std::string said = extracted::description(dump);
    Bytes bytes{reinterpret_cast<const std::byte *>(said.data()), said.size()};
    core.more_notes = {{extracted::note_description, {bytes.begin(), bytes.end()}, std::string(extracted::owner)}};
    seeds.add("core_fuzz", core.write());
  }
}

void add_windows(Seeds &seeds) {
  for (u16 processor : {0, 5, 9, 12})
    for (MinidumpWriter::List list : {MinidumpWriter::List::memory64, MinidumpWriter::List::memory}) {
      MinidumpWriter dump{.processor = processor, .pid = 1, .list = list, .aligned_rows = processor == 5};
      dump.pieces = {{0x10000, std::vector<std::byte>(64)}, {0x10020, std::vector<std::byte>(64)}};
      dump.modules = {{"Z:\\app\\coreclr.dll", 0x10000, 0x1000, 1, std::array<u8, 16>{}, {{10, 0, 1426, 1}}}};
      dump.threads = {{.id = 1, .context = std::vector<std::byte>(1232), .dump_flags = 0x10}};
      dump.regions = {{0x20000, 0x1000, 0x2000}};
      dump.exception = {1, std::vector<std::byte>(1232)};
      seeds.add("minidump_fuzz", dump.write());
    }
  for (bool wide : {true, false})
    seeds.add("pe_fuzz", PeWriter{.wide = wide}.write());
  PdbWriter pdb;
  pdb.symbols = {{1, 0x40, "first"}, {1, 0x200, "?second@Shop@@YAXXZ"}};
  seeds.add("pdb_fuzz", pdb.write());
  for (u32 pointer_size : {4u, 8u})
    seeds.add("nettrace_fuzz", listed_heap({}, pointer_size).finished());
  for (u32 version : {1u, 2u, 6u}) {
    BundleWriter bundle{.program = std::vector<std::byte>(64), .version = version};
    bundle.files = {{.path = "a.dll", .bytes = PeWriter().write()}, {.path = "b.json", .bytes = {std::byte{'{'}}}};
    seeds.add("bundle_fuzz", bundle.write());
  }
}

void add_gcdumps(Seeds &seeds) {
  for (bool wide : {true, false}) {
    GcDumpWriter dump{.is_64_bit = wide};
    dump.add_group("[.NET Roots]");
    const u32 node = dump.add_type("Node", 24), text = dump.add_type("System.String");
    const u32 a = dump.add_node(node, 24, 0x10000000), b = dump.add_node(text, 62, 0x10000018);
    dump.nodes[a].children = {a, b};
    dump.nodes[0].children = {dump.add_group("[static var Node.first]", {a})};
    dump.segments = {{0x10000000, 0x10000100, {0x10000100, 0x10000100, 0x10000100, 0x10000000, 0x10000000}}};
    dump.has_interop = !wide;
    seeds.add("gcdump_fuzz", dump.write());
  }
}

void add_macos(Seeds &seeds) {
  using Exports = MachoLibraryWriter::Exports;
  for (u32 cpu : {u32{macho::cpu_x64}, u32{macho::cpu_arm64}})
    for (Exports exports : {Exports::trie, Exports::trie_of_dyld_info, Exports::table}) {
      MachoLibraryWriter library{.cpu = cpu, .uuid = std::vector<u8>(16), .exports = exports};
      library.writable = std::vector<std::byte>(64);
      library.symbols = {{.name = "DotNetRuntimeContractDescriptor", .value = MachoLibraryWriter::writable_at},
                         {.name = "internal", .value = 4, .exported = false}};
      library.fixups = {{8, 16}, {32, 1, true}};
      const std::vector<std::byte> file = library.write();
      seeds.add("macho_image_fuzz", file);
      seeds.add("macho_image_fuzz", universal_file({file}, exports == Exports::trie));
      for (MachoCoreWriter::By by : {MachoCoreWriter::By::createdump, MachoCoreWriter::By::lldb}) {
        MachoCoreWriter core{.by = by, .cpu = cpu, .pid = 1, .linker = exports == Exports::trie ? u64{0x180000000} : 0};
        core.segments = {{0x104000000, {file.begin(), file.begin() + 2048}, 0, 5}, {0x10000, {std::byte{1}}, 4096}};
        core.threads = {{7, macho_state(cpu, {{4, 0x10000}})}};
        core.images = {{"/app/libtest.dylib", 0x104000000}};
        seeds.add("macho_core_fuzz", core.write());
      }
    }
}

void add_debug_files(Seeds &seeds) {
  for (Format format : all_formats)
    for (unsigned version : {4u, 5u}) {
      DwarfWriter dwarf({format, version, version == 5 && format.pointer_size == 8});
      dwarf.begin_unit("NetRuntime");
      const u64 object = dwarf.class_type("Object", 8, 0, {{"m_pEEType", 0, 0}})[0];
      const u64 to = dwarf.reference(dwarf.declaration("Object")), pair = dwarf.declaration("Pair");
      dwarf.class_type("Pair", 16, 0, {{"A", to, 0}, {"B", dwarf.base_type("int", 5, 4), 8}});
      dwarf.class_type("Node", 32, object, {{"_next", to, 8}, {"_pair", pair, 16}});
      std::vector<u64> at = dwarf.class_type("Cache", 8, object, {}, {{"a", to}, {"b", pair}, {"c", to}});
      dwarf.place(at[1], 0x800, 8);
      dwarf.place(at[2], 0x800, 16);
      dwarf.end_unit();
      DebugFileWriter out{.format = format, .build_id = {1, 2, 3, 4}, .symbols = {{"_ZTV4Node", 0x900}}};
      out.more = {{".debug_info", dwarf.info()}, {".debug_abbrev", dwarf.abbrev()}, {".debug_str", dwarf.strings()}};
      seeds.add("dwarf_fuzz", out.write());
    }
}

void add_call_frames(Seeds &seeds) {
  EhFrameWriter writer;
  writer.functions = {{EhFrameWriter::code_at, 0x100, {0x44, 0x0e, 16, 0x86, 2, 0x0a, 0x44, 0x0c, 6, 16, 0x0b}},
                      {EhFrameWriter::code_at + 0x100, 0x100, {0x0f, 3, 0x77, 8, 0x06, 0x10, 3, 2, 0x77, 16}},
                      {EhFrameWriter::code_at + 0x200, 0x100, {0x07, 16}}};
  for (u8 function : {0x10, 0x11, 0x12})
    for (const std::vector<std::byte> &bytes : {writer.image(), writer.debug_frame()}) {
      std::vector<std::byte> seed = {std::byte{1}, std::byte{function}, std::byte{5}, std::byte{16}};
      seed.insert(seed.end(), bytes.begin(), bytes.end());
      seeds.add("call_frame_fuzz", seed);
    }
}

// Changes to a sound process have no format: some of each length.
void add_patches(Seeds &seeds) {
  std::mt19937_64 random(1);
  for (u64 length = 6; length < 400; length += 13) {
    std::vector<std::byte> bytes(length);
    for (std::byte &byte : bytes)
      byte = static_cast<std::byte>(random() % 4 ? random() : 0);
    for (const char *target : {"type_name_fuzz", "walk_fuzz", "snapshot_fuzz"})
      seeds.add(target, bytes);
  }
}

// What the tool reads of its users.
void add_records(Seeds &seeds) {
  Record record;
  record.description = ".NET 10.0.14 on linux x64";
  record.taken = 1700000000;
  record.clock = "file";
  record.notes.add("a note");
  record.owners = {{"7c1e09", "static", "static Shop.Cache.quotes", 1000, 10}};
  record.types = {{"Shop.Order", 100, 2400, 90, 5000}};
  record.classes = {{"gc_live", "gc", "alive", 4096}};
  std::string text;
  report::Sink sink(text);
  report::find_writer("json")->write(answer_of(record), {}, sink);
  seeds.add("record_fuzz", std::as_bytes(std::span(text)));
  const std::string_view budget = R"({"totals": {"live_bytes": "800MiB", "growth": {"live_bytes": "10%"}},
"types": [{"type": "Shop.Order", "live": 10000, "retained": "1GiB"}, {"match": "ViewModel$", "live": 0, "each": true}],
"owners": [{"signature": "7c1e09", "objects": 50000}, {"match": "^static", "each": true, "growth": {"retained": "5MiB"}}],
"account": [{"group": "malloc", "bytes": "200MiB"}, {"class": "stacks_in_use", "growth": {"bytes": 0}}]})";
  seeds.add("budget_fuzz", std::as_bytes(std::span(budget)));
}

void add_compressed(Seeds &seeds) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += std::to_string(i * i);
  for (const std::string &packed : {zstd(text), xz(text), xz({"a", text, "b"}), xz_of_threads(text), lz4(text),
                                    lz4(text, {.linked = false, .block_checksums = true, .states_size = true}),
                                    xz("a") + xz("b"), lz4("a") + lz4("")})
    seeds.add("compressed_fuzz", std::as_bytes(std::span(packed)));
}

void add_messages(Seeds &seeds) {
  const std::string_view messages =
      R"({"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-11-25"}}
{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"stat","arguments":{"file":"a.core","top":3,"sort":"count"},"_meta":{"progressToken":1}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"path","arguments":{"file":"b.core","subject":"--output=x","hub":["A","B"]}}}
{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"diff","arguments":{"files":["a.core","b.core"],"interval":"1h"}}}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}})";
  seeds.add("mcp_fuzz", std::as_bytes(std::span(messages)));
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  try {
    Seeds seeds(argv[1]);
    add_compressed(seeds);
    add_messages(seeds);
    add_synthetic(seeds);
    add_gcdumps(seeds);
    add_windows(seeds);
    add_macos(seeds);
    add_debug_files(seeds);
    add_call_frames(seeds);
    add_patches(seeds);
    add_records(seeds);
    for (int i = 2; i < argc; ++i)
      seeds.add_target(*open_dump(argv[i]));
    std::printf("%llu seeds\n", static_cast<unsigned long long>(seeds.count()));
  } catch (const Error &e) {
    std::fprintf(stderr, "seeds: %s\n", e.what());
    return 1;
  }
}
