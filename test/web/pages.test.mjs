// The pages that take their tables from the program's text, and those that draw: all rows, no column off the screen, words
// instead of JSON; locks, inspectors, SQL, trees that open in place, the map's filters, what is printed and copied.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explored, settled, view, views } from './support.mjs';

const { url, real, on_page } = await explored();
const rows_of = (grid) => grid.locator('[data-row]');

describe('tables', () => {
  test('have the columns and headings of the text, and no JSON in a cell', () => on_page({}, async (page) => {
    await view(page, url, '#/ask/locks');
    const heads = await page.getByRole('grid', { name: 'Waiting threads' }).locator('[role=columnheader]').allInnerTexts();
    assert.deepEqual(heads, ['Thread', 'Managed', 'Name', 'Waits for', 'Object', 'Held by', 'Source', 'Type']);
    for (const [name, hash] of views) {
      await view(page, url, hash);
      const cells = await page.locator('[role=gridcell]').allInnerTexts();
      assert.deepEqual(cells.filter((text) => /^[[{]"|^\[object/.test(text)), [], name);
    }
  }));

  test('show every column at every width', async () => {
    for (const width of [400, 760, 1280])
      await on_page({ width }, async (page) => {
        for (const hash of ['#/ask/handles', '#/ask/locks', '#/threads', '#/ask/gc', '#/segments', '#/ask/inspect?subject=collections']) {
          await view(page, url, hash);
          const off = await page.evaluate(() => [...document.querySelectorAll('[role=gridcell], [role=columnheader]')].filter((each) => {
            const area = each.getBoundingClientRect();
            const frame = each.closest('.grid').getBoundingClientRect();
            return area.width && (area.right > frame.right + 1 || area.left < frame.left - 1);
          }).map((each) => each.textContent.slice(0, 40)));
          assert.deepEqual(off, [], `${hash}, ${width} pixels`);
        }
      });
  });

  test('have all rows, sorted and filtered by the server', () => on_page({}, async (page) => {
    const asked = [];
    page.on('request', (request) => { if (request.url().includes('rows=')) asked.push(request.url()); });
    await view(page, url, `#/query?sql=${encodeURIComponent('select address, bytes from objects')}`);
    const grid = page.getByRole('grid', { name: 'Rows' });
    assert.equal(await grid.getAttribute('aria-rowcount'), '101766');
    assert.match(await page.locator('.found').innerText(), /^101,765 rows$/);
    assert.ok((await rows_of(grid).count()) < 80);
    await rows_of(grid).first().focus();
    await page.keyboard.press('End');
    await settled(page);
    await page.waitForFunction(() => document.activeElement.dataset.row === '101764' && /0x/.test(document.activeElement.textContent));
    await page.getByRole('columnheader', { name: 'bytes' }).getByRole('button').click();
    await page.waitForFunction(() => location.hash.includes('sort=bytes') && /MiB|KiB/.test(document.querySelector('[data-row]')?.textContent ?? ''));
    await page.getByLabel('Filter: Rows').fill('7ff3b559');
    await page.waitForFunction(() => /of 101,765 rows/.test(document.querySelector('.found').textContent) && !document.querySelector('.found').textContent.startsWith('101,765'));
    assert.ok(asked.some((each) => each.includes('order=bytes')) && asked.some((each) => each.includes('containing=7ff3b559')));
  }));

  test('shorten what names have alike, keep where they differ, and copy whole names', () => on_page({ width: 1280 }, async (page) => {
    const stat = await real('api/ask/stat?by=retained&top=0');
    const one = stat.tables.types[0];
    const begin = `Company.Product.${'VeryLongNameOfAModule'.repeat(6)}`;
    const ends = ['First', 'Second', 'Third'].map((end) => `${begin}${end}${'AndWhatFollows'.repeat(4)}`);
    stat.tables.types = ends.map((type, index) => ({ ...one, type, retained: 1000 - index }));
    await page.route((address) => address.href.startsWith(`${url}api/ask/stat`), (route) => route.fulfill({ json: stat }));
    await view(page, url, '#/types');
    const shown = await page.getByRole('grid', { name: 'Types' }).locator('[data-row] bdi .text').allInnerTexts();
    ['First', 'Second', 'Third'].forEach((word, index) => assert.match(shown[index], new RegExp(word)));
    const copied = await page.evaluate(() => new Promise((done) => {
      const range = document.createRange();
      range.selectNodeContents(document.querySelector('[role=grid] .grid-body'));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      const data = new DataTransfer();
      const event = new ClipboardEvent('copy', { clipboardData: data, bubbles: true, cancelable: true });
      document.dispatchEvent(event);
      done(data.getData('text/plain'));
    }));
    for (const name of ends) assert.ok(copied.includes(name), copied);
    assert.doesNotMatch(copied, /⋯|…/);
  }));

  test('a row has a menu: by a right click, and by keys', () => on_page({}, async (page) => {
    await view(page, url, '#/ask/handles');
    const row = rows_of(page.getByRole('grid', { name: 'GC handles' })).first();
    await row.click({ button: 'right', position: { x: 300, y: 10 } });
    assert.deepEqual((await page.getByRole('menuitem').allInnerTexts()).slice(0, 2), ['Open the object', 'Paths to the object']);
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('menu').count(), 0);
    await row.focus();
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem').first().waitFor();
    await page.keyboard.press('Enter');
    await settled(page);
    assert.match(page.url(), /#\/object\/0x/);
  }));
});

test('a property is called by its name, everywhere', () => on_page({ width: 400 }, async (page) => {
  const report = await real('api/ask/report?top=200');
  report.tables.findings[0].text = 'held by Shop.Basket.<Items>k__BackingField';
  report.tables.suspects[0].path = [{ address: '0x7ff3b55996a8', field: '.<Cart>k__BackingField' }];
  report.completeness.notes = [`no symbols for ${'Company.Product.'.repeat(20)}dll`];
  await page.route((address) => address.href.startsWith(`${url}api/ask/report`), (route) => route.fulfill({ json: report }));
  await view(page, url, '#/');
  assert.match(await page.locator('.findings').innerText(), /Held by Shop\.Basket\.Items/);
  assert.match(await page.locator('.suspects').innerText(), /\.Cart/);
  assert.doesNotMatch(await page.locator('main').innerText(), /BackingField/);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 400);
}));

describe('locks', () => {
  const deadlock = {
    locks: [{ object: '0x10', kind: 'monitor', owner_os_id: 2, owner_name: 'audit', waiters: 1, waiting: [1], type: 'Shop.Ledger' }, { object: '0x20', kind: 'lock', owner_os_id: 1, owner_name: 'post', waiters: 1, waiting: [2], type: 'System.Threading.Lock' }],
    deadlocks: [{ cycle: [{ os_id: 1, task: null, holds: '0x20', waits_for: '0x10', waits_for_type: 'Shop.Ledger', grounds: 'runtime' }, { os_id: 2, task: null, holds: '0x10', waits_for: '0x20', waits_for_type: 'System.Threading.Lock', grounds: 'stack' }], grounds: 'stack', text: 'thread 1 (post) waits for Shop.Ledger 0x10, which thread 2 (audit) holds; thread 2 waits for System.Threading.Lock 0x20, which thread 1 holds' }],
    waits: [],
  };
  const told = async (page, tables) => page.route((address) => address.href.startsWith(`${url}api/ask/locks`), (route) => route.fulfill({ json: { command: 'locks', target: {}, completeness: { notes: [] }, tables } }));

  test('a deadlock is drawn: threads, locks, and arrows between them', async () => {
    for (const width of [1280, 400])
      await on_page({ width }, async (page) => {
        await told(page, deadlock);
        await view(page, url, '#/ask/locks');
        const drawing = page.locator('.lock-graph svg').first();
        assert.match(await drawing.getAttribute('aria-label'), /thread 1 \(post\) waits/);
        assert.equal(await drawing.locator('.lock-thread').count(), 2);
        assert.equal(await drawing.locator('.lock-thing').count(), 2);
        assert.equal(await drawing.locator('.lock-arrow').count(), 4);
        assert.match(await drawing.textContent(), /is held by, as its stack shows/);
        assert.equal(await page.locator('main').getByText('{"os_id"').count(), 0);
        await drawing.locator('a').first().click();
        await settled(page);
        assert.match(page.url(), /#\/thread\/1$/);
        page.wrong = page.wrong.filter((each) => !/404/.test(each)); // the sample has no such thread
      });
  });

  test('async calls that await each other need no lock', () => on_page({}, async (page) => {
    await told(page, { locks: [], waits: [], deadlocks: [{ cycle: [{ os_id: null, task: '0x1a', waits_for: '0x1b' }, { os_id: null, task: '0x1b', waits_for: '0x1a' }], text: 'task 0x1a (Shop.Stage.RunA) waits for task 0x1b (Shop.Stage.RunB); task 0x1b (Shop.Stage.RunB) waits for task 0x1a (Shop.Stage.RunA)' }] });
    await view(page, url, '#/ask/locks');
    const drawing = page.locator('.lock-graph svg').first();
    assert.match(await drawing.textContent(), /Shop\.Stage\.RunA[\s\S]*awaits[\s\S]*Shop\.Stage\.RunB/);
    assert.equal(await drawing.locator('.lock-thing').count(), 0);
  }));

  test('those that wait without a deadlock stand beside what they wait for', () => on_page({}, async (page) => {
    await view(page, url, '#/ask/locks');
    assert.match(await page.locator('.verdict').innerText(), /No deadlock was found/);
    assert.match(await page.locator('.lock-graph').textContent(), /order worker 0[\s\S]*ManualResetEvent/);
  }));
});

test('inspectors: an index with counts, where those that found nothing are no links, unless they have another table', () => on_page({}, async (page) => {
  await view(page, url, '#/ask/inspect');
  const entries = page.locator('.inspectors > li');
  assert.equal(await entries.count(), 16);
  assert.match(await entries.first().innerText(), /Timers[\s\S]*100 objects/);
  assert.equal(await page.locator('.inspectors .nothing').count(), 11);
  // Those with a second table lead to it: what has a finalizer, assemblies made at run time.
  const titles = await page.locator('.inspectors .nothing a strong').allInnerTexts();
  assert.deepEqual(titles, ['Load contexts', 'Finalizers', 'Dependency injection', 'Entity Framework']);
  await entries.nth(2).locator('a').first().click();
  await settled(page);
  assert.match(page.url(), /subject=collections/);
  assert.ok((await rows_of(page.getByRole('grid').first()).count()) > 20);
}));

describe('SQL', () => {
  test('completes tables and columns, by keys', () => on_page({}, async (page) => {
    await view(page, url, '#/query');
    const box = page.getByLabel('The question in SQL');
    await box.fill('');
    await box.pressSequentially('select t.me from typ');
    assert.deepEqual(await page.locator('#sql-words li').allInnerTexts(), ['types']);
    await page.keyboard.press('Tab');
    assert.equal(await box.inputValue(), 'select t.me from types');
    await box.pressSequentially(' t');
    await box.evaluate((element) => element.setSelectionRange(11, 11));
    await page.keyboard.type('t');
    assert.deepEqual(await page.locator('#sql-words li').allInnerTexts(), ['method_table']);
    await page.keyboard.press('Enter');
    assert.equal(await box.inputValue(), 'select t.method_table from types t');
  }));

  test('is asked, is kept in the address, and shows bars', () => on_page({}, async (page) => {
    await view(page, url, '#/query');
    await page.getByLabel('The question in SQL').fill('select assembly, sum(bytes) as bytes from types group by 1 order by 2 desc');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Enter');
    await settled(page);
    await page.getByRole('grid', { name: 'Rows' }).waitFor();
    assert.match(page.url(), /sql=select%20assembly/);
    assert.match(await page.getByRole('grid', { name: 'Rows' }).innerText(), /MiB/); // no raw bytes
    await page.getByRole('button', { name: 'Bars' }).click();
    assert.match(await page.locator('.sql-bars').innerText(), /MiB\s+System\.Private\.CoreLib\.dll/);
    await page.reload();
    await settled(page);
    assert.match(await page.locator('.sql-bars').innerText(), /demo\.dll/);
  }));

  test('says what is wrong with a question', () => on_page({}, async (page) => {
    await view(page, url, '#/query?sql=select%20nonsense');
    assert.match(await page.locator('.error').innerText(), /no such column: nonsense/);
    page.wrong = page.wrong.filter((each) => !/Failed to load resource/.test(each));
  }));
});

describe('trees', () => {
  test('of dominators open in place', () => on_page({}, async (page) => {
    await view(page, url, '#/tree');
    const first = page.locator('.branches > li').first();
    await first.getByRole('button', { name: 'Open static Shop.Cache.SessionCache.Shared' }).click();
    await first.locator('ul > li').first().waitFor();
    await settled(page);
    assert.match(await first.innerText(), /Shop\.Cache\.SessionCache 0x7ff3b55996a8/);
    await first.getByRole('button', { name: 'Open Shop.Cache.SessionCache' }).last().click();
    await settled(page);
    assert.ok((await first.locator('ul ul > li').count()) > 20);
    await page.getByRole('button', { name: /^25 more of .*Shop\.Cache/ }).click();
    await settled(page);
    assert.ok((await first.locator('ul ul > li').count()) > 45);
    assert.match(page.url(), /#\/tree$/);
  }));

  test('of referrers, too', () => on_page({}, async (page) => {
    await view(page, url, '#/object/0x7ff3b613d748');
    const tree = page.locator('.branches[aria-label="Who refers to it"]');
    assert.match(await tree.innerText(), /\._entries of/);
    await tree.getByRole('button').first().click();
    await settled(page);
    assert.match(await tree.innerText(), /\.byToken of/);
  }));
});

describe('the map', () => {
  test('as a flame graph is searched, and hides and focuses types', () => on_page({}, async (page) => {
    await view(page, url, '#/map?as=flame');
    await page.getByLabel('Search in the map').fill('Basket');
    await page.waitForFunction(() => /boxes with Basket: 1\.5 MiB/.test(document.querySelector('main').innerText));
    const parts = page.getByRole('grid', { name: /Parts/ });
    await parts.getByRole('link', { name: 'static Shop.Cache.SessionCache.Shared' }).click();
    await settled(page);
    await rows_of(parts).first().click({ button: 'right', position: { x: 200, y: 10 } });
    assert.deepEqual((await page.getByRole('menuitem').allInnerTexts()).slice(0, 4), ['Paths', 'Instances', 'Hide', 'Focus']);
    await page.getByRole('menuitem', { name: 'Focus' }).click();
    await settled(page);
    assert.match(page.url(), /focus=Shop\.Cache\.SessionCache/);
    assert.match(await parts.innerText(), /Shop\.Cache\.Session/);
    await rows_of(parts).first().click({ button: 'right', position: { x: 200, y: 10 } });
    await page.getByRole('menuitem', { name: 'Hide' }).click();
    await settled(page);
    assert.match(await parts.innerText(), /System\.Byte\[\]/); // what Session held stands in its place
    await page.getByRole('button', { name: /^Without/ }).click();
    await page.getByRole('button', { name: /^Only/ }).click();
    await settled(page);
    assert.doesNotMatch(page.url(), /focus=|hide=/);
  }));

  test('gives a type the same colour whatever else it shows', () => on_page({}, async (page) => {
    const colours = () => page.locator('.legend li').evaluateAll((all) => Object.fromEntries(all.map((each) => [each.textContent.replace('⋯', ''), each.querySelector('rect').getAttribute('fill')])));
    await view(page, url, '#/map');
    const whole = await colours();
    await view(page, url, '#/map?in=1');
    const inside = await colours();
    const both = Object.keys(inside).filter((name) => whole[name]);
    assert.ok(both.length > 0);
    for (const name of both) assert.equal(inside[name], whole[name], name);
  }));
});

test('the report is printed on A4 without what only a screen needs', () => on_page({}, async (page) => {
  await view(page, url, '#/report');
  await page.emulateMedia({ media: 'print' });
  for (const part of ['.top', '.menu', '.screen-only']) assert.equal(await page.locator(part).first().isVisible(), false, part);
  assert.match(await page.locator('.report').innerText(), /Findings[\s\S]*2,000 handlers[\s\S]*Who holds most[\s\S]*The largest types/);
  const bytes = await page.pdf({ preferCSSPageSize: true });
  assert.match(bytes.toString('latin1'), /\/MediaBox\s*\[\s*0 0 59[45](\.\d+)? 84[12]/);
}));
