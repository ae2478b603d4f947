#include "runtime/layout/coreclr/gc_bounds.h"

#include "runtime/layout/coreclr/dac_table.h"

#include <set>

namespace dnheap {

namespace {

constexpr i64 first_variable = -64, last_variable = 192; // in g_dacTable, with a margin

// gc/gcpriv.h, card_table_info: three words, then the bounds of the covered range. The first cards follow the header;
// the GC's pointer to them is shifted such that an object's address, in units, is their index.
struct CardTable {
  Address info = 0, lowest = 0, highest = 0;
  Address cards = 0; // that shifted pointer
};

std::optional<CardTable> read_card_table(const Derivation &d) {
  const u64 p = d.pointer_size, bytes_per_word_of_cards = p == 8 ? 0x2000 : 0x1000;
  std::optional<u64> variable = d.descriptor.try_number("BookkeepingStart"),
                     header = d.descriptor.try_number("CardTableInfoSize");
  CardTable out;
  out.info = variable ? d.word(*variable).value_or(0) : 0;
  if (!out.info || !header)
    return std::nullopt;
  out.lowest = d.word(out.info + 3 * p).value_or(0);
  out.highest = d.word(out.info + 4 * p).value_or(0);
  out.cards = out.info + *header - out.lowest / bytes_per_word_of_cards * 4;
  if (p == 4)
    out.cards &= 0xffffffff;
  return out.lowest && out.lowest < out.highest ? std::optional(out) : std::nullopt;
}

// Finds the variable that holds the shifted pointer to the cards: g_card_table. If g_dacTable is not in the dump, takes
// the first variable of the runtime that holds it; the others are the GC's own copies.
std::optional<Address> cards_variable(const Derivation &d, const DacTable &table, Address cards) {
  for (i64 i = first_variable; i < last_variable; ++i)
    if (std::optional<Address> variable = table.variable(i); variable && d.word(*variable) == cards)
      return variable;
  std::optional<Address> first;
  if (!table.is_known())
    d.scan_data([&](Address at, u64 word) {
      if (word == cards && !first)
        first = at;
    });
  return first;
}

} // namespace

// g_lowest_address and g_highest_address are neighbours in g_dacTable. Their values must equal those in the header of
// the card table. Without g_dacTable, the header itself is used, if the runtime uses that card table.
void derive_gc_bounds(Derivation &d, Address gc_variable) {
  ContractDescriptor &to = d.descriptor;
  const std::optional<CardTable> card_table = read_card_table(d);
  const DacTable table(d, gc_variable);
  const std::optional<Address> cards = card_table ? cards_variable(d, table, card_table->cards) : std::nullopt;
  if (cards && !to.find_field("GCHeap", "CardTable") && !to.find_global("GCHeapCardTable"))
    to.set_number("GCHeapCardTable", *cards, true, Origin::discovered);
  if (to.find_global("GCLowestAddress") && to.find_global("GCHighestAddress"))
    return;
  std::set<std::pair<Address, Address>> found;
  for (i64 i = first_variable; card_table && i < last_variable; ++i) {
    std::optional<Address> low = table.variable(i), high = table.variable(i + 1);
    if (low && high && d.word(*low) == card_table->lowest && d.word(*high) == card_table->highest)
      found.insert({*low, *high});
  }
  if (cards && !table.is_known())
    found = {{card_table->info + 3 * d.pointer_size, card_table->info + 4 * d.pointer_size}};
  if (found.size() != 1) {
    to.missing["GCLowestAddress"] = std::to_string(found.size()) +
                                    " candidates; exactly one must pass: two neighbours in g_dacTable lead to the "
                                    "bounds that the header of the card table has";
    return;
  }
  to.set_number("GCLowestAddress", found.begin()->first, true, Origin::discovered);
  to.set_number("GCHighestAddress", found.begin()->second, true, Origin::discovered);
}

} // namespace dnheap
