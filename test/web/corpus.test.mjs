// Real dumps, where $DNHEAP_CORPUS names the folder that they are in: every view opens, and a type leads to an object.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { browser, open, ready, serve, settled, view } from './support.mjs';

const folder = process.env.DNHEAP_CORPUS;
const dumps = folder
  ? readdirSync(folder, { recursive: true }).filter((name) => /\.(core|dmp)(\.zst|\.gz)?$/.test(name)).map((name) => join(folder, name)).sort()
  : [];

let chromium;
before(async () => {
  if (dumps.length) chromium = await browser();
});
after(async () => chromium?.close());

if (!dumps.length) test('real dumps', { skip: 'SKIPPED: $DNHEAP_CORPUS names no dumps' }, () => {});
for (const dump of dumps)
  test(basename(dump), async (context) => {
    const server = await serve({ dump }).catch((error) => {
      if (error.code !== 3) throw error;
      context.skip('SKIPPED: not to be opened without further files');
      return null;
    });
    if (!server) return;
    const page = await open(chromium);
    try {
      await ready(server.url);
      await view(page, server.url, '#/');
      const entries = await page.locator('.menu a').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
      assert.ok(entries.length > 10);
      for (const entry of entries) {
        await view(page, server.url, entry);
        assert.deepEqual(await page.locator('.error:not(.incomplete)').allInnerTexts(), [], entry);
      }
      await view(page, server.url, '#/types');
      await page.getByRole('grid', { name: 'Types' }).getByRole('link').first().click();
      await settled(page);
      await page.getByRole('grid', { name: 'Instances' }).getByRole('link').first().click();
      await settled(page);
      assert.match(await page.locator('.facts').innerText(), /Retained/);
      assert.deepEqual(page.wrong, []);
    } finally {
      await page.context().close();
      await server.end();
    }
  });
