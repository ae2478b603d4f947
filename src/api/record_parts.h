// The internal data behind public records. For the files of this folder.
#pragma once
#include "analysis/records/record.h"
#include "dnheap/record.h"

namespace dnheap::v0 {

struct Record::Inside {
  dnheap::Record record;
};

struct RecordParts {
  static Record record(dnheap::Record record) {
    return Record(std::make_shared<const Record::Inside>(Record::Inside{std::move(record)}));
  }
  static const dnheap::Record &inside(const Record &record) { return record.inside_->record; }
};

} // namespace dnheap::v0
