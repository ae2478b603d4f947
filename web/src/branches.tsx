// A tree that opens in place, each node asked for when it is opened: what a place dominates, who refers to an object.
import { useState } from 'preact/hooks';
import type { HeapNode } from './answers';
import { type Choice, openMenu } from './context_menu';
import { bytes, count, counted } from './format';
import { Name } from './name';
import { Bar } from './parts';
import { ask, Failure } from './source';

export interface BranchNode {
  key: string;
  node: HeapNode;
  field?: string; // by which it refers to the one above
  leaf?: boolean;
}

export interface BranchPage {
  total: number;
  rows: BranchNode[];
}

// Asks for a part of what is below a place.
export type Below = (at: string, from: number, count: number) => Promise<BranchPage>;

const at_once = 25;

export const dominated: Below = async (at, from, many) => {
  const { total, listed, rows } = await ask('api/children', { at, from, count: many });
  return { total: listed ?? total, rows: rows.map((node: HeapNode) => ({ key: node.at, node, leaf: node.children === 0 })) };
};

export const referring: Below = async (at, from, many) => {
  const { total, listed, rows } = await ask('api/referrers', { at, from, count: many });
  return { total: listed ?? total, rows: rows.map((edge: { field: string; node: HeapNode }) => ({ key: `${edge.node.at} ${edge.field}`, node: edge.node, field: edge.field, leaf: edge.node.kind !== 'object' })) };
};

interface Shared {
  below: Below;
  whole: number;
  href: (node: HeapNode) => string | null;
  menu?: (node: HeapNode) => Choice[];
}

export function Branches({ label, at, above = [], ...shared }: Shared & { label: string; at: string; above?: string[] }) {
  return <ul class="tree branches" aria-label={label}><Level at={at} above={above} label={label} {...shared} /></ul>;
}

// The nodes below one place, and a button for more of them.
function Level({ at, above, label, ...shared }: Shared & { at: string; above: string[]; label: string }) {
  const [page, set] = useState<BranchPage | null>(null);
  const [error, fail] = useState<string | null>(null);
  const [asking, setAsking] = useState(false);
  const more = () => {
    setAsking(true);
    shared.below(at, page?.rows.length ?? 0, at_once).then(
      (next) => { set({ total: next.total, rows: [...(page?.rows ?? []), ...next.rows] }); setAsking(false); },
      (reason) => { fail(reason instanceof Failure ? reason.message : String(reason)); setAsking(false); },
    );
  };
  if (!page && !asking && error === null) more();
  if (error !== null) return <li class="muted"><bdi>{error}</bdi></li>;
  if (!page) return <li class="waiting" role="status">Asking…</li>;
  const left = page.total - page.rows.length;
  return (
    <>
      {page.rows.map((row) => <Twig key={row.key} row={row} above={above} {...shared} />)}
      {!page.rows.length && <li class="muted">Nothing.</li>}
      {left > 0 && <li><button type="button" class="button" disabled={asking} aria-label={`${count(Math.min(left, at_once))} more of ${count(left)}: ${label}`} onClick={more}>{count(Math.min(left, at_once))} more of {count(left)}</button></li>}
    </>
  );
}

function Twig({ row, above, ...shared }: Shared & { row: BranchNode; above: string[] }) {
  const [open, setOpen] = useState(false);
  const { node, field } = row;
  const circle = above.includes(node.at); // an object that refers to itself over others
  const choices = shared.menu?.(node) ?? [];
  return (
    <li>
      <div class="twig" onContextMenu={choices.length ? (event) => openMenu(event, choices) : undefined}>
        {row.leaf || circle ? <span class="opens" /> : <button type="button" class="opens" aria-expanded={open} aria-label={`Open ${(node.name ?? node.at).slice(0, 80)}`} onClick={() => setOpen(!open)}>{open ? '▾' : '▸'}</button>}
        <span class="number" title={counted(node.objects, 'object')}>{bytes(node.retained)}</span>
        <Bar part={node.retained / (shared.whole || 1)} />
        <span class="twig-text">
          {field !== undefined && <span class="step-field"><Name text={field} most={50} /> of </span>}
          <Name text={node.type ?? node.name} type={node.kind === 'object'} most={80} href={shared.href(node)} />
          {node.kind === 'object' && <span class="address muted"> {node.at}</span>}
          {circle && <span class="muted"> (again)</span>}
        </span>
      </div>
      {open && <ul><Level at={node.at} above={[...above, node.at]} label={(node.name ?? node.at).slice(0, 60)} {...shared} /></ul>}
    </li>
  );
}
