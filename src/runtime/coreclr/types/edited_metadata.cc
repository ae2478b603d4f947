#include "runtime/coreclr/types/edited_metadata.h"

#include "base/bytes.h"

#include <array>

namespace dnheap {

namespace {

constexpr u64 most_bytes = 512 << 20;
constexpr u32 most_segments = 1 << 16; // of one pool
constexpr unsigned most_tables = 64;   // as many as the mask of present tables has bits

// Reads values by the descriptor, and remembers if any was missing.
class Pieces {
public:
  Pieces(const Memory &memory, const ContractDescriptor &descriptor) : memory_(memory), descriptor_(descriptor) {}

  bool ok() const { return ok_; }
  Address field(Address structure, std::string_view type, std::string_view name) {
    const std::optional<i64> offset = descriptor_.try_offset(type, name);
    ok_ = ok_ && structure && offset;
    return ok_ ? structure + static_cast<u64>(*offset) : 0;
  }
  Address pointer(Address at) { return known(memory_.try_pointer(at)); }
  template <std::unsigned_integral T> T value(Address at) { return static_cast<T>(known(memory_.try_load<T>(at))); }

  // Reads a StgPool: its first segment, and the segments that were added when that was full.
  std::vector<std::byte> pool(Address head) {
    std::vector<std::byte> out;
    std::string_view type = "StgPool";
    u32 left = most_segments;
    for (Address segment = head; ok_ && segment; type = "StgPoolSeg") {
      const u32 size = value<u32>(field(segment, type, "DataSize"));
      const Address data = pointer(field(segment, type, "SegData"));
      segment = pointer(field(segment, type, "NextSegment"));
      add(data, size, out);
      ok_ = ok_ && left--;
    }
    return out;
  }

private:
  template <class T> T known(const std::optional<T> &value) {
    ok_ = ok_ && value;
    return ok_ ? *value : T{};
  }
  void add(Address at, u64 size, std::vector<std::byte> &to) {
    copied_ += size;
    ok_ = ok_ && copied_ <= most_bytes;
    for (u64 done = 0; ok_ && done < size;) {
      const Bytes piece = memory_.view_up_to(at + done, size - done);
      ok_ = !piece.empty();
      to.insert(to.end(), piece.begin(), piece.end());
      done += piece.size();
    }
  }

