#include "support/pe_writer.h"

namespace dnheap::test {

std::vector<std::byte> PeWriter::write() const {
  FormatWriter out({8, ByteOrder::little});
  out.fill_to(data_offset + data_size);
  auto put = [&](u64 at, u64 value, u64 size = 4) { out.put_at(at, value, size); };
  auto put_text = [&](u64 at, std::string_view text) {
    for (char c : text)
      put(at++, static_cast<u8>(c), 1);
  };
  put_text(0, "MZ");
  put(60, 0x80);
  put_text(0x80, "PE");
  put(0x84, 0x8664, 2);
  put(0x86, 2, 2);
  put(0x88, time_date_stamp);
  u64 optional = 0x98, directories = optional + (wide ? 112 : 96);
  put(0x94, (wide ? 112 : 96) + 16 * 8, 2);
  put(optional, wide ? 0x20b : 0x10b, 2);
  if (wide)
    put(optional + 24, image_base(), 8);
  else
    put(optional + 28, image_base());
  put(optional + 56, image_size);
  put(optional + 60, 0x400);
  put(directories - 4, 16);
  auto directory = [&](u64 index, u32 rva, u32 size) {
    put(directories + index * 8, rva);
    put(directories + index * 8 + 4, size);
  };
  directory(0, exports, 0x100);
  directory(3, functions, 24);
  directory(5, relocations, 20);
  directory(6, debug, 56);
  directory(12, imports, 16);
  directory(14, cli, cli_size);
  u64 sections = directories + 16 * 8;
  auto section = [&](u64 index, const char *name, u32 rva, u32 virtual_size, u32 offset, u32 size) {
    u64 at = sections + index * 40;
    put_text(at, name);
    put(at + 8, virtual_size);
    put(at + 12, rva);
    put(at + 16, size);
    put(at + 20, offset);
    put(at + 36, name == std::string_view(".data") ? 0xc0000040 : is_text_run ? 0x60000020 : 0x40000040);
  };
  section(0, ".text", text_rva, text_size, text_offset, text_size);
  section(1, ".data", data_rva, 0x1000, data_offset, data_size);

  auto at = [](u32 rva) { return rva - text_rva + text_offset; };
  for (u32 i = 0; i < 2; ++i) {
    put(at(functions) + 12 * i, code + 0x100 * i);
    put(at(functions) + 12 * i + 4, code + 0x100 * (i + 1));
    put(at(functions) + 12 * i + 8, unwind_data);
  }
  put(at(unwind_data), 0x3001'3205'0002'0501, 8); // version 1, 5 bytes, 2 codes: sub rsp, 32; push rbx
  put(at(cli), cli_size);
  put(at(cli) + 8, metadata);
  put(at(cli) + 12, 0x60);
  put_text(at(metadata), "BSJB");
  if (!tables.empty()) {
    put(at(cli) + 64, ready_to_run);
    put(at(cli) + 68, static_cast<u32>(16 + 12 * tables.size()));
    put_text(at(ready_to_run), "RTR");
    put(at(ready_to_run) + 12, tables.size());
    for (u32 i = 0; i < tables.size(); ++i) {
      put(at(ready_to_run) + 16 + 12 * i, tables[i].kind);
      put(at(ready_to_run) + 20 + 12 * i, tables[i].rva);
      put(at(ready_to_run) + 24 + 12 * i, tables[i].size);
    }
  }
  put(at(exports) + 20, 2);
  put(at(exports) + 24, 2);
  put(at(exports) + 28, exports + 40); // functions
  put(at(exports) + 32, exports + 48); // names
  put(at(exports) + 36, exports + 56); // indices
  put(at(exports) + 40, exports + 0x80);
  put(at(exports) + 44, data_rva + 0x10);
  put(at(exports) + 48, exports + 60);
  put(at(exports) + 52, exports + 70);
  put(at(exports) + 56, 0, 2);
  put(at(exports) + 58, 1, 2);
  put_text(at(exports) + 60, "Forwarded");
  put_text(at(exports) + 70, "Descriptor");
  put_text(at(exports) + 0x80, "other.dll.Function");
  put(at(debug) + 12, 16); // "reproducible", no data
  put(at(debug) + 28 + 12, 2);
  put(at(debug) + 28 + 20, code_view);
  put(at(debug) + 28 + 24, at(code_view));
  if (portable) {
    put(at(debug) + 28 + 4, 0x12345678);
    put(at(debug) + 28 + 10, 0x504d, 2);
    put(at(debug) + 12, 17); // in the place of the first
    put(at(debug) + 16, 8);
    put(at(debug) + 20, constant_pointer);
    put(at(debug) + 24, at(constant_pointer));
  }
  put_text(at(code_view), "RSDS");
  for (u64 i = 0; i < 16; ++i)
    put(at(code_view) + 4 + i, i + 1, 1);
  put(at(code_view) + 20, 7);
  put_text(at(code_view) + 24, "zoo.pdb");
  // Two blocks of one entry each (and none), for the two pointers.
  u32 type = wide ? 10 : 3;
  for (auto [place, rva] : {std::pair{relocations, constant_pointer}, {relocations + 8 + 2, variable_pointer}}) {
    put(at(place), rva & ~0xfffu);
    put(at(place) + 4, 10);
    put(at(place) + 8, type << 12 | (rva & 0xfff), 2);
  }
  put(at(constant_pointer), image_base() + metadata, wide ? 8 : 4);
  put(variable_pointer - data_rva + data_offset, image_base() + metadata, wide ? 8 : 4);
  return out.bytes();
}

} // namespace dnheap::test
