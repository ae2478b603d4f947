// The one-file page: the same front end, opened from disk, with answers inside it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { browser, open, sample, settled, view } from './support.mjs';

let chromium, folder, url;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dnheap-kept-'));
  const file = join(folder, 'page.html');
  execFileSync(process.env.DNHEAP, ['report', sample, '--html', file], { stdio: 'pipe' });
  assert.ok((await stat(file)).size < 2e6);
  url = pathToFileURL(file).href;
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
  assert.equal(await page.getByRole('grid', { name: 'Types' }).getAttribute('aria-rowcount'), '209'); // of 208 types
  await view(page, url, '#/owners?table=namespaces'); // a table of an answer that has all
  assert.match(await page.getByRole('grid', { name: 'Namespaces' }).innerText(), /Shop\.Cache/);
  await view(page, url, '#/paths?of=Shop.Cache.Session');
  assert.match(await page.locator('.tree').innerText(), /byToken/);
  await view(page, url, '#/segments');
  assert.match(await page.locator('h1').innerText(), /Segments/);
  await view(page, url, '#/ask/inspect');
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

test('its pages turn as far as they were kept', async () => {
  const page = await open(chromium);
  await view(page, url, '#/object/0x7ff3add3d748'); // an array that refers to 10,000
  const pager = page.getByRole('navigation', { name: 'Pages: What it refers to' });
  const grid = page.getByRole('grid', { name: 'What it refers to' });
  assert.match(await pager.innerText(), /1 to 50 of 10,000 references/);
  const first = await grid.innerText();
  await pager.getByRole('button', { name: 'Next' }).click();
  await settled(page);
  assert.notEqual(await grid.innerText(), first);
  assert.match(await pager.innerText(), /51 to 100 of/);
  assert.ok(await pager.getByRole('button', { name: 'Next' }).isDisabled());
});
