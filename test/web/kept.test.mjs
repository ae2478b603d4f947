// The one-file page: the same front end, opened from disk, with answers inside it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { deflateSync } from 'node:zlib';
import { browser, open, ready, root, serve, settled, view } from './support.mjs';

const kept = ['api/state', 'api/ask/report?top=200', 'api/ask/stat?by=retained&top=100', 'api/ask/retained?top=100', 'api/map?at=root&least=15000&levels=12', 'api/ask/retained?depth=6&table=tree&top=200&tree=1', 'api/ask/threads?by=retained',
  'api/ask/path?subject=Shop.Cache.Session&top=50', 'api/object?at=0x7ff3ad1a05c0', 'api/ask/show?subject=0x7ff3ad1a05c0'];

let chromium, folder, url;
before(async () => {
  const server = await serve();
  const answers = {};
  try {
    await ready(server.url);
    for (const key of kept) answers[key] = await (await fetch(server.url + key)).json();
  } finally {
    await server.end();
  }
  const dist = join(root, 'web/dist');
  const [css, js] = await Promise.all(['app.css', 'app.js'].map((name) => readFile(join(dist, name), 'utf8')));
  const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${hash(js)}; style-src ${hash(css)}; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>dnheap</title><style>${css}</style></head><body><div id="app"></div>
<script id="kept" type="application/octet-stream">${deflateSync(JSON.stringify(answers)).toString('base64')}</script><script>${js}</script></body></html>`;
  folder = await mkdtemp(join(tmpdir(), 'dnheap-kept-'));
  await writeFile(join(folder, 'page.html'), page);
  url = pathToFileURL(join(folder, 'page.html')).href;
  chromium = await browser();
});
after(async () => {
  await chromium?.close();
  if (folder) await rm(folder, { recursive: true });
});

test('says what was kept, and what was not, without a network', async () => {
  const page = await open(chromium);
  await view(page, url, '#/');
  assert.match(await page.locator('.suspects').innerText(), /static Shop\.Cache\.SessionCache\.Shared/);
  assert.match(await page.locator('.banner').innerText(), /holds a part of the answers/);
  await view(page, url, '#/types'); // kept with another number of rows
  assert.equal(await page.getByRole('grid', { name: 'Types' }).getAttribute('aria-rowcount'), '101');
  await view(page, url, '#/owners?table=namespaces'); // a table of an answer that has all
  assert.match(await page.getByRole('grid', { name: 'Namespaces' }).innerText(), /Shop\.Cache/);
  await view(page, url, '#/paths?of=Shop.Cache.Session');
  assert.match(await page.locator('.tree').innerText(), /byToken/);
  await view(page, url, '#/segments');
  assert.match(await page.locator('main').innerText(), /not kept in this file; open the dump with: dnheap explore/);
  await view(page, url, '#/object/0x7ff3ad1a05c0');
  assert.match(await page.getByRole('grid', { name: 'Fields' }).innerText(), /byToken/);
  assert.deepEqual(page.wrong, []);
  assert.deepEqual(page.asked.filter((each) => !each.startsWith(url) && !each.startsWith('data:')), []);
});

test('its map is drilled into as far as it was kept', async () => {
  const page = await open(chromium);
  await view(page, url, '#/map');
  assert.match(await page.getByRole('grid', { name: /Parts/ }).innerText(), /PriceFeed/);
  await view(page, url, '#/map?group=objects');
  await page.getByRole('grid', { name: /Parts/ }).getByRole('link', { name: 'static Shop.Events.PriceFeed.Shared' }).click();
  await settled(page);
  assert.match(await page.locator('.crumbs').innerText(), /PriceFeed/);
  await page.getByRole('grid', { name: /Parts/ }).getByRole('link').first().click();
  await settled(page);
  assert.match(await page.locator('.crumbs').innerText(), /Shop\.Events\.PriceFeed$/);
  await page.getByRole('link', { name: 'Open this object' }).click();
  await settled(page);
  assert.match(await page.locator('h1').innerText(), /Shop\.Events\.PriceFeed/);
  await page.getByRole('combobox').fill('basket');
  await page.waitForSelector('#search-list:not([hidden]) li');
  assert.deepEqual(page.wrong, []);
});
