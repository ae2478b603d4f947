// Names of the counters that the GC keeps per heap and for all heaps: why it compacted, how it expanded, which events
// occurred. The order is that of the enums in gc/gcrecord.h and gc/gcpriv.h. Free functions; nothing is read.
#pragma once
#include "base/integers.h"

#include <string>

namespace dnheap {

// "low_ephemeral" for compact_low_ephemeral; "reason_12" for an unknown number.
std::string compact_reason_name(u64 index);
std::string expand_mechanism_name(u64 index);       // "reuse_normal"
std::string interesting_data_point_name(u64 index); // "pre_short"
std::string interesting_mechanism_name(u64 index);  // "mark_list", "demotion"
std::string global_mechanism_name(u64 index);       // "concurrent", "compaction", …
// c_gc_state, the phase of a background GC: "marking", "planning", "free".
std::string gc_state_name(u32 state);
// dynamic_adaptation_mode: "default", "to_application_sizes".
std::string dynamic_adaptation_mode_name(i32 mode);

} // namespace dnheap
