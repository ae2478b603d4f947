// The tasks of doc/tasks.md on the page: the clicks named there lead to what they name, and so do the other tools' words in the search box.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { explored, open, root, settled, view } from './support.mjs';

const { url, chromium } = await explored();

const type = 'Shop.Cache.SessionCache';
const object = '0x7ff3b55996a8';

// Its rows: { task, word, clicks }.
async function tasks() {
  const out = [];
  for (const line of (await readFile(join(root, 'doc/tasks.md'), 'utf8')).split('\n')) {
    const cells = line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim());
    if (cells.length === 4 && cells[0] !== 'Task' && !cells[0].startsWith('---')) out.push({ task: cells[0], word: cells[1].replaceAll('`', ''), clicks: cells[3] });
  }
  return out;
}

const names = (clicks, mark) => [...clicks.split(';')[0].matchAll(mark === '**' ? /\*\*([^*]+)\*\*/g : /(?<!\*)\*([^*]+)\*(?!\*)/g)].map((found) => found[1]);

// A heading, tab, button, choice or fact that is called so.
async function shows(page, name, task) {
  const main = page.locator('main');
  const text = await main.evaluate((all) => [...all.querySelectorAll('h1, h2, h3, a, strong, button, option, dt, [role=columnheader]')].map((one) => one.textContent.trim()));
  assert.ok(text.some((one) => one.startsWith(name)), `${task}: '${name}' is not there: ${text.slice(0, 40)}`);
}

const here = async (page) => (await page.locator('.menu a[aria-current=page]').allInnerTexts())[0];

test('clicks lead where the list says', async () => {
  const page = await open(chromium);
  let done = 0;
  for (const { task, clicks } of await tasks()) {
    const [first] = names(clicks, '**');
    if (!first) continue;
    await view(page, url, '#/');
    await page.locator('.menu').getByRole('link', { name: first, exact: true }).click();
    await settled(page);
    assert.equal(await here(page), first, task);
    if (/, a (type|thread)/.test(clicks)) {
      const is_type = clicks.includes(', a type');
      const row = page.getByRole('grid', { name: first }).locator('[data-row]').getByRole('link', { name: is_type ? type : 'order worker 0', exact: true });
      await row.first().click();
      await settled(page);
      assert.match(await page.locator('h1').innerText(), is_type ? /SessionCache/ : /order worker 0/, task);
    }
    if (clicks.includes(', an object')) {
      await page.getByRole('grid', { name: 'Instances' }).locator('[data-row="0"] a').first().click();
      await settled(page);
      assert.match(page.url(), new RegExp(`#/object/${object}$`), task);
    }
    for (const name of names(clicks, '*')) {
      await shows(page, name, task);
      const choice = page.locator('main select').filter({ has: page.locator('option', { hasText: new RegExp(`^${name}$`) }) });
      if (await choice.count()) {
        await choice.first().selectOption({ label: name });
        await settled(page);
      }
      const tab = page.locator('main').getByRole('link', { name: new RegExp(`^${name}`) });
      if (await tab.count()) {
        await tab.first().click();
        await settled(page);
        assert.equal(await page.locator('main .error:not(.incomplete)').count(), 0, task); // the sample lacks a part of the finalization queue
      }
    }
    ++done;
  }
  assert.deepEqual(page.wrong, []);
  assert.ok(done > 35, `${done} tasks`);
  await page.context().close();
});

test("other tools' words in the search box lead there, too", async () => {
  const page = await open(chromium);
  let done = 0;
  await view(page, url, '#/');
  for (const { task, word, clicks } of await tasks()) {
    const [first] = names(clicks, '**');
    const has_object = word.includes('ADDR');
    if (!first && !has_object) continue;
    await page.locator('#search').fill('');
    await page.locator('#search').fill(word.replace('ADDR', object).replace(/ "QUERY"| THREAD/, '').replace('TYPE', type));
    const place = page.locator('#search-list li.view').first();
    await place.waitFor({ timeout: 10000 }).catch(() => assert.fail(`${task}: nothing for ${word}`));
    await place.click();
    await settled(page);
    if (has_object) {
      assert.match(page.url(), new RegExp(`#/object/${object}$`), task);
      for (const name of names(clicks, '*')) await shows(page, name, task);
    } else {
      assert.equal(await here(page), first, task);
    }
    ++done;
  }
  assert.deepEqual(page.wrong, []);
  assert.ok(done > 35, `${done} tasks`);
  await page.context().close();
});

test('a word without a view is no choice, and a name of a type stays one', async () => {
  const page = await open(chromium);
  await view(page, url, '#/');
  await page.locator('#search').fill('SessionCache');
  await page.waitForSelector('#search-list:not([hidden]) li');
  assert.equal(await page.locator('#search-list li.view').count(), 0);
  await view(page, url, '#/find?text=dominator_tree');
  await page.locator('main').getByRole('link', { name: 'Tree', exact: true }).click();
  await settled(page);
  assert.match(await page.locator('h1').innerText(), /Dominator tree/);
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});
