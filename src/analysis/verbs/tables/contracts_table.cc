#include "analysis/verbs/tables/contracts_table.h"

#include "report/columns_of.h"

namespace dnheap {

report::Table contracts_table(const ContractDescriptor &descriptor) {
  using report::Kind;
  using Contract = decltype(descriptor.contracts)::value_type; // name and version
  return report::ColumnsOf<Contract>{
      {{"contract", "Contract", Kind::text}, &Contract::first},
      {{"version", "Version", Kind::text}, &Contract::second},
      {{"origin", "Origin", Kind::text},
       [&](const Contract &one) { return name_of(descriptor.contract_origin.find(one.first)->second); }}}
      .table("contracts", "Contracts", descriptor.contracts);
}

} // namespace dnheap
