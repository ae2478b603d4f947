#include "analysis/verbs/tables/registers_table.h"

#include "analysis/objects/address_meaning.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "runtime/compiled/registers.h"
#include "runtime/thread_registers.h"

#include <algorithm>
#include <array>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

// By their numbers in machine code.
constexpr std::array x64_registers = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
constexpr std::array x86_registers = {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"};

std::string register_name(Architecture architecture, u32 number) {
  if (architecture == Architecture::x64 && number < x64_registers.size())
    return x64_registers[number];
  if (architecture == Architecture::x86 && number < x86_registers.size())
    return x86_registers[number];
  if (architecture == Architecture::arm64 && number >= 29)
    return number == 29 ? "fp" : number == 30 ? "lr" : "sp";
  return (architecture == Architecture::arm64 ? "x" : "r") + std::to_string(number);
}

struct RegisterLine {
  std::optional<u64> os_id;
  std::string name;
  u64 value = 0;
  std::string leads_to;
};

} // namespace

report::Table registers_table(const Snapshot &snapshot, const std::vector<ThreadData> &threads, bool values) {
  const Target &target = snapshot.target();
  AddressMeanings meanings(snapshot);
  std::vector<RegisterLine> lines;
  u64 without = 0;
  for (const ThreadData &thread : threads) {
    snapshot.watch().check();
    const Thread *of_system = find_registers(target, thread);
    const std::optional<Registers> registers = of_system ? registers_of(target, *of_system) : std::nullopt;
    without += !registers;
    if (!registers)
      continue;
    lines.push_back({thread.os_id, "ip", registers->ip, meanings.text(registers->ip)});
    for (u32 number = 0; number < Registers::most; ++number)
      if (const std::optional<u64> value = registers->get(number))
        lines.push_back({thread.os_id, register_name(target.architecture, number), *value, meanings.text(*value)});
  }
  using L = RegisterLine;
  report::Table out = report::ColumnsOf<L>{
      {{"os_id", "OS id", Kind::number}, [](const L &l) { return Cell(l.os_id); }},
      {{"register", "Register", Kind::text}, &L::name},
      {{"value", "Value", Kind::address},
       [values](const L &l) { return values || !l.leads_to.empty() ? Cell(l.value) : Cell(); }},
      {{"leads_to", "Leads to", Kind::text}, [](const L &l) {
         return report::text_cell(l.leads_to);
       }}}.table("registers", "", lines);
  out.whole = threads.size() == 1;
  if (without)
    out.notes.push_back("the dump has no registers of " + count_text(without) +
                        (without == 1 ? " thread" : " threads"));
  return out;
}

} // namespace dnheap
