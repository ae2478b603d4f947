// macho-library FILE NAME…: what dnheap reads of a Mach-O library of .NET's, as JSON, for macos.py: its UUID, sections'
// places, the exports of these names; the contract descriptor, in the file and in a synthetic core that holds only the
// library's headers, where the file stands in for the rest.
#include "base/host/host.h"
#include "base/text.h"
#include "contract/find.h"
#include "dump/macho_core.h"
#include "image/macho_file.h"
#include "image/macho_image.h"
#include "snapshot/files/module_files.h"
#include "support/macho_core_writer.h"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>

using namespace dnheap;

namespace {

constexpr Address loaded_at = 0x104000000;
constexpr u64 header_bytes = 0x4000;

std::string place_text(std::optional<Address> at) { return at ? std::to_string(*at - loaded_at) : "null"; }

std::string descriptor_text(const Memory &memory, std::optional<Address> at) {
  if (!at)
    return "null";
  const ContractDescriptor found = parse_descriptor(memory, *at);
  return fmt::format("[{}, {}, {}]", found.types.size(), found.globals.size(), found.contracts.size());
}

// The descriptor that is found where the dump has no more than the first pages of the library.
std::string stood_in(const std::string &path, Bytes file, u32 cpu) {
  test::MachoCoreWriter writer{.by = test::MachoCoreWriter::By::lldb, .cpu = cpu};
  writer.images = {{"/dotnet/libcoreclr.dylib", loaded_at}};
  const Bytes head = file.first(std::min<u64>(file.size(), header_bytes));
  writer.segments = {{loaded_at, {head.begin(), head.end()}, 0, 5}};
  const std::vector<std::byte> core = writer.write();
  std::unique_ptr<Target> target = open_macho_core(core, nullptr);
  if (find_exported_descriptor(*target, target->modules.at(0)))
    throw Error("the core has the descriptor already");
  lay_module_files(*target, {std::filesystem::path(path).parent_path().string()});
  const std::optional<FoundDescriptor> found = find_exported_descriptor(*target, target->modules.at(0));
  return descriptor_text(target->memory, found ? std::optional(found->address) : std::nullopt);
}

void print_library(const std::string &path, std::span<char *const> names) {
  const std::shared_ptr<const MappedFile> mapped = MappedFile::open(path);
  const std::optional<MachoFile> file = MachoFile::parse(mapped->bytes());
  if (!file)
    throw Error(path + ": no Mach-O library");
  std::vector<std::shared_ptr<const void>> storage;
  std::vector<Range> ranges;
  for (const MachoFile::Piece &piece : file->layout(loaded_at, storage))
    ranges.push_back(piece.range);
  const Memory memory({8, ByteOrder::little}, std::move(ranges));
  const std::optional<MachoImage> image = MachoImage::at(memory, loaded_at);
  if (!image)
    throw Error(path + ": no image");
  const std::string uuid = hex_bytes(image->build_id().data(), image->build_id().size());
  std::printf(R"({"uuid": "%s", "end": %s, "sections": {)", uuid.c_str(), place_text(image->end()).c_str());
  const char *separator = "";
  for (const char *section : {"__text", "__const", "__unwind_info", "__data", "__bss"})
    std::printf("%s\"%s\": %s", std::exchange(separator, ", "), section,
                place_text(image->find_section(section)).c_str());
  std::printf("}, \"exports\": {");
  separator = "";
  for (const char *name : names)
    std::printf("%s\"%s\": %s", std::exchange(separator, ", "), name, place_text(image->find_symbol(name)).c_str());
  const std::optional<Address> descriptor = image->find_symbol(descriptor_export);
  std::printf("}, \"descriptor\": %s, \"stood_in\": %s}\n", descriptor_text(memory, descriptor).c_str(),
              descriptor ? stood_in(path, mapped->bytes(), file->cpu()).c_str() : "null");
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  try {
    print_library(argv[1], std::span(argv + 2, argv + argc));
  } catch (const Error &error) {
    std::fprintf(stderr, "macho-library: %s\n", error.what());
    return 1;
  }
}
