// The states of threads and tasks as words, from the numbers that SOS' users have at hand. Pure; any thread.
#pragma once
#include <string>
#include <vector>

namespace dnheap::cli {

// "20020", in hexadecimal as clrthreads prints it: a line for each bit. Throws UsageError if it is no number.
std::string thread_state_words(const std::vector<std::string> &arguments);
// "33557504", a Task's m_stateFlags in decimal: "WaitingForActivation". Throws UsageError if it is no state.
std::string task_state_words(const std::vector<std::string> &arguments);

} // namespace dnheap::cli
