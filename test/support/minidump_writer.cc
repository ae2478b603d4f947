#include "support/minidump_writer.h"

namespace dnheap::test {

namespace {

constexpr Format little = {8, ByteOrder::little};

// The file as it grows: streams first, what they point at behind them.
class File {
public:
  explicit File(u64 streams) : streams_(streams) { out_.fill_to(32 + streams * 12); }

  void stream(u32 type, const FormatWriter &content) {
    out_.align(8);
    out_.put_at(32 + next_ * 12, type, 4);
    out_.put_at(32 + next_ * 12 + 4, content.size(), 4);
    out_.put_at(32 + next_ * 12 + 8, out_.size(), 4);
    ++next_;
    out_.append(content.bytes());
  }
  // Returns where it lies.
  u64 add(Bytes bytes) {
    out_.align(8);
    u64 at = out_.size();
    out_.append(bytes);
    return at;
  }
  u64 add_text(std::string_view text) {
    FormatWriter string(little);
    string.word(text.size() * 2);
    for (char c : text)
      string.half(static_cast<u8>(c));
    string.half(0);
    return add(string.bytes());
  }
  std::vector<std::byte> finish(u64 flags) {
    out_.put_at(0, 0x504d444d, 4); // MDMP
    out_.put_at(4, 0xa793, 4);
    out_.put_at(8, streams_, 4);
    out_.put_at(12, 32, 4);
    out_.put_at(24, flags, 8);
    return out_.bytes();
  }
  u64 size() const { return out_.size(); }

private:
  FormatWriter out_{little};
  u64 streams_, next_ = 0;
};

void locate(FormatWriter &to, u64 size, u64 place) {
  to.word(size);
  to.word(place);
}

FormatWriter list_of(u64 count, bool aligned) {
  FormatWriter out(little);
  out.word(count);
  if (aligned)
    out.word(0);
  return out;
}

void write_module(File &file, FormatWriter &to, const MinidumpWriter::Module &module) {
  u64 name = file.add_text(module.path), record = 0;
  if (module.guid) {
    FormatWriter view(little);
    view.text("RSDS");
    for (u8 byte : *module.guid)
      view.put(byte, 1);
    view.word(1);
    view.text_with_nul("x.pdb");
    record = file.add(view.bytes());
  }
  u64 start = to.size();
  to.put(module.base, 8);
  to.word(module.size);
  to.word(0);
  to.word(module.time_date_stamp);
  to.word(name);
  if (module.file_version) {
    to.word(0xfeef04bd);
    to.word(0x10000);
    for (u64 i : {1, 0, 3, 2})
      to.half((*module.file_version)[i]);
  }
  to.fill_to(start + 76);
  locate(to, module.guid ? 30 : 0, record);
  to.fill_to(start + 108);
}

} // namespace

std::vector<std::byte> MinidumpWriter::write() const {
  File file(8 + more_streams.size());
  FormatWriter system(little), misc(little), region_list(little), infos(little), faults(little);
  system.half(processor);
  system.fill_to(20);
  system.word(platform);
  system.fill_to(56);
  file.stream(7, system);
  misc.word(24);
  misc.word(pid ? 1 : 0);
  misc.word(pid);
  misc.fill_to(24);
  file.stream(15, misc);

  FormatWriter module_list = list_of(modules.size(), aligned_rows), thread_list = list_of(threads.size(), aligned_rows);
  for (const Module &module : modules)
    write_module(file, module_list, module);
  file.stream(4, module_list);
  for (u64 size : {12, 64})
    infos.word(size);
  infos.word(threads.size());
  for (const Thread &thread : threads) {
    u64 start = thread_list.size();
    thread_list.word(thread.id);
    thread_list.fill_to(start + 24);
    thread_list.put(thread.stack.address, 8);
    locate(thread_list, thread.stack.bytes.size(), thread.stack_is_elsewhere ? 0 : file.add(thread.stack.bytes));
    locate(thread_list, thread.context.size(), file.add(thread.context));
    infos.word(thread.id);
    infos.word(thread.dump_flags);
    infos.fill_to(infos.size() + 56);
  }
  file.stream(3, thread_list);
  file.stream(17, infos);
  region_list.word(16);
  region_list.word(48);
  region_list.put(regions.size(), 8);
  for (const Region &region : regions) {
    for (u64 word : {region.start, region.start, u64{0}, region.size})
      region_list.put(word, 8);
    region_list.word(region.state);
    region_list.fill_to(region_list.size() + 12);
  }
  file.stream(16, region_list);
  if (exception) {
    faults.word(exception->thread);
    faults.word(0);
    faults.word(exception->code);
    faults.word(exception->flags);
    faults.put(0, 8);
    faults.put(exception->address, 8);
    faults.word(exception->parameters.size());
    faults.word(0);
    for (u64 parameter : exception->parameters)
      faults.put(parameter, 8);
    faults.fill_to(160);
    locate(faults, exception->context.size(), file.add(exception->context));
  }
  file.stream(exception ? 6 : 0, faults);
  for (const Stream &stream : more_streams) {
    FormatWriter content(little);
    content.append(stream.content);
    file.stream(stream.type, content);
  }

  if (list == List::memory) {
    FormatWriter rows = list_of(pieces.size(), aligned_rows);
    u64 place = align_up(file.size(), 8) + rows.size() + 16 * pieces.size();
    for (const Piece &piece : pieces) {
      place = align_up(place, 8);
      rows.put(piece.address, 8);
      locate(rows, piece.bytes.size(), place);
      place += piece.bytes.size();
    }
    file.stream(5, rows);
    for (const Piece &piece : pieces)
      file.add(piece.bytes);
  } else {
    FormatWriter rows(little);
    rows.put(pieces.size(), 8);
    rows.put(align_up(file.size(), 8) + 16 + 16 * pieces.size(), 8);
    for (const Piece &piece : pieces) {
      rows.put(piece.address, 8);
      rows.put(piece.bytes.size(), 8);
    }
    file.stream(9, rows);
    FormatWriter all(little);
    for (const Piece &piece : pieces)
      all.append(piece.bytes);
    file.add(all.bytes());
  }
  return file.finish(flags);
}

MinidumpWriter minidump_writer(HeapBuilder &heap) {
  std::unique_ptr<Target> target = heap.target();
  MinidumpWriter out{.processor = static_cast<u16>(heap.p == 8 ? 9 : 0)};
  out.pid = 4001;
  for (const Range &range : target->memory.ranges())
    out.pieces.push_back({range.address, {range.bytes.begin(), range.bytes.end()}});
  for (const dnheap::Module &module : target->modules)
    out.modules.push_back({module.file_name() == "libcoreclr.so" ? "Z:\\dotnet\\coreclr.dll" : module.path, module.base,
                           static_cast<u32>(module.end() - module.base)});
  for (const dnheap::Thread &thread : target->threads)
    out.threads.push_back({.id = static_cast<u32>(thread.id)});
  return out;
}

std::vector<std::byte> context_bytes(u64 size, u64 word, const std::map<u64, u64> &values) {
  FormatWriter out(little);
  out.fill_to(size);
  for (auto [offset, value] : values)
    out.put_at(offset, value, word);
  return out.bytes();
}

} // namespace dnheap::test
