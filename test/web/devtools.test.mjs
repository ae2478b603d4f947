// A .heapsnapshot is read by Chrome's own code, out of the DevTools that Chromium holds: classes, sizes and what owners retain
// are what dnheap says.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { browser, sample } from './support.mjs';

const reader = 'devtools://devtools/bundled/entrypoints/heap_snapshot_worker/heap_snapshot_worker.js';

const asked = (...words) => JSON.parse(execFileSync(process.env.DNHEAP, [words[0], sample, ...words.slice(1), '--format', 'json'], { maxBuffer: 1 << 28 }));

// Runs inside DevTools.
async function read([reader, text]) {
  const { HeapSnapshot, HeapSnapshotLoader } = await import(reader);
  const loader = new HeapSnapshotLoader.HeapSnapshotLoader({ sendEvent() {} });
  const { port1, port2 } = new MessageChannel(); // between its two threads, which are one here
  new HeapSnapshot.SecondaryInitManager(port2);
  for (let at = 0; at < text.length; at += 1 << 20) loader.write(text.slice(at, at + (1 << 20)));
  loader.close();
  const snapshot = await loader.buildSnapshot(port1);
  const classes = {};
  for (let node = snapshot.createNode(0), index = 0; index < snapshot.nodes.length; index += snapshot.nodeFieldCount) {
    node.nodeIndex = index;
    if (node.isSynthetic()) continue;
    const [count, bytes] = classes[node.name()] ?? [0, 0];
    classes[node.name()] = [count + 1, bytes + node.selfSize()];
  }
  const below = (node) => {
    const out = [];
    for (const edges = node.edges(); edges.hasNext(); edges.next()) out.push(snapshot.createNode(edges.item().nodeIndex()));
    return out;
  };
  const owners = {};
  for (const kind of below(snapshot.rootNode()))
    for (const owner of below(kind)) if (owner.isSynthetic()) owners[owner.name()] = (owners[owner.name()] ?? 0) + owner.retainedSize();
  return { classes, owners, total: snapshot.totalSize };
}

test('a .heapsnapshot opens in DevTools', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'dnheap-devtools-'));
  const chromium = await browser();
  try {
    const file = join(folder, 'demo.heapsnapshot');
    const parts = asked('export', '--as', 'heapsnapshot', '-o', file).tables.exported;
    const page = await (await chromium.newContext()).newPage();
    await page.goto('devtools://devtools/bundled/js_app.html');
    if (!(await page.evaluate((name) => import(name).then((all) => !!all.HeapSnapshot?.SecondaryInitManager, () => false), reader)))
      return context.skip('SKIPPED: the DevTools of this Chromium keep the reader of heap snapshots elsewhere');
    const found = await page.evaluate(read, [reader, await readFile(file, 'utf8')]);
    const classes = {};
    for (const row of asked('stat', '--top', '0').tables.types) {
      if (row.type === 'Free') continue;
      const [count, bytes] = classes[row.type] ?? [0, 0];
      classes[row.type] = [count + row.count, bytes + row.aligned_bytes];
    }
    assert.deepEqual(found.classes, classes);
    assert.equal(found.total, parts.find((row) => row.part === 'objects').bytes);
    let compared = 0;
    for (const row of asked('retained', '--plain', '--table', 'owners', '--top', '0').tables.owners)
      if (row.owner in found.owners && row.retained) {
        assert.equal(found.owners[row.owner], row.retained, row.owner);
        ++compared;
      }
    assert.ok(compared > 20, `${compared} owners`);
  } finally {
    await chromium.close();
    await rm(folder, { recursive: true });
  }
});
