// axe-core finds nothing to complain about: every view, light and dark, wide and narrow.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { browser, earlier, open, ready, serve, view, views } from './support.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let server, chromium, folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dnheap-axe-'));
  server = await serve({ others: earlier(folder, [[90, 0.2], [40, 0.6]]) });
  await ready(server.url);
  chromium = await browser();
});
after(async () => {
  await chromium?.close();
  await server?.end();
  await rm(folder, { recursive: true });
});

async function violations(page) {
  await page.evaluate(axe); // through the debugger: the page's own policy lets no script in
  const result = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  return result.violations.map((each) => `${each.id}: ${each.nodes.slice(0, 2).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? node.all[0]?.message ?? ''}`).join(' | ')}`);
}

for (const [theme, width] of [['light', 1280], ['dark', 1280], ['light', 400]]) {
  test(`${theme}, ${width} pixels`, async () => {
    const page = await open(chromium, { theme, width });
    const all = [];
    for (const [name, hash] of [...views, ['diff', '#/diff'], ['grown types', '#/diff?table=types&from=0&to=1'], ['over time', '#/timeline'], ['types over time', '#/timeline?table=types&as=count']]) {
      await view(page, server.url, hash);
      for (const each of await violations(page)) all.push(`${name}: ${each}`);
    }
    await page.keyboard.press('?');
    for (const each of await violations(page)) all.push(`keys: ${each}`);
    assert.deepEqual(all, []);
    assert.deepEqual(page.wrong, []);
    await page.context().close();
  });
}
