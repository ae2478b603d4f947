// Records, as `check --record` writes them and baselines are read: understood, or an Error of one line. What was
// understood is written again and must be understood as the same.
#include "analysis/records/record.h"
#include "base/error.h"
#include "fuzz/check.h"
#include "report/write.h"

using namespace dnheap;
using dnheap::test::check;

namespace {

std::string written(const Record &record) {
  const report::Answer answer = answer_of(record);
  std::string out;
  report::Sink sink(out);
  report::WriteOptions options;
  options.top = 0;
  report::find_writer("json")->write(answer, options, sink);
  return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  try {
    const Record record = parse_record(text, "old.core");
    check(looks_like_record(text));
    const std::string once = written(record);
    check(written(parse_record(once, "old.core")) == once);
  } catch (const Error &e) {
    const std::string_view what = e.what();
    check(what.size() > 5 && what.size() < 4000);
  }
  return 0;
}
