// Stacks as a profile for speedscope: one sample of each different stack, weighted by how often it was seen. Source:
// https://www.speedscope.app/file-format-schema.json.
#include "report/encoding.h"
#include "report/formats/stacks_of.h"

#include <unordered_map>

namespace dnheap::report {

void write_speedscope(const Answer &answer, const WriteOptions &options, Sink &sink) {
  std::string frames, samples, weights;
  std::unordered_map<std::string, u64> numbers;
  u64 sum = 0;
  for_each_stack(answer, options, [&](const CountedStack &stack) {
    options.watch.check();
    samples += samples.empty() ? "[" : ",[";
    for (u64 i = stack.methods.size(); i-- > 0;) { // outermost first
      const auto [number, is_new] = numbers.try_emplace(stack.methods[i], numbers.size());
      if (is_new) {
        frames += frames.empty() ? "{\"name\":" : ",\n{\"name\":";
        append_json_text(frames, stack.methods[i]);
        frames += '}';
      }
      samples += std::to_string(number->second) + (i ? "," : "]");
    }
    weights += (weights.empty() ? "" : ",") + std::to_string(stack.count);
    sum += stack.count;
  });
  std::string name;
  append_json_text(name, headline_text(answer));
  sink.write("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"dnheap\",\"name\":" +
             name + ",\"shared\":{\"frames\":[" + frames + "]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":" + name +
             ",\"unit\":\"none\",\"startValue\":0,\"endValue\":" + std::to_string(sum) + ",\n\"samples\":[" + samples +
             "],\n\"weights\":[" + weights + "]}]}\n");
  sink.flush();
}

} // namespace dnheap::report
