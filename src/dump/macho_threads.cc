#include "dump/macho_threads.h"

#include "image/macho_format.h"

#include <algorithm>

namespace dnheap {

namespace {

// Where each register that a Thread has lies in the record: its order differs from that of machine code.
struct MachoState {
  u32 cpu;
  Architecture architecture;
  u32 flavor;         // …_THREAD_STATE64
  u32 unified_flavor; // has another {flavor, count} in front of the same record
  u8 count, stack_pointer;
  u8 order[33];
};
constexpr MachoState macho_states[] = {
    {macho::cpu_x64, Architecture::x64, 4, 7, 17, 4, {0, 2, 3, 1, 7, 6, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
    {macho::cpu_arm64, Architecture::arm64, 6, 1, 33, 31, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                           11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                           22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}},
};

const MachoState *macho_state_of(u32 cpu) {
  const auto at = std::ranges::find(macho_states, cpu, &MachoState::cpu);
  return at == std::end(macho_states) ? nullptr : at;
}

void read_macho_registers(const MachoState &layout, Bytes state, Thread &thread) {
  std::vector<u64> registers;
  for (u64 i = 0; i < layout.count; ++i)
    if (const std::optional<u64> value = load_at<u64>(state, u64{layout.order[i]} * 8, ByteOrder::little))
      registers.push_back(*value);
  if (registers.size() == layout.count)
    thread.registers = std::move(registers);
}

// What user programs cannot have: older versions' place on all machines; newer ones' on arm64.
constexpr Address thread_info_places[] = {0x7fffffff00000000, 0x00007ffffff00000};
constexpr std::string_view thread_info_signature = "THREADINFO";

} // namespace

Architecture macho_architecture(u32 cpu) {
  const MachoState *state = macho_state_of(cpu);
  return state ? state->architecture : Architecture::unknown;
}

// {flavor, number of 32-bit words, words} each.
Thread read_macho_thread(u32 cpu, Bytes content) {
  Thread thread;
  const MachoState *layout = macho_state_of(cpu);
  while (layout && content.size() >= 8) {
    const u32 flavor = load<u32>(content.data(), ByteOrder::little),
              words = load<u32>(content.data() + 4, ByteOrder::little);
    content = content.subspan(8);
    if (flavor == layout->unified_flavor && words > 2)
      continue;
    const Bytes state = slice(content, 0, u64{words} * 4);
    if (flavor == layout->flavor && thread.registers.empty())
      read_macho_registers(*layout, state, thread);
    if (state.empty()) // also: cut off
      break;
    content = content.subspan(state.size());
  }
  return thread;
}

void strip_signatures(Thread &thread, Architecture architecture, unsigned address_bits) {
  const auto layout = std::ranges::find(macho_states, architecture, &MachoState::architecture);
  if (layout == std::end(macho_states) || thread.registers.size() != layout->count)
    return;
  if (architecture == Architecture::arm64)
    for (u64 i : {29, 30, 31, 32}) // frame pointer, link register, stack pointer, instruction pointer
      thread.registers[i] = without_signature(thread.registers[i], address_bits);
  thread.instruction_pointer = thread.registers.back();
  thread.stack_pointer = thread.registers[layout->stack_pointer];
}

bool MachoThreadInfo::is(Address address, Bytes content) {
  return std::ranges::find(thread_info_places, address) != std::end(thread_info_places) &&
         text_at(content, 0, 16) == thread_info_signature;
}

std::optional<u64> MachoThreadInfo::pid(Bytes content) {
  const std::optional<u32> number = load_at<u32>(content, 16, ByteOrder::little);
  return number ? std::optional<u64>(*number) : std::nullopt;
}

// 16 bytes of signature, u32 process, u32 threads; u32 number, padding, u64 stack pointer for each.
std::optional<MachoThreadInfo::Row> MachoThreadInfo::row(Bytes content, u64 index) {
  constexpr u64 head = 24, row_size = 16;
  const std::optional<u32> number = load_at<u32>(content, head + index * row_size, ByteOrder::little);
  const std::optional<u64> place = load_at<u64>(content, head + index * row_size + 8, ByteOrder::little);
  return number && place ? std::optional(Row{*number, *place}) : std::nullopt;
}

} // namespace dnheap
