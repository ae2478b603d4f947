// The explorer's page on the sample: what it shows, where clicks and keys lead, what it never does.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { explored, open, ready, sample, serve, settled, view, views } from './support.mjs';

const { url, chromium, real, on_page } = await explored();

// Puts an answer in the place of the server's.
const answered = (page, path, body, status = 200) =>
  page.route((address) => address.href.startsWith(url + path), (route) => route.fulfill({ status, contentType: 'application/json', body: JSON.stringify(body) }));

describe('every view', () => {
  test('says what it is and shows the sample, and asks nobody but its server', () => on_page({}, async (page) => {
    for (const [name, hash, heading, text] of views) {
      await view(page, url, hash);
      assert.match(await page.locator('main h1').first().innerText(), heading, name);
      const shown = (await page.locator('main').innerText()) + (await page.locator('main bdi').evaluateAll((all) => all.map((each) => each.title).join('\n')));
      assert.ok(shown.includes(text), `${name} does not show ${text}`);
      assert.equal(await page.locator('.error').count(), 0, name);
      assert.match(await page.title(), /· demo\.core\.zst · dnheap$/);
    }
    assert.deepEqual(page.asked.filter((each) => !each.startsWith(url) && !each.startsWith('data:')), []);
  }));

  test('leads with findings, each with the page that shows more', () => on_page({}, async (page) => {
    await view(page, url, '#/');
    const finding = page.locator('.findings li');
    assert.equal(await finding.count(), 1);
    assert.match(await finding.innerText(), /2,000 handlers were added to Shop\.Events\.PriceFeed\.Changed/);
    await finding.locator('a').click();
    await settled(page);
    assert.match(page.url(), /#\/ask\/inspect\?subject=events$/);
    assert.match(await page.locator('main').innerText(), /2,000/);
    const inspectors = await page.locator('.tabs a').allInnerTexts();
    assert.ok(inspectors.includes('Timers') && inspectors.includes('All') && !inspectors.includes('Queries'), `${inspectors}`); // ef's second table
  }));

  test('fits a window of 400 pixels', () => on_page({ width: 400 }, async (page) => {
    for (const [name, hash] of views) {
      await view(page, url, hash);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 400, `${name}: ${wide} pixels wide`);
    }
  }));

  test('is opened by the bar at the side', () => on_page({}, async (page) => {
    await view(page, url, '#/');
    const entries = await page.locator('.menu a').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
    assert.ok(entries.length >= 18);
    for (const entry of entries) {
      await page.locator(`.menu a[href="${entry}"]`).click();
      await settled(page);
      assert.equal(await page.locator('.menu a[aria-current=page]').getAttribute('href'), entry);
      assert.equal(await page.locator('.error').count(), 0, entry);
    }
  }));
});

