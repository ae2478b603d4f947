// What is committed in web/dist is what web/ makes; it is small, keeps its licences, and can stand inside a page.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { root } from './support.mjs';

const run = promisify(execFile);
const web = join(root, 'web');
const names = ['app.css', 'app.js', 'index.html', 'kept.html'];

test('web/dist is what web/ makes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dnheap-web-'));
  try {
    await run('node', [join(web, 'build.mjs'), folder]);
    assert.deepEqual((await readdir(join(web, 'dist'))).sort(), names);
    for (const name of names)
      assert.ok((await readFile(join(folder, name))).equals(await readFile(join(web, 'dist', name))), `${name} is another: in web/, npm ci && npm run build`);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('types agree', async () => {
  await run('node', [join(web, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', web]);
});

test('app.js and app.css are below 250 kB, and ASCII that may stand inside a page', async () => {
  let bytes = 0;
  for (const name of ['app.js', 'app.css']) {
    const text = await readFile(join(web, 'dist', name), 'latin1');
    bytes += text.length;
    assert.doesNotMatch(text, /[^\x00-\x7f]/, name);
    assert.doesNotMatch(text, /<\/(script|style)|<!--/i, name);
  }
  assert.ok(bytes < 250_000, `${bytes} bytes`);
});

test('the licences of what is bundled are in app.js', async () => {
  const text = await readFile(join(web, 'dist/app.js'), 'latin1');
  for (const words of [/preact \d/, /The MIT License/, /d3-hierarchy \d/, /Copyright 2010-\d+ Mike Bostock/]) assert.match(text, words);
});

test('index.html names its language and its encoding, and nothing of another place', async () => {
  const text = await readFile(join(web, 'dist/index.html'), 'utf8');
  assert.match(text, /<html lang="en">/);
  assert.match(text, /<meta charset="utf-8">/);
  assert.doesNotMatch(text, /https?:|\/\/|style=|onload=/);
});

test('each picture is one that pictures.mjs makes, and is shown in doc/explorer.md', async () => {
  const files = (await readdir(join(root, 'doc/pictures'))).sort();
  const made = [...(await readFile(join(root, 'test/web/pictures.mjs'), 'utf8')).matchAll(/^ {2}\['([a-z-]+)', '#/gm)].map((found) => `${found[1]}.png`).sort();
  const shown = new Set([...(await readFile(join(root, 'doc/explorer.md'), 'utf8')).matchAll(/\(pictures\/([a-z-]+\.png)\)/g)].map((found) => found[1]));
  assert.deepEqual(files, made);
  assert.deepEqual([...shown].sort(), made);
  for (const file of files) assert.ok((await stat(join(root, 'doc/pictures', file))).size < 61_000, file);
});

test('no lock file says where a package was downloaded', async () => {
  for (const folder of [web, join(root, 'test/web'), join(root, 'test/export')])
    assert.doesNotMatch(await readFile(join(folder, 'package-lock.json'), 'utf8'), /"resolved"|https?:\/\/[^"]*registry/);
});
