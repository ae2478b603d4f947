#include "runtime/layout/gc_bounds.h"

#include "runtime/layout/dac_table.h"

#include <set>

namespace dnheap {

// g_lowest_address and g_highest_address are neighbours in g_dacTable. What they hold is in the header of the card
// table as well, behind three words (gc/gcpriv.h, card_table_info): that is the test.
void derive_gc_bounds(Derivation &d, Address gc_variable) {
  ContractDescriptor &to = d.descriptor;
  if (to.find_global("GCLowestAddress") && to.find_global("GCHighestAddress"))
    return;
  const char *predicate = "neighbours in g_dacTable that hold what the card table says of its bounds";
  std::optional<u64> variable = to.try_number("BookkeepingStart");
  u64 info = variable ? d.word(*variable).value_or(0) : 0;
  std::optional<u64> lowest = info ? d.word(info + 3 * d.pointer_size) : std::nullopt;
  std::optional<u64> highest = info ? d.word(info + 4 * d.pointer_size) : std::nullopt;
  std::set<std::pair<Address, Address>> found;
  if (lowest && highest && *lowest && *lowest < *highest) {
    DacTable table(d, gc_variable);
    for (i64 i = -64; i < 192; ++i) {
      std::optional<Address> low = table.variable(i), high = table.variable(i + 1);
      if (low && high && d.word(*low) == *lowest && d.word(*high) == *highest)
        found.insert({*low, *high});
    }
  }
  if (found.size() != 1) {
    to.missing["GCLowestAddress"] = std::to_string(found.size()) + " candidates; each must pass: " + predicate;
    return;
  }
  to.set_number("GCLowestAddress", found.begin()->first, true, Origin::discovered);
  to.set_number("GCHighestAddress", found.begin()->second, true, Origin::discovered);
}

} // namespace dnheap