describe('clicking', () => {
  test('leads from the overview to the field that leaks', () => on_page({}, async (page) => {
    await view(page, url, '#/');
    await page.getByRole('link', { name: 'Open the object of suspect 1' }).click();
    await settled(page);
    assert.match(await page.locator('h1').innerText(), /Shop\.Cache\.SessionCache/);
    await page.getByRole('grid', { name: 'Fields' }).getByRole('link', { name: 'byToken' }).click();
    await settled(page);
    await page.getByRole('grid', { name: 'Fields' }).getByRole('link', { name: '_entries' }).click();
    await settled(page);
    assert.deepEqual(await page.locator('.way .field').allInnerTexts().then((all) => all.map((each) => each.trim())), ['.byToken', '._entries']);
    await page.locator('.way-root a').click();
    await settled(page);
    assert.match(await page.locator('h1').innerText(), /static Shop\.Cache\.SessionCache\.Shared/);
  }));

  test('leads from types over instances to an object, and back; a reload stays', () => on_page({}, async (page) => {
    await view(page, url, '#/owners');
    await view(page, url, '#/types');
    await page.getByLabel('Filter: Types').fill('BasketItem');
    await page.waitForFunction(() => location.hash.includes('filter=BasketItem'));
    const rows = page.getByRole('grid', { name: 'Types' }).locator('[data-row]');
    assert.equal(await rows.count(), 3);
    await page.getByRole('columnheader', { name: 'Count' }).getByRole('button').click();
    assert.match(page.url(), /sort=count/);
    await page.reload();
    await settled(page);
    assert.equal(await rows.count(), 3);
    assert.equal(await page.getByRole('columnheader', { name: 'Count' }).getAttribute('aria-sort'), 'descending');
    await rows.first().getByRole('link').first().click();
    await settled(page);
    assert.match(page.url(), /#\/instances\?type=Shop\.Cache\.BasketItem$/);
    await page.getByRole('grid', { name: 'Instances' }).getByRole('link').first().click();
    await settled(page);
    assert.match(page.url(), /#\/object\/0x/);
    await page.goBack();
    await settled(page);
    assert.match(page.url(), /#\/instances/);
    await page.goBack();
    await settled(page);
    assert.equal(await page.getByLabel('Filter: Types').inputValue(), 'BasketItem');
    await page.goBack(); // sorting and filtering are no steps to go back over
    await settled(page);
    assert.match(page.url(), /#\/owners$/);
    await page.goForward();
    await page.goForward();
    await settled(page);
    assert.match(await page.locator('h1').innerText(), /BasketItem/);
  }));

  test('goes into the map of what is alike, down to the instances of a type', () => on_page({}, async (page) => {
    await view(page, url, '#/map');
    const map = page.locator('canvas.map');
    await map.click({ position: { x: 60, y: 60 } }); // the largest owner
    await page.waitForFunction(() => location.hash.endsWith('in=0'));
    const parts = page.getByRole('grid', { name: /Parts/ });
    await parts.getByRole('link', { name: 'Shop.Cache.SessionCache', exact: true }).click();
    await page.waitForFunction(() => location.hash.endsWith('in=0.0'));
    await settled(page);
    assert.match(await parts.locator('[data-row="0"]').innerText(), /5,000\s+Shop\.Cache\.Session/);
    await parts.getByRole('link', { name: 'Shop.Cache.Session', exact: true }).click();
    await settled(page);
    assert.match(await page.locator('.crumbs').innerText(), /All[\s\S]*SessionCache\.Shared[\s\S]*5,000 × Shop\.Cache\.Session$/);
    await parts.getByRole('link', { name: 'System.Byte[]' }).click();
    await settled(page);
    assert.match(page.url(), /#\/instances\?type=System\.Byte%5B%5D$/);
    await page.goBack();
    await page.goBack();
    await settled(page);
    assert.ok(page.url().endsWith('in=0.0'));
  }));

  test('goes into the map of objects and out of it', () => on_page({}, async (page) => {
    await view(page, url, '#/map?group=objects');
    const map = page.locator('canvas.map');
    const area = await map.boundingBox();
    await map.click({ position: { x: 60, y: 60 } }); // the largest owner
    await page.waitForFunction(() => location.hash.includes('at=owner'));
    await settled(page);
    assert.match(await page.locator('.crumbs').innerText(), /All[\s\S]*SessionCache\.Shared/);
    await map.click({ position: { x: area.width / 3, y: 60 } });
    await page.waitForFunction(() => location.hash.includes('at=0x'));
    await settled(page);
    assert.match(await page.locator('.crumbs').innerText(), /Shop\.Cache\.SessionCache$/);
    await page.getByRole('button', { name: 'Go out' }).click();
    await page.waitForFunction(() => location.hash.includes('at=owner'));
    await page.locator('.crumbs a').first().click();
    await page.waitForFunction(() => !location.hash.includes('at='));
    await settled(page);
    assert.match(await page.getByRole('grid', { name: /Parts/ }).innerText(), /SearchIndex/);
    await page.getByRole('button', { name: 'Treemap' }).click();
    assert.match(page.url(), /as=treemap/);
    assert.equal(await page.getByRole('button', { name: 'Treemap' }).getAttribute('aria-pressed'), 'true');
  }));

  test('names the roots of an object that no other refers to, and finds fields', () => on_page({}, async (page) => {
    await view(page, url, '#/object/0x7ff3b55996a8');
    assert.match(await page.locator('.roots').innerText(), /static\s+Shop\.Cache\.SessionCache\.Shared/);
    await page.locator('.roots a').click();
    await settled(page);
    assert.match(await page.locator('.facts').innerText(), /Retained/);
    await view(page, url, '#/find?text=byToken');
    await page.getByRole('grid', { name: 'Fields' }).getByRole('link', { name: 'byToken' }).click();
    await settled(page);
    assert.match(page.url(), /#\/instances\?type=Shop\.Cache\.SessionCache$/);
  }));

  test('small objects of one type are one box of the map, which leads to them', () => on_page({}, async (page) => {
    await view(page, url, '#/map?at=0x7ff3b55996a8');
    await page.locator('canvas.map').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    assert.match(await page.locator('.map-frame [aria-live]').innerText(), /5,000 × LinkedListNode<Session>, 8\.7 MiB/);
    await page.keyboard.press('Enter');
    await settled(page);
    assert.match(page.url(), /#\/instances\?type=System\.Collections\.Generic\.LinkedListNode/);
  }));

  test('turns pages of references', () => on_page({}, async (page) => {
    await view(page, url, '#/object/0x7ff3b613d748');
    const pager = page.getByRole('navigation', { name: 'Pages: What it refers to' });
    assert.match(await pager.innerText(), /1 to 50 of 10,000 references/);
    await pager.getByRole('button', { name: 'Next' }).click();
    await settled(page);
    assert.match(await pager.innerText(), /51 to 100 of/);
    assert.match(await page.getByRole('grid', { name: 'What it refers to' }).innerText(), /\[25\]\.key/);
  }));
});

describe('keys alone', () => {
  test('search, open a row, go back', () => on_page({}, async (page) => {
    await view(page, url, '#/');
    await page.keyboard.press('/');
    await page.keyboard.type('BasketItem');
    await page.waitForSelector('#search-list:not([hidden]) li');
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.locator('#search-list [aria-selected=true]').count(), 1);
    await page.keyboard.press('Enter');
    await settled(page);
    assert.match(page.url(), /#\/instances\?type=/);
    const grid = page.getByRole('grid', { name: 'Instances' });
    for (let presses = 0; !(await grid.locator('[data-row]:focus').count()); ++presses) {
      assert.ok(presses < 60, 'Tab never reaches a row');
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const row = await page.evaluate(() => document.activeElement.dataset.row);
    assert.equal(row, '2');
    await page.keyboard.press('End');
    assert.ok(Number(await page.evaluate(() => document.activeElement.dataset.row)) > 900);
    await page.keyboard.press('Home');
    const address = await page.locator(':focus .address').first().innerText();
    await page.keyboard.press('Enter');
    await settled(page);
    assert.ok(page.url().endsWith(`#/object/${address}`));
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1');
  }));

  test('an address in the search box opens its object', () => on_page({}, async (page) => {
    await view(page, url, '#/');
    await page.keyboard.press('/');
    await page.keyboard.type('7ff3b55996a8');
    await page.keyboard.press('Enter');
    await settled(page);
    assert.match(page.url(), /#\/object\/0x7ff3b55996a8$/);
  }));

  test('go over the map', () => on_page({}, async (page) => {
    await view(page, url, '#/map?group=objects');
    await page.locator('canvas.map').focus();
    await page.keyboard.press('ArrowDown');
    assert.match(await page.locator('.map-frame [aria-live]').innerText(), /static Shop\.Cache\.SessionCache\.Shared, 9\.2 MiB/);
    await page.keyboard.press('ArrowRight');
    assert.match(await page.locator('.map-frame [aria-live]').innerText(), /PriceFeed/);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.includes('at=owner'));
    await settled(page);
    await page.locator('canvas.map').focus();
    await page.keyboard.press('Backspace');
    await page.waitForFunction(() => !location.hash.includes('at='));
    await settled(page);
    await page.locator('canvas.map').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('o');
    await settled(page);
    assert.match(page.url(), /#\/object\/0x7ff3b55996a8$/);
  }));

  test('? shows the keys, g and a letter change the view, the skip link skips', () => on_page({}, async (page) => {
    await view(page, url, '#/');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    await page.keyboard.press('?');
    assert.equal(await page.locator('dialog[open] h2').innerText(), 'Keys');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('dialog[open]').count(), 0);
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await settled(page);
    assert.equal(await page.locator('h1').innerText(), 'Types');
  }));

  test('reach every button and link that is to be seen', () => on_page({}, async (page) => {
    for (const hash of ['#/', '#/map', '#/map?group=objects', '#/object/0x7ff3b55996d0']) {
      await view(page, url, hash);
      const wanted = await page.evaluate(() => document.querySelectorAll('main a[href], main button:not([disabled]), main input, main select, main canvas').length);
      await page.evaluate(() => { document.querySelector('main').focus(); window.seen = new Set(); });
      for (let presses = 0; presses < wanted * 2 + 60; ++presses) {
        await page.keyboard.press('Tab');
        const inside = await page.evaluate(() => { window.seen.add(document.activeElement); return document.querySelector('main').contains(document.activeElement); });
        if (!inside && presses > 5) break;
      }
      const missed = await page.evaluate(() => [...document.querySelectorAll('main a[href], main button:not([disabled]), main input, main select, main canvas')].filter((each) => !window.seen.has(each)).map((each) => each.outerHTML.slice(0, 80)));
      assert.deepEqual(missed, [], hash);
    }
  }));
});

describe('what is not as usual', () => {
  test('names are text, whatever they hold', () => on_page({}, async (page) => {
    const stat = await real('api/ask/stat?by=retained&top=0');
    const rtl = 'Evil\u202Etxt.\u200Fexe\u0000\u001b[31m';
    const names = ['<script>window.hit = 1</script>', '<img src=x onerror="window.hit = 2">', rtl, 'N.'.repeat(3990) + 'Long', '"><svg onload=window.hit=3>'];
    names.forEach((type, index) => { stat.tables.types[index].type = type; stat.tables.types[index].retained = 1e12 - index; });
    await answered(page, 'api/ask/stat', stat);
    await answered(page, 'api/tables/objects', { command: 'objects', headline: '', lead: [], next: '', complete: true, notes: [], gaps: [], tables: [] });
    await view(page, url, '#/types');
    const grid = page.getByRole('grid', { name: 'Types' });
    assert.equal(await grid.locator('bdi .text').first().innerText(), names[0]);
    assert.equal(await grid.locator('bdi .text').nth(2).textContent(), rtl);
    assert.ok((await grid.locator('bdi .text').nth(3).innerText()).length < 120);
    await grid.getByRole('button', { name: 'Show the whole name' }).first().click();
    assert.equal((await page.locator('dialog[open] bdi').textContent()).length, 7984);
    await page.keyboard.press('Escape');
    await grid.getByRole('link').first().click();
    await settled(page);
    assert.match(await page.locator('h1').innerText(), /<script>window\.hit = 1<\/script>/);
    await view(page, url, `#/find?text=${encodeURIComponent(names[1])}`);
    await view(page, url, `#/owner?name=${encodeURIComponent(names[1])}`);
    assert.equal(await page.evaluate(() => window.hit), undefined);
  }));

  test('100,000 types are sorted and filtered as one types', () => on_page({}, async (page) => {
    const stat = await real('api/ask/stat?by=retained&top=0');
    const one = stat.tables.types[0];
    stat.tables.types = Array.from({ length: 100000 }, (_, index) => ({ ...one, type: `Many.Type${index}`, count: (index * 7919) % 100003, retained: index }));
    await answered(page, 'api/ask/stat', stat);
    await view(page, url, '#/types');
    const grid = page.getByRole('grid', { name: 'Types' });
    assert.equal(await grid.getAttribute('aria-rowcount'), '100001');
    assert.ok((await grid.locator('[data-row]').count()) < 80);
    await grid.locator('[data-row="0"]').focus();
    await page.keyboard.press('End');
    assert.match(await page.locator(':focus').innerText(), /Many\.Type0\b/);
    const took = await page.evaluate(async () => {
      const begin = performance.now();
      [...document.querySelectorAll('[role=columnheader] button')].find((each) => each.textContent.startsWith('Count')).click();
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      return performance.now() - begin;
    });
    assert.ok(took < 1500, `sorting took ${took} ms`);
    await page.getByLabel('Filter: Types').fill('Type9999');
    await page.waitForFunction(() => document.querySelector('.found').textContent.startsWith('11 of'));
  }));

  test('while the heap is worked through, progress is shown and what was too early is asked again', () => on_page({}, async (page) => {
    const state = await real('api/state');
    let stage = 'graph';
    await page.route((address) => address.href === `${url}api/state`, (route) => route.fulfill({ json: { ...state, stage, pass: stage === 'ready' ? null : { name: 'references', done: 40, total: 100 } } }));
    await page.route((address) => address.href.startsWith(`${url}api/map`), (route) => (stage === 'ready' ? route.continue() : route.fulfill({ status: 503, json: { error: 'not yet', stage } })));
    await page.goto(`${url}#/map?group=objects`);
    await page.waitForSelector('progress');
    const value = await page.locator('progress').getAttribute('value');
    assert.ok(value > 0.4 && value < 0.6, value);
    assert.match(await page.locator('.banner').innerText(), /references, 40 of 100/);
    await page.waitForSelector('text=as soon as the heap');
    stage = 'ready';
    await page.waitForSelector('canvas.map');
    assert.equal(await page.locator('progress').count(), 0);
    page.wrong = page.wrong.filter((each) => !/503/.test(each));
  }));

  test('a server that ended is said; an error of a question is said where it was asked', () => on_page({}, async (page) => {
    await page.route((address) => address.href.startsWith(`${url}api/`), (route) => route.abort());
    await page.goto(url);
    assert.match(await page.locator('.banner.wrong').innerText(), /has ended/);
    await page.unrouteAll();
    await view(page, url, '#/object/0x10');
    assert.match(await page.locator('.error').first().innerText(), /0x10/);
    await view(page, url, '#/nowhere');
    assert.match(await page.locator('h1').innerText(), /no such view/);
    page.wrong = page.wrong.filter((each) => !/Failed to load resource/.test(each));
  }));

  test('a page of another origin reads nothing, even if it knows the address', async () => {
    const other = createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end('<!doctype html><title>other</title><main><h1>other</h1></main>'));
    await new Promise((listening) => other.listen(0, '127.0.0.1', listening));
    const page = await open(chromium);
    try {
      const answers = [];
      page.on('response', (answer) => { if (answer.url().startsWith(url)) answers.push([answer.url(), answer.status()]); });
      await page.goto(`http://127.0.0.1:${other.address().port}/`);
      const got = await page.evaluate(async (url) => {
        const element = (name, attributes) => new Promise((done) => {
          const made = Object.assign(document.createElement(name), attributes);
          made.onload = () => done(name === 'iframe' ? made.contentDocument?.body.innerText ?? '' : 'loaded');
          made.onerror = () => done('');
          document.body.append(made);
        });
        return {
          cors: await fetch(`${url}api/state`).then((answer) => answer.text(), () => ''),
          opaque: await fetch(`${url}api/state`, { mode: 'no-cors' }).then((answer) => answer.text(), () => ''),
          script: await element('script', { src: `${url}app.js` }),
          style: await element('link', { rel: 'stylesheet', href: `${url}app.css` }),
          image: await element('img', { src: `${url}api/state` }),
          frame: await element('iframe', { src: url }),
        };
      }, url);
      assert.deepEqual(got, { cors: '', opaque: '', script: '', style: '', image: '', frame: '' });
      // Nor is it shown where the other page leads to it.
      await page.evaluate((url) => { location.href = url; }, url);
      await page.waitForURL(url);
      assert.doesNotMatch(await page.content(), /demo\.core/);
      assert.ok(answers.some(([where]) => where === url));
      for (const [where, status] of answers) assert.equal(status, 403, where);
    } finally {
      await page.context().close();
      other.close();
    }
  });

  test('colours are chosen by the button, and stay', () => on_page({}, async (page) => {
    await view(page, url, '#/');
    const back = () => page.evaluate(() => getComputedStyle(document.body.parentElement).backgroundColor);
    const light = await back();
    await page.getByRole('button', { name: /^Colours/ }).click();
    assert.notEqual(await back(), light);
    await page.reload();
    await settled(page);
    assert.notEqual(await back(), light);
  }));

  test('what grew since an earlier dump, where there is one', async () => {
    const beside = await serve({ options: ['--against', sample] });
    try {
      await ready(beside.url);
      await on_page({}, async (page) => {
        const diff = await (await fetch(`${beside.url}api/ask/diff?top=0`)).json();
        Object.assign(diff.tables.owners[5], { change: 5 << 20, after: 9 << 20 });
        Object.assign(diff.tables.owners[6], { change: -3 * 1024 });
        await page.route((address) => address.href.startsWith(`${beside.url}api/ask/diff`), (route) => route.fulfill({ json: diff }));
        await view(page, beside.url, '#/');
        await page.getByRole('link', { name: 'What grew' }).click();
        await settled(page);
        const grid = page.getByRole('grid', { name: 'Owners' });
        const first = await grid.locator('[data-row="0"]').innerText();
        assert.match(first, /\+5\.0 MiB/);
        assert.ok(first.includes(diff.tables.owners[5].owner));
        assert.match(await grid.innerText(), /\b0\b/);
        await view(page, beside.url, '#/diff?sort=-change');
        assert.match(await grid.locator('[data-row="0"]').innerText(), /−3\.0 KiB/);
        for (const table of ['types', 'account', 'waste']) {
          await view(page, beside.url, `#/diff?table=${table}`);
          assert.ok((await page.locator('[data-row]').count()) > 3, table);
        }
      });
    } finally {
      await beside.end();
    }
    await on_page({}, async (page) => { // without one the page says how to get it
      await view(page, url, '#/');
      await page.getByRole('link', { name: 'What grew' }).click();
      await settled(page);
      assert.match(await page.locator('main').innerText(), /dnheap explore EARLIER demo\.core\.zst/);
      assert.equal(await page.locator('main [role=grid], .error').count(), 0);
    });
  });
});
