// Makes dist/ (or the folder named) from src/: index.html, app.js, app.css. The same sources give the same bytes.
// What is bundled keeps its licence: the texts stand at the end of app.js.
import * as esbuild from 'esbuild';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, 'dist');
await mkdir(out, { recursive: true });

const result = await esbuild.build({
  absWorkingDir: here,
  entryPoints: { app: 'src/main.tsx' },
  outdir: out,
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  format: 'iife',
  target: 'es2022',
  charset: 'ascii', // so that it may stand in a page of any encoding
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning',
});
const style = await esbuild.build({
  absWorkingDir: here,
  entryPoints: { app: 'src/style.css' },
  outdir: out,
  minify: true,
  write: false,
  logLevel: 'warning',
});

async function licence(name) {
  const folder = join(here, 'node_modules', name);
  const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  return `${name} ${version}\n\n${(await readFile(join(folder, file), 'utf8')).trim()}`;
}
const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
  if (found) packages.add(found[1]);
}
const licences = await Promise.all([...packages].sort().map(licence));
const notice = `/*! This file holds:\n\n${licences.join('\n\n---\n\n').replaceAll('*/', '* /')}\n*/\n`;

const script = result.outputFiles[0].text + notice, css = style.outputFiles[0].text;
await writeFile(join(out, 'app.js'), script);
await writeFile(join(out, 'app.css'), css);

// The page in one file: the program lays style, script and answers into their places; the policy knows the first two by hash.
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(css)}; img-src data:; base-uri 'none'; form-action 'none'`;
const index = await readFile(join(here, 'src/index.html'), 'utf8');
const places = [
  ['<meta charset="utf-8">', `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">`],
  ['<link rel="stylesheet" href="app.css">', '<style>/*style*/</style>'],
  ['<script src="app.js" defer></script>\n', ''],
  ['</body>', '<script id="kept" type="application/octet-stream"><!--kept--></script>\n<script>/*script*/</script>\n</body>'],
];
let kept = index;
for (const [place, text] of places) {
  if (!kept.includes(place)) throw new Error(`src/index.html has no ${place}`);
  kept = kept.replace(place, () => text);
}
await writeFile(join(out, 'kept.html'), kept);
await copyFile(join(here, 'src/index.html'), join(out, 'index.html'));
