// `memory`: what lies in memory from an address on? One row per word with what its value leads to, or lines of numbers
// and characters as debuggers show them.
#include "analysis/answer_head.h"
#include "analysis/objects/address_meaning.h"
#include "analysis/verbs/verbs.h"
#include "base/error.h"
#include "base/not_found.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

constexpr u64 usual_bytes = 128, most_memory_bytes = u64{1} << 20, most_characters = 4096;

// How a word of --by reads memory.
struct MemoryUnit {
  std::string_view word;
  u32 size;
  bool has_characters = false; // a line ends with its characters
  bool is_string = false;      // characters up to a zero
};
constexpr MemoryUnit memory_units[] = {{"pointers", 8},
                                       {"bytes", 1, true},
                                       {"words", 2},
                                       {"dwords", 4},
                                       {"qwords", 8},
                                       {"chars", 2, true},
                                       {"string", 1, true, true},
                                       {"wide_string", 2, true, true}};

const MemoryUnit &unit_of(const Question &question) {
  for (const MemoryUnit &unit : memory_units)
    if (unit.word == question.by)
      return unit;
  return memory_units[0];
}

u64 number_in(Bytes bytes, u64 at, u32 size, ByteOrder order) {
  u64 out = 0;
  for (u32 i = 0; i < size; ++i)
    out = out << 8 | std::to_integer<u64>(bytes[at + (order == ByteOrder::little ? size - 1 - i : i)]);
  return out;
}

char character(u64 code) { return code >= 0x20 && code < 0x7f ? static_cast<char>(code) : '.'; }