  const Memory &memory_;
  const ContractDescriptor &descriptor_;
  u64 copied_ = 0;
  bool ok_ = true;
};

// Writes the format of II.24.2, little endian whatever the target's byte order is.
class ImageOut {
public:
  void number(u64 value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i)
      out_.push_back(static_cast<std::byte>(value >> 8 * i));
  }
  void text(std::string_view text) { // with its terminating zero, and zeros up to a multiple of four bytes
    for (const char c : text)
      number(static_cast<u8>(c), 1);
    number(0, 1);
    align();
  }
  void bytes(Bytes piece) { out_.insert(out_.end(), piece.begin(), piece.end()); }
  void align() {
    while (out_.size() % 4)
      number(0, 1);
  }
  void set(u64 at, u32 value) {
    for (unsigned i = 0; i < 4; ++i)
      out_[at + i] = static_cast<std::byte>(value >> 8 * i);
  }
  u32 size() const { return static_cast<u32>(out_.size()); }
  std::vector<std::byte> take() { return std::move(out_); }

private:
  std::vector<std::byte> out_;
};

struct Stream {
  std::string_view name;
  std::vector<std::byte> bytes;
};

std::vector<std::byte> image_of(const std::vector<Stream> &streams) {
  constexpr std::string_view version = "edited"; // nobody reads it
  ImageOut out;
  out.number(0x424a5342, 4);
  out.number(1, 2);
  out.number(1, 2);
  out.number(0, 4);
  out.number(align_up(version.size() + 1, 4), 4);
  out.text(version);
  out.number(0, 2);
  out.number(streams.size(), 2);
  std::vector<u64> headers;
  for (const Stream &stream : streams) {
    headers.push_back(out.size());
    out.number(0, 8);
    out.text(stream.name);
  }
  for (u64 i = 0; i < streams.size(); ++i) {
    out.set(headers[i], out.size());
    out.set(headers[i] + 4, static_cast<u32>(streams[i].bytes.size()));
    out.bytes(streams[i].bytes);
    out.align();
  }
  return out.take();
}

// Builds the stream #-: the mask of present tables, the row count of each, then the tables one after the other.
std::vector<std::byte> tables_of(Pieces &pieces, Address model, u64 bytes_of_table) {
  const Address schema = pieces.field(model, "CMiniMdRW", "Schema");
  const u32 count = pieces.value<u32>(pieces.field(model, "CMiniMdRW", "TableCount"));
  const Address tables = pieces.field(model, "CMiniMdRW", "Tables");
  const Address counts = pieces.field(schema, "CMiniMdSchema", "RecordCounts");
  if (!pieces.ok() || count > most_tables)
    return {};
  std::array<u32, most_tables> rows{};
  u64 present = 0;
  for (u32 i = 0; i < count; ++i) {
    rows[i] = pieces.value<u32>(counts + 4 * i);
    present |= u64{rows[i] != 0} << i;
  }
  ImageOut out;
  out.number(0, 4);
  out.number(2, 1);
  out.number(0, 1);
  out.number(pieces.value<u8>(pieces.field(schema, "CMiniMdSchema", "Heaps")) & 7, 1);
  out.number(1, 1);
  out.number(present, 8);
  out.number(pieces.value<u64>(pieces.field(schema, "CMiniMdSchema", "Sorted")), 8);
  for (u32 i = 0; i < count; ++i)
    if (rows[i])
      out.number(rows[i], 4);
  for (u32 i = 0; i < count && pieces.ok(); ++i)
    if (rows[i])
      out.bytes(pieces.pool(tables + i * bytes_of_table));
  return out.take();
}

} // namespace

std::optional<ModuleMetadata> read_edited_metadata(const Memory &memory, const ContractDescriptor &descriptor,
                                                   Address module) {
  const std::optional<i64> generation = descriptor.try_offset("Module", "MetadataGeneration");
  const DataType *table = descriptor.find_type("TableRW");
  if (!generation || !table || !table->size ||
      memory.try_load<u32>(module + static_cast<u64>(*generation)).value_or(0) == 0)
    return std::nullopt;
  Pieces pieces(memory, descriptor);
  const Address assembly = pieces.pointer(pieces.field(module, "Module", "PEAssembly"));
  if (!pieces.value<u32>(pieces.field(assembly, "PEAssembly", "MDImportIsRW")))
    return std::nullopt;
  const Address import = pieces.pointer(pieces.field(assembly, "PEAssembly", "MDImport"));
  const Address storage = pieces.pointer(pieces.field(import, "MDInternalRW", "Stgdb"));
  const Address model = pieces.field(storage, "CLiteWeightStgdbRW", "MiniMd");
  std::vector<Stream> streams = {{"#-", tables_of(pieces, model, *table->size)}};
  for (auto [name, heap] : {std::pair{"#Strings", "StringHeap"}, {"#Blob", "BlobHeap"}, {"#GUID", "GuidHeap"}})
    streams.push_back({name, pieces.pool(pieces.field(model, "CMiniMdRW", heap))});
  if (pieces.value<u32>(pieces.field(model, "CMiniMdRW", "All4ByteColumns")))
    streams.push_back({"#JTD", {}});
  if (!pieces.ok())
    return std::nullopt;
  auto image = std::make_shared<const std::vector<std::byte>>(image_of(streams));
  std::optional<Metadata> metadata = Metadata::parse(*image);
  return metadata ? std::optional(ModuleMetadata{std::move(*metadata), image}) : std::nullopt;
}

} // namespace dnheap
