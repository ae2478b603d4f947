// What the protocol's official client finds, by handshake and without one.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const sample = join(dirname(fileURLToPath(import.meta.url)), '../../sample/demo.core.zst');

async function connect(t, mode, options = []) {
  const client = new Client({ name: 'dnheap-test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const errors = [];
  client.onerror = (error) => errors.push(error);
  t.after(() => client.close()); // also after a failure: node waits for the server
  await client.connect(new StdioClientTransport({ command: process.env.DNHEAP, args: ['mcp', sample, ...options] }));
  return { client, errors };
}

for (const [mode, version] of [['legacy', '2025-11-25'], ['auto', '2026-07-28'], [{ pin: '2026-07-28' }, '2026-07-28']]) {
  test(`as ${JSON.stringify(mode)}`, async (t) => {
    const { client, errors } = await connect(t, mode);
    assert.equal(client.getNegotiatedProtocolVersion(), version);
    assert.equal(client.getServerVersion().name, 'dnheap');
    assert.match(client.getInstructions(), /Begin with 'report'/);
    const { tools } = await client.listTools();
    assert.ok(tools.length > 15 && tools.every((tool) => tool.inputSchema.type === 'object'));

    const report = await client.callTool({ name: 'report', arguments: {} });
    assert.equal(report.isError, false);
    assert.equal(report.structuredContent.target.verdict.rule, 'nothing');
    assert.match(report.content[0].text, /next: inspect \{"subject":"events"\}/);

    const stat = await client.callTool({ name: 'stat', arguments: { top: 3, sort: 'count' } });
    assert.equal(stat.structuredContent.tables.types.length, 3);
    const wrong = await client.callTool({ name: 'stat', arguments: { type_exact: 'No.Such.Type' } });
    assert.ok(wrong.isError && /no type on this heap is called/.test(wrong.content[0].text));
    await assert.rejects(client.callTool({ name: 'extract', arguments: {} }));
    await client.close();
    assert.deepEqual(errors, []);
  });
}

test('progress, and what is cancelled', async (t) => {
  const { client, errors } = await connect(t, 'legacy');
  const steps = [];
  await client.callTool({ name: 'retained', arguments: {} }, { onprogress: (step) => steps.push(step.progress) });
  assert.deepEqual(steps, [...steps].sort((a, b) => a - b));
  const stop = new AbortController();
  const asked = client.callTool({ name: 'report', arguments: {} }, { signal: stop.signal });
  stop.abort();
  await assert.rejects(asked);
  assert.ok((await client.callTool({ name: 'segments', arguments: {} })).structuredContent.tables.segments.length);
  await client.close();
  assert.deepEqual(errors, []);
});
