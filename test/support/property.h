// Properties for rapidcheck: what must hold of every graph, tried on many. A test's assertions are GoogleTest's; of a
// graph for which one fails, smaller ones are tried as long as they fail too, and the smallest is shown. The same ones
// in every run, unless RC_PARAMS says otherwise ("seed=7 max_success=100000").
#pragma once
#include "support/elf_writer.h"
#include "support/graphs.h"

#include <cstdlib>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace dnheap::test {

// Calls `test` with that many of the generator's values.
template <class T, class Test> void for_all(int runs, const rc::Gen<T> &values, Test test) {
  rc::detail::TestParams parameters = rc::detail::configuration().testParams;
  if (!std::getenv("RC_PARAMS")) {
    parameters.seed = 1;
    parameters.maxSuccess = runs;
  }
  auto property = [&] {
    T value = *values;
    testing::TestPartResultArray results;
    {
      testing::ScopedFakeTestPartResultReporter reporter(
          testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
      test(std::as_const(value));
    }
    std::string failures;
    for (int i = 0; i < results.size(); ++i)
      if (const testing::TestPartResult &result = results.GetTestPartResult(i); result.failed())
        failures += std::string(result.file_name() ? result.file_name() : "") + ":" +
                    std::to_string(result.line_number()) + ": " + result.message() + "\n";
    if (!failures.empty())
      RC_FAIL(failures);
  };
  const testing::TestInfo &info = *testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(info.test_suite_name()) + "." + info.name();
  rc::detail::TestResult result = rc::detail::checkTestable(property, rc::detail::TestMetadata{name, name}, parameters);
  if (result.is<rc::detail::SuccessResult>())
    return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  ADD_FAILURE() << text.str();
}

// Values from numbers that look random, and smaller ones from each by `shrink`, T → vector of T.
template <class Make, class Shrink> auto values_of(Make make, Shrink shrink) {
  using T = std::invoke_result_t<Make, u64>;
  return rc::Gen<T>([=](const rc::Random &random, int) {
    rc::Random copy = random;
    return rc::shrinkable::shrinkRecur(make(copy.next()),
                                       [=](const T &value) { return rc::seq::fromContainer(shrink(value)); });
  });
}

struct GraphCase {
  Graph graph;
  u64 seed = 0; // for whatever else the test decides
};
void showValue(const GraphCase &value, std::ostream &to);

// Those of random_graph() with at most so many objects; one in ten with at most `many`.
rc::Gen<GraphCase> graphs(u32 most, u32 many = 0);

// What RandomGraph is made from.
struct HeapCase {
  Format format;
  u64 seed = 0, objects = 0, bad = 0, null = 0, dependents = 0;
};
void showValue(const HeapCase &value, std::ostream &to);
rc::Gen<HeapCase> heaps(u64 most_objects);

} // namespace dnheap::test
