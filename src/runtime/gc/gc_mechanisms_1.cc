#include "runtime/gc/gc_mechanisms_1.h"

#include <span>

namespace dnheap {

namespace {

std::string name_in(std::span<const char *const> names, u64 index, const char *otherwise) {
  return index < names.size() ? names[index] : std::string(otherwise) + "_" + std::to_string(index);
}

} // namespace

std::string compact_reason_name(u64 index) {
  static constexpr const char *names[] = {"low_ephemeral",
                                          "high_fragmentation",
                                          "no_gaps",
                                          "loh_forced",
                                          "last_gc",
                                          "induced_compacting",
                                          "fragmented_gen0",
                                          "high_memory_load",
                                          "high_memory_fragmentation",
                                          "very_high_memory_fragmentation",
                                          "no_gc_mode",
                                          "aggressive_compacting"};
  return name_in(names, index, "reason");
}

std::string expand_mechanism_name(u64 index) {
  static constexpr const char *names[] = {"reuse_normal", "reuse_best_fit", "new_segment_promoting_ephemeral",
                                          "new_segment",  "no_memory",      "next_full_gc"};
  return name_in(names, index, "mechanism");
}

std::string interesting_data_point_name(u64 index) {
  static constexpr const char *names[] = {"pre_short",        "post_short",       "merged_pin",
                                          "converted_pin",    "pre_pin",          "post_pin",
                                          "pre_and_post_pin", "pre_short_padded", "post_short_padded"};
  return name_in(names, index, "data_point");
}

std::string interesting_mechanism_name(u64 index) {
  static constexpr const char *names[] = {"mark_list", "demotion"};
  return name_in(names, index, "mechanism");
}

std::string global_mechanism_name(u64 index) {
  static constexpr const char *names[] = {"concurrent", "compaction",   "promotion",
                                          "demotion",   "card_bundles", "elevation"};
  return name_in(names, index, "mechanism");
}

std::string gc_state_name(u32 state) {
  static constexpr const char *names[] = {"marking", "planning", "free"};
  return name_in(names, state, "state");
}

std::string dynamic_adaptation_mode_name(i32 mode) {
  static constexpr const char *names[] = {"default", "to_application_sizes"};
  return mode < 0 ? "mode " + std::to_string(mode) : name_in(names, static_cast<u64>(mode), "mode");
}

} // namespace dnheap
