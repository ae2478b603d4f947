// Stacks for flame graphs: one line for each stack, "Main;Work;Hash 42": methods from the outermost one, and how often
// it was seen. Source: Brendan Gregg's FlameGraph, stackcollapse.pl.
#include "report/formats/stacks_of.h"

namespace dnheap::report {

void write_folded(const Answer &answer, const WriteOptions &options, Sink &sink) {
  for_each_stack(answer, options, [&](const CountedStack &stack) {
    std::string line;
    for (u64 i = stack.methods.size(); i-- > 0;) {
      for (char c : std::string_view(stack.methods[i]))
        line += c == ';' || c == '\n' ? ',' : c; // what separates methods and stacks
      line += i ? ";" : "";
    }
    sink.write(line + " " + std::to_string(stack.count) + "\n");
  });
  sink.flush();
}

} // namespace dnheap::report
