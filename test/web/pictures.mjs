// pictures.mjs PROGRAM [NAME…]: what the views look like, for doc/pictures: 1280×680, few colours, each below 60 kB.
// dist.test.mjs holds the names to the files, and these to doc/explorer.md.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { deflateSync } from 'node:zlib';
import UPNG from 'upng-js';
import { browser, earlier, open, ready, root, sample, serve, view } from './support.mjs';

const wanted = [
  ['overview', '#/'],
  ['types', '#/types'],
  ['owners', '#/owners'],
  ['owner', '#/owner?name=static%20Shop.Cache.SessionCache.Shared'],
  ['map', '#/map'],
  ['treemap', '#/map?as=treemap&color=namespace', 'dark'],
  ['map-of-objects', '#/map?group=objects&color=generation'],
  ['object', '#/object/0x7ff3b613d748'],
  ['paths', '#/paths?of=Shop.OrderLine'],
  ['threads', '#/threads'],
  ['thread', '#/thread/15362'],
  ['async', '#/async'],
  ['waste', '#/waste', 'dark'],
  ['segments', '#/segments'],
  ['diff', '#/diff'],
  ['timeline', '#/timeline', 'light', 'several'],
];
const most_bytes = 60_000;

const parts = (pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
const away = (a, b) => (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2;

// The most frequent colours stay, if none that stays is much like them; each other one becomes the nearest of these.
function reduced(rgba, most) {
  const pixels = new Uint32Array(rgba.slice(0));
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const kept = [];
  for (const [pixel] of [...counts].sort((a, b) => b[1] - a[1])) {
    if (kept.length === most) break;
    const like = kept.length < 12 ? 0 : 250; // the largest areas are what they are
    if (kept.every((each) => away(parts(each), parts(pixel)) > like)) kept.push(pixel);
  }
  const nearest = new Map();
  for (const pixel of counts.keys()) {
    const own = parts(pixel);
    nearest.set(pixel, kept.reduce((best, each) => (away(own, parts(each)) < away(own, parts(best)) ? each : best)));
  }
  const place = new Map(kept.map((pixel, index) => [pixel, index]));
  return { colours: kept.map(parts), indices: Uint8Array.from(pixels, (pixel) => place.get(nearest.get(pixel))) };
}

// A PNG with a palette; of as many bits per pixel as that needs.
function png({ colours, indices }, width, height) {
  const bits = colours.length > 16 ? 8 : 4;
  const row = Math.ceil((width * bits) / 8) + 1;
  const data = Buffer.alloc(row * height); // each row begins with its filter: none
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x) {
      const index = indices[y * width + x];
      if (bits === 8) data[y * row + 1 + x] = index;
      else data[y * row + 1 + (x >> 1)] |= x & 1 ? index : index << 4;
    }
  const chunk = (name, body) => {
    const out = Buffer.alloc(12 + body.length);
    out.writeUInt32BE(body.length, 0);
    out.write(name, 4, 'latin1');
    body.copy(out, 8);
    out.writeUInt32BE(UPNG.crc.crc(out, 4, body.length + 4) >>> 0, 8 + body.length);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([bits, 3, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head), chunk('PLTE', Buffer.from(colours.flat())),
    chunk('IDAT', deflateSync(data, { level: 9, memLevel: 9 })), chunk('IEND', Buffer.alloc(0))]);
}

process.env.DNHEAP = resolve(process.env.DNHEAP ?? process.argv[2]);
const names = process.argv.slice(3);
const temporary = await mkdtemp(join(tmpdir(), 'dnheap-pictures-'));
process.chdir(temporary); // files are shown as they were named
await symlink(sample, 'demo.core.zst');
const chromium = await browser();
const dump = 'demo.core.zst';
const servers = {
  one: await serve({ dump, options: ['--against', ...earlier('.', [[60, 1 / 3]])] }),
  several: await serve({ dump, others: earlier('.', [[150, 0.2], [90, 0.35], [60, 0.6], [25, 0.7]]) }),
};
try {
  for (const server of Object.values(servers)) await ready(server.url);
  const folder = join(root, 'doc/pictures');
  await mkdir(folder, { recursive: true });
  for (const [name, hash, theme = 'light', of = 'one'] of wanted) {
    if (names.length && !names.includes(name)) continue;
    const page = await open(chromium, { theme, height: 680 });
    await view(page, servers[of].url, hash);
    const shot = UPNG.decode(await page.screenshot());
    const rgba = UPNG.toRGBA8(shot)[0];
    const tries = [96, 64, 48, 40, 32, 24, 16].map((colours) => [colours, png(reduced(rgba, colours), shot.width, shot.height)]);
    const [colours, bytes] = tries.find((each) => each[1].length < most_bytes) ?? tries.at(-1);
    await writeFile(join(folder, `${name}.png`), bytes);
    console.log(`${name}.png: ${bytes.length} bytes, ${colours} colours`);
    await page.context().close();
  }
} finally {
  await chromium.close();
  for (const server of Object.values(servers)) await server.end();
  await rm(temporary, { recursive: true });
}
