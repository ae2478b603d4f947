#include "analysis/findings/gathered/gathered.h"

#include "analysis/objects/inside_of.h"
#include "base/share.h"
#include "base/text.h"

#include <fmt/format.h>

namespace dnheap {

bool is_worth_a_reason(const Suspect &suspect, const Suspects &all) {
  constexpr u64 least_bytes = u64{4} << 20;
  constexpr double least_share = 0.1;
  return !suspect.by_chance && suspect.retained >= least_bytes &&
         share_of(suspect.retained, all.live_bytes) >= least_share;
}

bool keeps_elements_itself(const Suspect &suspect, u64 step, u64 most_between) {
  bool is_in_array = false; // an array in an array is one of the elements
  for (u64 i = step + 1; i < suspect.steps.size(); ++i) {
    const std::string &type = suspect.steps[i].type;
    if (!is_inside_of_collection(type) && i > step + most_between)
      return false;
    const bool is_array = type.ends_with("[]");
    if (is_array && is_in_array)
      return false;
    is_in_array = is_array;
  }
  return true;
}

std::string share_text(const Suspect &suspect, const Suspects &all) {
  return fmt::format("{:.0f} % of live memory ({})", 100 * share_of(suspect.retained, all.live_bytes),
                     bytes_text(suspect.retained));
}

std::string code_sentence(const std::string &code) {
  if (code.empty())
    return "";
  if (code.starts_with("filled in ") || code.starts_with("made in "))
    return fmt::format(" {} {}.", code.starts_with("filled in ") ? "It is" : "They are", code);
  return fmt::format(" {}.", code);
}

std::string calls_sentence(const Snapshot &snapshot, std::string_view type, std::string_view method,
                           std::string_view words) {
  const std::shared_ptr<const ProgramIl> il = ProgramIl::of(snapshot);
  const std::vector<ProgramCaller> callers =
      first_run(find_callers(*il, [&](std::string_view of, std::string_view name, IlUse use) {
        return use == IlUse::calls && name == method && of.starts_with(type);
      }));
  return callers.empty() ? "" : fmt::format(" {} is called in {}.", words, callers_text(callers));
}

Finding gathered_finding(const char *kind, Sureness sureness, const Suspect &suspect, std::string text) {
  return {.kind = kind,
          .harm = Harm::resource,
          .sureness = sureness,
          .text = std::move(text),
          .count = suspect.elements,
          .bytes = suspect.retained,
          .example = suspect.first ? suspect.first : suspect.example,
          .holder = suspect.example};
}

} // namespace dnheap
