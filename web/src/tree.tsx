// A tree of rows that come in order with their depths: open where it is large, closed where it is small.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { bytes as asBytes, count as asCount, exactBytes } from './format';
import { Name } from './name';
import { Bar } from './parts';

export interface Branch {
  depth: number;
  text: string;
  href: string | null;
  bytes: number;
  count: number;
  is_type?: boolean;
  extra?: ComponentChildren;
}

interface Twig {
  branch: Branch;
  parts: Twig[];
}

function grown(branches: Branch[]): Twig[] {
  const tops: Twig[] = [];
  const above: Twig[] = [];
  for (const branch of branches) {
    const twig = { branch, parts: [] };
    above.length = Math.min(branch.depth, above.length);
    (above[above.length - 1]?.parts ?? tops).push(twig);
    above.push(twig);
  }
  return tops;
}

export function Tree({ label, branches, whole }: { label: string; branches: Branch[]; whole: number }) {
  return <ul class="tree" aria-label={label}>{grown(branches).map((twig, index) => <TwigRow key={index} twig={twig} whole={whole} />)}</ul>;
}

function TwigRow({ twig, whole }: { twig: Twig; whole: number }) {
  const { branch, parts } = twig;
  const line = (
    <>
      <span class="number" title={exactBytes(branch.bytes)}>{asBytes(branch.bytes)}</span>
      <Bar part={branch.bytes / (whole || 1)} />
      <span class="twig-text">{branch.count > 1 && <span class="times">{asCount(branch.count)} × </span>}<Name text={branch.text} type={branch.is_type} most={90} href={branch.href} />{branch.extra}</span>
    </>
  );
  const [open, setOpen] = useState(branch.bytes > whole * 0.08);
  return (
    <li>
      <div class="twig">
        {parts.length > 0 ? (
          <button type="button" class="opens" aria-expanded={open} aria-label={`Parts of ${branch.text.slice(0, 80)}, ${asBytes(branch.bytes)}`} onClick={() => setOpen(!open)}>{open ? '▾' : '▸'}</button>
        ) : <span class="opens" />}
        {line}
      </div>
      {open && parts.length > 0 && <ul>{parts.map((each, index) => <TwigRow key={index} twig={each} whole={whole} />)}</ul>}
    </li>
  );
}
