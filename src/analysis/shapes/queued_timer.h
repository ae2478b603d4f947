// The type of the timers in the runtime's queue, whatever class made them.
#pragma once

namespace dnheap {

inline constexpr const char *queued_timer = "System.Threading.TimerQueueTimer";

} // namespace dnheap
