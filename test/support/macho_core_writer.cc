#include "support/macho_core_writer.h"

#include "image/elf_image.h"

#include <algorithm>

namespace dnheap::test {

namespace {

constexpr Format core_format{8, ByteOrder::little};
constexpr u64 thread_bytes_x64 = 21 * 8, thread_bytes_arm64 = 34 * 8;

u32 flavor_of(u32 cpu) { return cpu == macho::cpu_x64 ? 4 : 6; }
u64 stack_pointer_place(u32 cpu) { return cpu == macho::cpu_x64 ? 7 : 31; }

// createdump adds the record of the vector registers.
void put_core_thread(FormatWriter &out, u32 cpu, const std::vector<u64> &state) {
  const u64 vectors = 64;
  out.word(0x4);
  out.word(8 + 8 + state.size() * 8 + 8 + vectors);
  out.word(flavor_of(cpu));
  out.word(state.size() * 2);
  for (u64 value : state)
    out.put(value, 8);
  out.word(cpu == macho::cpu_x64 ? 5 : 17);
  out.word(vectors / 4);
  out.fill_to(out.size() + vectors);
}

void put_core_segment(FormatWriter &out, const MachoCoreWriter::Segment &segment, u64 offset) {
  out.word(0x19);
  out.word(72);
  out.fill_to(out.size() + 16);
  for (u64 value : {segment.address, std::max<u64>(segment.memory_size, segment.bytes.size()), offset,
                    static_cast<u64>(segment.bytes.size())})
    out.put(value, 8);
  for (u32 value : {segment.protection, segment.protection, 0u, 0u})
    out.word(value);
}

// A HeapBuilder's registers are those of NT_PRSTATUS; the stack pointer counts alone.
std::vector<u64> state_of(u32 cpu, const dnheap::Thread &thread) {
  return macho_state(cpu, {{stack_pointer_place(cpu), thread.stack_pointer}});
}

} // namespace

std::vector<u64> macho_state(u32 cpu, const std::map<u64, u64> &values) {
  std::vector<u64> out((cpu == macho::cpu_x64 ? thread_bytes_x64 : thread_bytes_arm64) / 8);
  for (const auto &[place, value] : values)
    out.at(place) = value;
  return out;
}

// The linker's image, in whose section lies {version, count, list, …, at 192 its own path}; the list; the paths.
void MachoCoreWriter::add_linker(std::vector<Segment> &to) const {
  constexpr u64 infos_size = 0x200;
  const Address infos = linker + MachoLibraryWriter::writable_at, list = infos + infos_size;
  FormatWriter data(core_format), paths(core_format);
  const Address paths_at = list + images.size() * 24;
  data.word(17);
  data.word(images.size());
  data.put(list, 8);
  data.fill_to(192);
  data.put(paths_at, 8);
  paths.text_with_nul("/usr/lib/dyld");
  data.fill_to(infos_size);
  for (const Image &image : images) {
    data.put(image.base, 8);
    data.put(paths_at + paths.size(), 8);
    data.put(0, 8);
    paths.text_with_nul(image.path);
  }
  data.append(paths.bytes());
  MachoLibraryWriter file{.cpu = cpu, .type = macho::type_linker, .own_name = "/usr/lib/dyld"};
  file.writable = data.bytes();
  file.section = "__all_image_info";
  const std::vector<std::byte> bytes = file.write();
  for (const Range &range : file.mapped(bytes, linker))
    to.push_back({range.address, {range.bytes.begin(), range.bytes.end()}, 0, range.address == linker ? 5u : 3u});
}

std::vector<MachoCoreWriter::Segment> MachoCoreWriter::all_segments() const {
  std::vector<Segment> out = segments;
  if (by != By::createdump)
    return out;
  if (linker)
    add_linker(out);
  FormatWriter info(core_format);
  info.text("THREADINFO");
  info.fill_to(16);
  info.word(pid);
  info.word(threads.size());
  for (const Thread &thread : threads) {
    info.put(thread.id, 8);
    info.put(thread.state.size() > stack_pointer_place(cpu) ? thread.state[stack_pointer_place(cpu)] : 0, 8);
  }
  out.push_back({thread_info_at, info.bytes(), 0, 1});
  return out;
}

std::vector<std::byte> MachoCoreWriter::list_of_images(u64 at) const {
  FormatWriter out(core_format), paths(core_format);
  const u64 paths_at = at + 24 + images.size() * 48;
  out.word(1);
  out.word(images.size());
  out.put(at + 24, 8);
  out.word(48);
  out.word(0);
  for (const Image &image : images) {
    const u64 start = out.size();
    out.put(paths_at + paths.size(), 8);
    out.fill_to(start + 24);
    out.put(image.base, 8);
    out.fill_to(start + 48);
    paths.text_with_nul(image.path);
  }
  out.append(paths.bytes());
  return out.bytes();
}

// `at`: where the first one's content comes.
std::vector<MachoCoreWriter::Note> MachoCoreWriter::all_notes(u64 at) const {
  std::vector<Note> out = more_notes;
  if (by != By::lldb)
    return out;
  for (const Note &note : out)
    at += note.content.size();
  std::string ids;
  for (const Thread &thread : threads)
    ids += (ids.empty() ? "" : ",") + std::string("{\"thread_id\":") + std::to_string(thread.id) + "}";
  FormatWriter bits(core_format), metadata(core_format);
  for (u64 word : {4, 47, 47, 0})
    bits.word(word);
  metadata.text("{\"threads\":[" + ids + "]}");
  out.push_back({"addrable bits", bits.bytes()});
  out.push_back({"process metadata", metadata.bytes()});
  out.push_back({"all image infos", list_of_images(at + bits.size() + metadata.size())});
  return out;
}

std::vector<std::byte> MachoCoreWriter::write() const {
  const std::vector<Segment> stored = all_segments();
  u64 size = stored.size() * 72 + all_notes(0).size() * 40;
  for (const Thread &thread : threads)
    size += 8 + 8 + thread.state.size() * 8 + 8 + 64;
  u64 note_at = 32 + size;
  const std::vector<Note> notes = all_notes(note_at);
  FormatWriter out(core_format);
  for (u64 word : {u64{0xfeedfacf}, u64{cpu}, u64{0}, u64{macho::type_core},
                   stored.size() + notes.size() + threads.size(), size, u64{0}, u64{0}})
    out.word(word);
  for (const Thread &thread : threads)
    put_core_thread(out, cpu, thread.state);
  for (const Note &note : notes) {
    const u64 start = out.size();
    out.word(0x31);
    out.word(40);
    out.text(note.name);
    out.fill_to(start + 24);
    out.put(note_at, 8);
    out.put(note.content.size(), 8);
    note_at += note.content.size();
  }
  u64 at = align_up(note_at, 4096);
  for (const Segment &segment : stored) {
    put_core_segment(out, segment, at);
    at += segment.bytes.size();
  }
  for (const Note &note : notes)
    out.append(note.content);
  out.align(4096);
  for (const Segment &segment : stored)
    out.append(segment.bytes);
  return out.bytes();
}

// The runtime's module is an ELF image: its headers make way for those of a Mach-O image whose segments are the same.
MachoCoreWriter macho_core_writer(HeapBuilder &heap, u32 cpu) {
  using Library = MachoLibraryWriter;
  const std::unique_ptr<Target> target = heap.target();
  const dnheap::Module &runtime = *std::ranges::find_if(
      target->modules, [](const dnheap::Module &module) { return module.file_name() == "libcoreclr.so"; });
  const ElfImage elf = *ElfImage::at(target->memory, runtime.base);
  Library library{.cpu = cpu, .own_name = "@rpath/libcoreclr.dylib"};
  library.uuid = std::vector<u8>(16, 0xc0);
  library.bss = runtime.end() - runtime.base - Library::writable_at;
  for (const Range &range : target->memory.ranges())
    if (range.end() > runtime.base + Library::read_only_at && range.end() <= runtime.base + Library::writable_at)
      library.read_only.resize(range.end() - runtime.base - Library::read_only_at);
  for (const char *name : {"DotNetRuntimeContractDescriptor", "coreclr_initialize"})
    if (const std::optional<Address> at = elf.find_symbol(name))
      library.symbols.push_back({name, *at - runtime.base});
  const std::vector<std::byte> file = library.write();
  const std::vector<Range> mapped = library.mapped(file, runtime.base);
  MachoCoreWriter out{.cpu = cpu, .pid = 4001, .linker = 0x7f0008000000};
  out.images = {{"/usr/local/share/dotnet/shared/Microsoft.NETCore.App/libcoreclr.dylib", runtime.base}};
  const Address code = runtime.base + Library::read_only_at;
  for (const Range &range : mapped) {
    const Bytes bytes = range.address == runtime.base ? range.bytes.first(Library::read_only_at) : range.bytes;
    out.segments.push_back({range.address, {bytes.begin(), bytes.end()}, 0, range.address == runtime.base ? 5u : 1u});
  }
  for (const Range &range : target->memory.ranges()) {
    const bool is_header = range.address >= runtime.base && range.address < code;
    const u64 skipped = is_header ? std::min<u64>(code - range.address, range.bytes.size()) : 0;
    if (const Bytes rest = range.bytes.subspan(skipped); !rest.empty())
      out.segments.push_back({range.address + skipped, {rest.begin(), rest.end()}});
  }
  for (const dnheap::Thread &thread : target->threads)
    out.threads.push_back({static_cast<u32>(thread.id), state_of(cpu, thread)});
  return out;
}

} // namespace dnheap::test
