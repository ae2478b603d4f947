#include "support/opened.h"

namespace dnheap::test {

std::vector<ShippedTable> tables_for_all_formats() {
  std::vector<ShippedTable> out = shipped_tables();
  out.push_back({"test-32-bit", 4, {{"GenericsDictInfo.NumDicts", 0}, {"GenericsDictInfo.NumTypeArgs", 2}}});
  return out;
}

std::vector<HeapShape> all_shapes() {
  std::vector<HeapShape> out;
  for (Format format : all_formats)
    for (Net net : {Net::net8, Net::net9, Net::net10, Net::net11})
      for (bool server : {false, true})
        for (bool regions : {true, false})
          for (bool published : {true, false})
            // 8 has no descriptor to publish, 11 no GcDacVars to fall back to.
            if (net == Net::net8 ? !published : net == Net::net11 ? published : true)
              out.push_back({.format = format,
                             .net = net,
                             .server = server,
                             .heaps = server ? 3u : 1u,
                             .regions = regions,
                             .published = published});
  return out;
}

std::string name_of(const HeapShape &shape) {
  return name_of(shape.format) + " net" + std::to_string(8 + static_cast<int>(shape.net)) +
         (shape.server ? " server" : " workstation") + (shape.regions ? " regions" : " segments") +
         (shape.published ? "" : " withheld");
}

std::vector<HeapShape> type_layouts() {
  std::vector<HeapShape> out;
  for (Format format : all_formats)
    for (Net net : {Net::net8, Net::net9, Net::net10, Net::net11})
      out.push_back({.format = format, .net = net, .published = net != Net::net8});
  return out;
}

} // namespace dnheap::test
