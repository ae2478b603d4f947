// Several dumps over time: what the chart and its table show is what `diff` says, and where clicks and keys lead.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { browser, earlier, on_page, ready, sample, serve, settled, view } from './support.mjs';

let server, chromium, url, folder, said;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dnheap-timeline-'));
  const gcdump = join(folder, 'demo-3.gcdump'); // the sample once more, without contents
  execFileSync(process.env.DNHEAP, ['export', sample, '--as', 'gcdump', '-o', gcdump], { stdio: 'ignore' });
  const others = [...earlier(folder, [[90, 0.2], [30, 0.6]]), gcdump];
  said = JSON.parse(execFileSync(process.env.DNHEAP, ['diff', ...others, sample, '--format', 'json', '--top', '0'], { maxBuffer: 1 << 28 }));
  server = await serve({ others });
  url = server.url;
  await ready(url);
  chromium = await browser();
});
after(async () => {
  await chromium?.close();
  await server?.end();
  await rm(folder, { recursive: true });
});

const parts = (page) => page.locator('.growth-part');
const grown = (values) => values.at(-1) - values[0];
const bytes = (n) => {
  const unit = Math.min(3, Math.floor(Math.log2(Math.max(1, n)) / 10));
  return unit ? `${(n / 1024 ** unit).toFixed(1)} ${['B', 'KiB', 'MiB', 'GiB'][unit]}` : `${n} B`;
};