// The known bytes from the address on, at most as many as were asked for.
std::vector<std::byte> known_from(const Memory &memory, Address address, u64 size) {
  std::vector<std::byte> out;
  while (out.size() < size) {
    const Bytes part = memory.view_up_to(address + out.size(), size - out.size());
    if (part.empty())
      break;
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

struct MemoryLine {
  Address address = 0;
  std::string hexadecimal, text;
};

std::vector<MemoryLine> lines_of(Address address, Bytes bytes, const MemoryUnit &unit, ByteOrder order) {
  const u64 per_line = unit.has_characters ? 16 : 32;
  std::vector<MemoryLine> out;
  for (u64 begin = 0; begin < bytes.size(); begin += per_line) {
    MemoryLine line{address + begin, {}, {}};
    for (u64 at = begin; at + unit.size <= std::min<u64>(begin + per_line, bytes.size()); at += unit.size) {
      const u64 number = number_in(bytes, at, unit.size, order);
      line.hexadecimal += fmt::format("{}{:0{}x}", line.hexadecimal.empty() ? "" : " ", number, 2 * unit.size);
      if (unit.has_characters)
        line.text += character(number);
    }
    out.push_back(std::move(line));
  }
  return out;
}

// `is_whole`: true if a zero ends it.
MemoryLine string_at(Address address, Bytes bytes, const MemoryUnit &unit, ByteOrder order, bool &is_whole) {
  MemoryLine out{address, {}, {}};
  is_whole = false;
  for (u64 at = 0; at + unit.size <= bytes.size() && out.text.size() < most_characters; at += unit.size) {
    const u64 code = number_in(bytes, at, unit.size, order);
    if ((is_whole = code == 0))
      break;
    out.text += character(code);
  }
  return out;
}

// Contents are values: without --values a word is shown only where it is an address that leads somewhere.
report::Table pointers_table(const Snapshot &snapshot, Address address, Bytes bytes, bool values) {
  struct Word {
    Address address;
    u64 value;
    std::string leads_to;
  };
  AddressMeanings meanings(snapshot);
  const Format format = snapshot.runtime().memory().format();
  const u32 size = format.pointer_size;
  std::vector<Word> words;
  for (u64 at = 0; at + size <= bytes.size(); at += size) {
    snapshot.watch().check();
    const u64 value = number_in(bytes, at, size, format.byte_order);
    words.push_back({address + at, value, meanings.text(value)});
  }
  return report::ColumnsOf<Word>{
      {{"address", "Address", Kind::address}, &Word::address},
      {{"value", "Value", Kind::address},
       [values](const Word &word) { return values || !word.leads_to.empty() ? Cell(word.value) : Cell(); }},
      {{"leads_to", "Leads to", Kind::text}, [](const Word &word) { return report::text_cell(word.leads_to); }}}
      .table("memory", "", words);
}

report::Table lines_table(const std::vector<MemoryLine> &lines, const MemoryUnit &unit) {
  using L = MemoryLine;
  report::ColumnsOf<L> columns = {{{"address", "Address", Kind::address}, &L::address}};
  if (!unit.is_string)
    columns.add({{"hexadecimal", "Contents", Kind::text, Shown::everywhere, false, true}, &L::hexadecimal});
  if (unit.has_characters)
    columns.add({{"text", "Text", Kind::text, Shown::everywhere, false, true}, &L::text});
  return columns.table("memory", "", lines);
}

// Returns how many bytes the question is about; they may be more than are shown.
u64 bytes_asked(const Question &question, const MemoryUnit &unit, Address address) {
  u64 out = unit.is_string ? most_characters * unit.size : usual_bytes;
  if (question.limit)
    out = *question.limit > ~u64{0} / unit.size ? ~u64{0} : *question.limit * unit.size;
  if (question.range)
    out = question.range->second.value() > address ? question.range->second.value() - address : 0;
  return out;
}

} // namespace

report::Answer answer_memory(const Snapshot &snapshot, const Question &question) {
  MemoryUnit unit = unit_of(question);
  if (unit.word != memory_units[0].word && !question.values)
    throw UsageError("memory --by " + std::string(unit.word) +
                     " shows contents, so it needs --values; without, --by pointers shows what words lead to");
  report::Answer answer = begin_answer(snapshot, "memory", HeapSum::none);
  const std::optional<Address> address = written_address(question.subject);
  if (!address)
    throw UsageError("'" + printable(question.subject, 200) + "' is not an address such as 0x7f00c0de1234");
  if (unit.word == memory_units[0].word)
    unit.size = snapshot.runtime().memory().format().pointer_size;
  const u64 wanted = bytes_asked(question, unit, *address), asked = std::min(wanted, most_memory_bytes);
  if (asked == 0)
    throw UsageError("--range ends at or before " + hex(*address) + ", where the memory begins that is asked for");
  const std::vector<std::byte> bytes = known_from(snapshot.runtime().memory(), *address, asked);
  const ByteOrder order = snapshot.runtime().memory().format().byte_order;
  if (bytes.empty())
    throw NotFound("nothing is known of the memory at " + hex(*address) + ": the dump does not have it");
  bool is_whole = true;
  if (unit.is_string)
    answer.tables = {lines_table({string_at(*address, bytes, unit, order, is_whole)}, unit)};
  else if (unit.word == memory_units[0].word)
    answer.tables = {pointers_table(snapshot, *address, bytes, question.values)};
  else
    answer.tables = {lines_table(lines_of(*address, bytes, unit, order), unit)};
  answer.tables[0].whole = !question.top_is_asked;
  std::vector<std::string> &notes = answer.tables[0].notes;
  const u64 characters = std::min(bytes.size() / unit.size, most_characters);
  if (!is_whole)
    notes.push_back(bytes.size() < asked && characters < most_characters
                        ? "the dump does not have the end of the text"
                        : "the text goes on after these " + count_text(characters) + " characters");
  else if (wanted > asked && bytes.size() == asked && !unit.is_string)
    notes.push_back("no more than " + count_text(asked) + " bytes are shown: those from " + hex(*address + asked) +
                    " on are another question");
  if (bytes.size() < asked && !unit.is_string)
    notes.push_back("the dump has " + count_text(bytes.size()) + " of these " + count_text(asked) + " bytes");
  add_name_notes(snapshot, answer);
  answer.next_command = "dnheap lookup " + shell_word(question.target) + " " + hex(*address);
  return answer;
}

} // namespace dnheap
