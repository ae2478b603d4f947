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
  assert.equal(await page.getByRole('grid', { name: 'Types' }).getAttribute('aria-rowcount'), '213'); // of 212 types
  await view(page, url, '#/owners?table=namespaces'); // a table of an answer that has all
  assert.match(await page.getByRole('grid', { name: 'Namespaces' }).innerText(), /Shop\.Cache/);
  await view(page, url, '#/paths?of=Shop.Cache.Session');
  assert.match(await page.locator('.tree').innerText(), /byToken/);
  await view(page, url, '#/segments');
  assert.match(await page.locator('h1').innerText(), /Segments/);
  await view(page, url, '#/ask/inspect');
  assert.match(await page.locator('main').innerText(), /not kept in this file; open the dump with: dnheap explore/);
  await view(page, url, '#/object/0x7ff3b55996a8');
  assert.match(await page.getByRole('grid', { name: 'Fields' }).innerText(), /byToken/);
  assert.deepEqual(page.wrong, []);
  assert.deepEqual(page.asked.filter((each) => !each.startsWith(url) && !each.startsWith('data:')), []);
});

test('leads from the overview to the field that leaks', async () => {
  const page = await open(chromium);
  await view(page, url, '#/');
  await page.getByRole('link', { name: 'Open the object of suspect 1' }).click();
  await settled(page);
  assert.match(await page.locator('h1').innerText(), /Shop\.Cache\.SessionCache/);
  await page.getByRole('grid', { name: 'Fields' }).getByRole('link', { name: 'byToken' }).click();
  await settled(page);
  assert.deepEqual(await page.locator('.way .field').allInnerTexts().then((all) => all.map((each) => each.trim())), ['.byToken']);
  assert.match(await page.locator('.way-root').innerText(), /static Shop\.Cache\.SessionCache\.Shared/);
  await page.goBack();
  await settled(page);
  assert.match(await page.locator('h1').innerText(), /Shop\.Cache\.SessionCache/);
  assert.deepEqual(page.wrong, []);
});

test('it runs its own script alone, and asks for nothing', async () => {
  const page = await open(chromium);
  await view(page, url, '#/');
  const policy = await page.locator('meta[http-equiv=Content-Security-Policy]').getAttribute('content');
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+'; img-src data:; base-uri 'none'; form-action 'none'$/);
  const got = await page.evaluate(async () => {
    const script = document.createElement('script');
    script.textContent = 'window.hit = 1';
    document.body.append(script);
    document.body.insertAdjacentHTML('beforeend', '<img src="x" onerror="window.hit = 2"><i style="color: red"></i>');
    const asked = await fetch('data:,x').then(() => 'answered', () => 'refused');
    return [window.hit, asked];
  });
  assert.deepEqual(got, [undefined, 'refused']);
  assert.ok(page.wrong.length && page.wrong.every((each) => /Content Security Policy/.test(each)), page.wrong.join('\n'));
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
  await view(page, url, '#/object/0x7ff3b613d748'); // an array that refers to 10,000
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