describe('over time', () => {
  test('the menu leads to it, and the page asks what diff says', () => on_page(chromium, {}, async (page) => {
    assert.deepEqual((await (await fetch(`${url}api/ask/diff?top=0`)).json()).tables.types, said.tables.types);
    await view(page, url, '#/');
    await page.getByRole('link', { name: 'Over time' }).click();
    await settled(page);
    assert.match(await page.locator('h1').innerText(), /Over time/);
    assert.match(await page.locator('main').innerText(), /4 dumps over 1\.5 h: live objects/);
    assert.equal(await page.locator('.error').count(), 0);
  }));

  for (const [hash, table, key, series] of [
    ['#/timeline', 'owners', 'owner', 'series'], ['#/timeline?table=types', 'types', 'type', 'series'],
    ['#/timeline?as=count', 'owners', 'owner', 'objects_series'], ['#/timeline?table=types&as=count', 'types', 'type', 'count_series']])
    test(`layers and rows are those of diff: ${hash}`, () => on_page(chromium, {}, async (page) => {
      await view(page, url, hash);
      const rows = said.tables[table];
      const layers = await page.locator('.growth-legend li bdi').evaluateAll((all) => all.map((each) => each.title));
      const rest = layers.filter((name) => name.startsWith('the other '));
      const named = layers.filter((name) => !rest.includes(name)).map((name) => rows.find((row) => row[key] === name));
      assert.ok(named.length > 5 && named.every(Boolean), `${layers}`);
      assert.deepEqual(rest, [`the other ${rows.length - named.length}`]);
      // The row that grew most stands on top, and is never among the others; nor is the largest.
      const most = (row) => Math.max(...row[series]);
      for (const first of [[...rows].sort((a, b) => grown(b[series]) - grown(a[series]))[0], [...rows].sort((a, b) => most(b) - most(a))[0]]) assert.ok(named.includes(first), first[key]);
      const changes = named.map((row) => grown(row[series]));
      assert.deepEqual(changes, [...changes].sort((a, b) => b - a));
      // The parts add up: the upper edge is the sum of all rows, on the scale of the labels.
      const edges = await parts(page).evaluateAll((all) => all.map((each) => [each.dataset.part, each.querySelector('path').getAttribute('d').match(/[\d.]+/g).map(Number)]));
      const scale = (() => { // pixels of one: by the layer of the one that grew most
        const at = edges.find(([part]) => part === `${layers.length - 1}-2`)[1];
        return (at[1] - at[3]) / named[0][series][2];
      })();
      for (const [dump, part] of [[1, 1], [2, 2]]) {
        const bottom = Math.max(...edges.filter(([name]) => name.endsWith(`-${part}`)).map(([, at]) => at[1])), top = Math.min(...edges.filter(([name]) => name.endsWith(`-${part}`)).map(([, at]) => at[3]));
        const sum = rows.reduce((total, row) => total + row[series][dump], 0);
        assert.ok(Math.abs((bottom - top) / scale - sum) < sum / 100, `${(bottom - top) / scale} is not ${sum}`);
      }
      // The table: sorted by growth, with the figures of each dump.
      const grid = page.getByRole('grid', { name: table === 'owners' ? 'Owners' : 'Types' });
      assert.equal(await grid.getAttribute('aria-rowcount'), String(rows.length + 1));
      const first = await grid.locator('[data-row="0"]').innerText();
      const [best] = [...rows].sort((a, b) => grown(b[series]) - grown(a[series]));
      const write = series === 'series' ? bytes : (n) => n.toLocaleString('en-US');
      for (const value of best[series]) assert.ok(first.includes(write(value)), `${first} has no ${write(value)}`);
      assert.ok(first.includes(`+${write(grown(best[series]))}`), first);
    }));

  test('a click on a part leads to what grew between its two dumps', () => on_page(chromium, {}, async (page) => {
    await view(page, url, '#/timeline?table=types');
    const part = page.locator('.growth-part[aria-label^="System.Byte[]"]').nth(0);
    assert.match(await part.getAttribute('aria-label'), /^System\.Byte\[\]: .* from demo-1\.json to demo-2\.json$/);
    await page.locator('.growth-part[data-part="0-1"]').hover(); // the rest, at the bottom
    assert.match((await page.locator('.readout').innerText()).trim(), /^the other \d+: .* from demo-2\.json to demo-3\.gcdump$/);
    await page.locator('.growth-part[data-part="0-1"]').click();
    await settled(page);
    assert.match(page.url(), /#\/diff\?from=1&to=2&table=types$/);
    await page.goBack();
    await settled(page);
    const [wanted] = [...said.tables.types].sort((a, b) => grown(b.series) - grown(a.series));
    await page.locator(`.growth-part[aria-label^="${wanted.type}:"]`).nth(0).click();
    await settled(page);
    const grid = page.getByRole('grid', { name: 'Types' });
    const row = await grid.locator('[data-row="0"]').innerText();
    assert.ok(row.includes(`+${bytes(wanted.series[1] - wanted.series[0])}`), row);
    assert.equal(await page.locator('.filter').inputValue(), wanted.type);
    // Other two, chosen by hand.
    await page.getByLabel('To', { exact: true }).selectOption('3');
    await settled(page);
    assert.match(page.url(), /from=0&to=3/);
    assert.ok((await grid.locator('[data-row="0"]').innerText()).includes(`+${bytes(wanted.series[3] - wanted.series[0])}`));
    assert.equal(await page.getByLabel('To', { exact: true }).locator('option[disabled]').count(), 1); // the first is not behind itself
  }));

  test('keys go over parts, and open them', () => on_page(chromium, {}, async (page) => {
    await view(page, url, '#/timeline');
    const stops = await page.locator('.growth-part[tabindex="0"]').count();
    assert.equal(stops, 1); // for Tab, the chart is one stop
    await page.locator('.growth-part[tabindex="0"]').focus();
    const at = () => page.evaluate(() => document.activeElement.dataset.part);
    const [layer] = (await at()).split('-').map(Number);
    assert.equal(await at(), `${layer}-0`);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    assert.equal(await at(), `${layer - 1}-1`);
    const says = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
    assert.ok((await page.locator('.readout').innerText()).includes(says.slice(says.indexOf(':'))));
    await page.keyboard.press('End');
    assert.equal(await at(), `${layer - 1}-2`);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    assert.equal(await at(), `${layer}-2`); // nothing is beyond the edges
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await settled(page);
    assert.match(page.url(), /#\/diff\?from=0&to=1&filter=/);
  }));

  test('the switch keeps the table that is shown, and the dumps lead to what grew since the one before', () => on_page(chromium, {}, async (page) => {
    await view(page, url, '#/timeline?table=types');
    const by_number = page.getByRole('group', { name: 'Show' }).getByRole('button', { name: 'Objects' });
    await by_number.click();
    await settled(page);
    assert.match(page.url(), /table=types&as=count$/);
    await page.getByRole('link', { name: 'Owners', exact: true }).last().click();
    await settled(page);
    assert.equal(await by_number.getAttribute('aria-pressed'), 'true');
    const dumps = page.getByRole('grid', { name: 'Dumps' });
    assert.equal(await dumps.getAttribute('aria-rowcount'), '5');
    await dumps.getByRole('link', { name: /^What grew from 2 to 3/ }).click();
    await settled(page);
    assert.match(page.url(), /#\/diff\?from=1&to=2$/);
    assert.match(await page.locator('main').innerText(), /From .*demo-2\.json .* to .*demo-3\.gcdump/);
  }));

  test('a colour is its name\u2019s, whatever else is shown', () => on_page(chromium, {}, async (page) => {
    const colours = async () => Object.fromEntries(await page.locator('.growth-legend li').evaluateAll((all) => all.map((each) => [each.querySelector('bdi').title, each.querySelector('.swatch').style.backgroundColor])));
    await view(page, url, '#/timeline?table=types');
    const by_bytes = await colours();
    await view(page, url, '#/timeline?table=types&as=count');
    const by_count = await colours();
    const both = Object.keys(by_bytes).filter((name) => by_count[name]);
    assert.ok(both.includes('System.String'));
    for (const name of both.filter((each) => !each.startsWith('the other '))) assert.equal(by_bytes[name], by_count[name], name);
    assert.ok(new Set(Object.values(by_bytes)).size > 4);
  }));

  test('fits a window of 400 pixels', () => on_page(chromium, { width: 400 }, async (page) => {
    for (const hash of ['#/timeline', '#/timeline?table=types&as=count', '#/diff?from=0&to=2']) {
      await view(page, url, hash);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 400, `${hash}: ${wide} pixels wide`);
    }
    await view(page, url, '#/timeline');
    assert.ok((await parts(page).count()) > 20);
  }));
});

test('one dump, or two, have no course', async () => {
  const two = await serve({ options: ['--against', sample] });
  try {
    await ready(two.url);
    await on_page(chromium, {}, async (page) => {
      await view(page, two.url, '#/diff');
      assert.equal(await page.getByRole('link', { name: 'Over time' }).count(), 0);
      assert.equal(await page.getByLabel('To', { exact: true }).count(), 0);
      assert.ok((await page.locator('[data-row]').count()) > 3);
    });
  } finally {
    await two.end();
  }
});
