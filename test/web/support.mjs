// What the tests share: the program that serves the sample, and Debian's Chromium.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { after } from 'node:test';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
export const sample = process.env.DNHEAP_SAMPLE ?? join(root, 'sample/demo.core.zst');
export const chromium_path = process.env.CHROMIUM ?? '/usr/bin/chromium';

// Writes records of the sample as if, so many minutes ago, its cache had had this share of what is in it now; their names.
export function earlier(folder, all) {
  return all.map(([minutes, share], index) => {
    const file = join(folder, `demo-${index + 1}.json`);
    execFileSync(process.env.DNHEAP, ['check', sample, '--record', file, '--no-instances-of', 'Shop.Never'], { stdio: 'ignore' });
    const record = JSON.parse(readFileSync(file, 'utf8'));
    record.target.taken -= minutes * 60;
    for (const row of [...record.tables.owners, ...record.tables.types])
      if (/Shop\.Cache/.test(row.owner ?? row.type)) {
        record.target.live_bytes -= row.owner ? Math.round(row.retained * (1 - share)) : 0;
        for (const key of ['retained', 'objects', 'count', 'bytes', 'live']) if (row[key]) row[key] = Math.round(row[key] * share);
      }
    writeFileSync(file, JSON.stringify(record));
    return file;
  });
}

// Starts `dnheap explore`; { url, end() }. With $EXPLORER_URL: asks about the sample a server that runs already.
export async function serve({ dump = sample, others = [], options = [] } = {}) {
  if (process.env.EXPLORER_URL && dump === sample && !others.length && !options.length) return { url: process.env.EXPLORER_URL, end: async () => {} };
  const { DISPLAY, WAYLAND_DISPLAY, ...env } = process.env; // or it would open a browser of its own
  const child = spawn(process.env.DNHEAP, ['explore', ...others, dump, ...options], { stdio: ['ignore', 'pipe', 'inherit'], env });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (data) => {
      text += data;
      const found = /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]+\//.exec(text);
      if (found) resolve(found[0]);
    });
    ended.then((code) => reject(Object.assign(new Error(`dnheap explore ended with ${code}: ${text}`), { code })));
  });
  return { url, end: async () => { child.kill('SIGINT'); await ended; } };
}

export async function ready(url) {
  for (let tries = 0; tries < 600; ++tries) {
    const state = await (await fetch(`${url}api/state`)).json();
    if (state.stage === 'ready') return state;
    if (state.stage === 'failed') throw new Error(state.error);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('not ready after two minutes');
}

export function browser() {
  return chromium.launch({
    executablePath: chromium_path,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
}

// A page that notes what goes wrong: errors, and requests to anywhere but its own origin.
export async function open(in_browser, { width = 1280, height = 800, theme = 'light' } = {}) {
  const context = await in_browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.wrong = [];
  page.asked = [];
  page.on('pageerror', (error) => page.wrong.push(String(error.stack)));
  page.on('console', (message) => { if (message.type() === 'error') page.wrong.push(message.text()); });
  page.on('request', (request) => page.asked.push(request.url()));
  return page;
}

// Serves the sample until the file's tests are done: { url, chromium }, `real`, which asks the server, and `on_page`, which
// gives a page to a test and sees that nothing went wrong there.
export async function explored() {
  const server = await serve();
  after(server.end);
  await ready(server.url);
  const chromium = await browser();
  after(() => chromium.close());
  return { url: server.url, chromium, real: async (path) => (await fetch(server.url + path)).json(), on_page: (options, body) => on_page(chromium, options, body) };
}

export async function on_page(chromium, options, body) {
  const page = await open(chromium, options);
  try {
    await body(page);
    assert.deepEqual(page.wrong, []);
  } finally {
    await page.context().close();
  }
}

// Opens a view and waits until nothing is being asked any more.
export async function view(page, url, hash) {
  await page.goto(`${url}${hash}`);
  await settled(page);
}

export async function settled(page) {
  await page.waitForSelector('main h1');
  await page.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 20)));
  await page.waitForFunction(() => ![...document.querySelectorAll('.waiting[role=status]')].length, null, { timeout: 20000 });
  await page.waitForLoadState('networkidle');
}

