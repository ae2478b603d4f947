// CoreClrExceptions: ExceptionRecords of CoreCLR. See runtime/facts/exception_records.h.
#pragma once
#include "runtime/coreclr/threads/stack_trace.h"
#include "runtime/facts/exception_records.h"

namespace dnheap {

class CoreClrExceptions : public ExceptionRecords {
public:
  // All arguments must outlive this object.
  CoreClrExceptions(const Target &target, const ContractDescriptor &descriptor, RuntimeTypeSystem1 &types,
                    Loader1 &loader);
  CoreClrExceptions(const CoreClrExceptions &) = delete;
  CoreClrExceptions &operator=(const CoreClrExceptions &) = delete;

  std::optional<std::vector<StackTraceElement>> stack_trace(Address object) override { return stacks_.read(object); }
  std::vector<Thrown> thrown(std::span<const ThreadData> threads, std::span<const HandleData> handles,
                             const std::function<bool(Address)> &is_exception) const override;

private:
  const Memory *memory_;
  const ContractDescriptor *descriptor_;
  MethodDescs methods_;
  StackTrace stacks_; // refers to methods_
};

} // namespace dnheap
