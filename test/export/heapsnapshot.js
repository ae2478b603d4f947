// node heapsnapshot.js FILE: what @vscode/v8-heap-parser reads of it, as JSON: the sums of sizes by class, and what hangs
// from the root: kinds of roots, and below each its owners with their retained sizes. NODE_PATH names where the package is.
const fs = require("fs");
const parser = require("@vscode/v8-heap-parser");

const graph = parser.decode_bytes(fs.readFileSync(process.argv[2]));
const children = (index) => graph.node_children(index, 0, 1 << 30, parser.WasmSortBy.RetainedSize);
const classes = graph.get_class_groups(0, 1 << 30, false).map((one) => [one.name(), one.children_len, Number(one.self_size)]);
const kinds = children(graph.root_index).map((kind) => ({
  name: kind.name(),
  retained: Number(kind.retained_size),
  owners: children(kind.index).map((owner) => ({ name: owner.name(), retained: Number(owner.retained_size) })),
}));
console.log(JSON.stringify({ classes, kinds }));
