// The map where objects that are alike are one box: what a heap of millions of small objects consists of, at one look.
import { useMemo, useState } from 'preact/hooks';
import { bytes, counted } from '../format';
import { type TypeNode, treeByType, wayTo } from '../map/by_type';
import { MapCanvas } from '../map/canvas';
import type { ColorBy } from '../map/color';
import type { Box, Shape } from '../map/layout';
import { Name } from '../name';
import { Panel, Waiting } from '../parts';
import { go, href, type Query, to } from '../router';
import { type Column, DataTable } from '../table';
import { useVerb } from '../use_answer';
import { Legend, Readout } from './map';

export function MapByType({ query, shape, color }: { query: Query; shape: Shape; color: ColorBy }) {
  const asked = useVerb('retained', { tree: true, depth: 6, table: 'tree' });
  const owners = useVerb('retained', { table: 'owners', top: 0 });
  const [pointed, point] = useState<Box | null>(null);
  const whole = useMemo(() => {
    const rows = (owners.data?.tables.owners ?? []).filter((row) => row.owner !== '(unreachable)');
    const sum = (key: string) => rows.reduce((all, row) => all + row[key], 0);
    return asked.data && owners.data ? treeByType(asked.data.tables.tree ?? [], sum('retained'), sum('objects')) : null;
  }, [asked.data, owners.data]);
  const way = whole ? wayTo(whole, query.in ?? '') : [];
  const root = way[way.length - 1];
  if (!root) return <Waiting asked={asked} what="Drawing the map…" />;
  const inside = (node: { at: string }) => href('map', '', { ...query, in: node.at });
  const open = (node: TypeNode) => {
    if (node.parts.length) return inside(node);
    if (node.kind === 'owner') return node.name === '(shared)' ? href('owners', '', { table: 'shared' }) : to.owner(node.name);
    return node.times === 1 && node.example ? to.object(node.example) : to.type(node.type ?? '');
  };
  const out = () => { const parent = way[way.length - 2]; if (parent) go(inside(parent)); };
  const columns: Column<TypeNode>[] = [
    { key: 'retained', title: 'Retained', kind: 'bytes' },
    { key: 'share', title: 'Share', kind: 'share', value: (node) => node.retained / (root.retained || 1), minor: true },
    { key: 'times', title: 'Instances', kind: 'count', minor: true },
    { key: 'name', title: 'What', kind: 'type', grow: 4, value: (node) => node.type ?? node.name, show: (node, letters) => <Name text={node.type ?? node.name} type={node.kind === 'object'} most={letters} href={open(node)} /> },
    { key: 'example', title: 'One of them', kind: 'address', optional: true, href: (node) => (node.example ? to.object(node.example) : null) },
  ];
  const box: Box = pointed ?? ({ node: root, rest: null, kind: null } as unknown as Box);
  return (
    <>
      <nav class="crumbs" aria-label="Where the map stands">
        <ol>{way.map((node) => <li key={node.at}>{node === root ? <strong aria-current="location"><Name text={node.at ? node.name : 'All'} most={60} /></strong> : <Name text={node.at ? node.name : 'All'} href={inside(node)} most={42} />}</li>)}</ol>
      </nav>
      <MapCanvas root={root} shape={shape} color={color} onZoom={(node) => go(open(node as TypeNode))} onOut={out} onObject={(node) => go(open(node as TypeNode))} onPoint={point} onType={() => {}} onRest={() => {}} />
      <div class="readout"><Readout box={box} whole={root.retained} /></div>
      <Legend root={root} color={color} />
      <Panel title="What it consists of" id="parts" note={`${bytes(root.retained)} in ${counted(root.objects, 'object')}. Each line is all objects of one type at that place; what is less than a part in a hundred or so is left out.`}>
        <DataTable label="Parts of what the map shows" rows={root.parts} columns={columns} href={open} sort="retained" empty="It holds nothing that is large enough to show." />
      </Panel>
    </>
  );
}