// Every view, what its heading says, and something that it shows of the sample.
export const views = [
  ['overview', '#/', /Overview/, 'static Shop.Cache.SessionCache.Shared'],
  ['types', '#/types', /Types/, 'SessionCache'],
  ['instances', '#/instances?type=Shop.Order', /Shop\.Order/, '0x7ff3b54ed140'],
  ['paths', '#/paths?of=Shop.Cache.BasketItem', /BasketItem/, '.byToken._entries[*].value.item.Basket.Items._items[*]'],
  ['owners', '#/owners', /Owners/, 'static Shop.Images.banners'],
  ['shared', '#/owners?table=shared', /Owners/, 'Shop.Product'],
  ['owner', '#/owner?name=static%20Shop.Cache.SessionCache.Shared', /SessionCache\.Shared/, 'Basket'],
  ['map', '#/map', /Map of the heap/, 'static Shop.Events.PriceFeed.Shared'],
  ['map, inside', '#/map?in=0.0', /Map of the heap/, '5,000'],
  ['map of objects', '#/map?group=objects&color=generation', /Map of the heap/, 'static Shop.Events.PriceFeed.Shared'],
  ['treemap', '#/map?as=treemap&color=namespace', /Map of the heap/, 'static Shop.Images.banners'],
  ['object', '#/object/0x7ff3b55996d0', /Dictionary/, '_fastModMultiplier'],
  ['threads', '#/threads', /Threads/, 'order worker 0'],
  ['stacks', '#/threads/merged', /Threads/, 'Shop.Workers.Work(Int32)'],
  ['thread', '#/thread/15359', /order worker 0/, 'Shop.Workers.Work(Int32)'],
  ['async', '#/async', /Async/, 'Shop.Mail.Outbox.ConnectAsync'],
  ['waste', '#/waste', /Waste/, 'Shop.Cache.Session.LastPage'],
  ['segments', '#/segments', /Segments/, '40,137 objects'],
  ['find', '#/find?text=basket', /basket/, 'Shop.Cache.Basket'],
  ['strings', '#/ask/strings', /Strings/, 'Shop.Cache.Session.Browser'],
  ['fragmentation', '#/ask/frag', /Fragmentation/, 'Shop.Posting'],
  ['handles', '#/ask/handles', /handles/, 'weak_short'],
  ['roots', '#/ask/roots', /Roots/, 'handle:strong'],
  ['locks', '#/ask/locks', /Locks/, 'order worker 0'],
  ['exceptions', '#/ask/exceptions', /Exceptions/, 'Shop.PaymentException'],
  ['gc', '#/ask/gc', /GC/, 'workstation, regions, background'],
  ['account', '#/ask/account', /Account/, 'heap: objects'],
  ['info', '#/ask/info', /dump/, 'elf-core, written by createdump'],
  ['verify', '#/ask/verify', /Soundness/, 'Problems'],
  ['inspectors', '#/ask/inspect', /Inspectors/, '7,973 objects'],
  ['inspect', '#/ask/inspect?subject=timers', /Timers/, 'Shop.Mail.Reminder'],
  ['tree', '#/tree', /Dominator tree/, 'static Shop.Images.banners'],
  ['flame graph', '#/map?as=flame&find=basket', /Map of the heap/, 'boxes with basket'],
  ['report', '#/report', /Report on demo/, '2,000 handlers'],
  ['SQL', '#/query?sql=select%20name%2C%20bytes%20from%20types%20order%20by%202%20desc', /SQL/, 'System.Byte[]'],
  ['SQL, bars', '#/query?sql=select%20name%2C%20bytes%20from%20types%20order%20by%202%20desc&as=bars', /SQL/, '6.5 MiB'],
];
