// axe-core finds nothing to complain about: every view, light and dark, wide and narrow.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { browser, open, ready, sample, serve, view, views } from './support.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let server, chromium;
before(async () => {
  server = await serve({ options: ['--against', sample] });
  await ready(server.url);
  chromium = await browser();
});
after(async () => {
  await chromium?.close();
  await server?.end();
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
    for (const [name, hash] of [...views, ['diff', '#/diff'], ['grown types', '#/diff?table=types']]) {
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
