// Owner: what one static field, thread or handle keeps alive, by type level by level, and object by object.
import { useEffect, useState } from 'preact/hooks';
import type { HeapNode, Page } from '../answers';
import { bytes, count, share } from '../format';
import { Branches, dominated } from '../branches';
import { Name } from '../name';
import { Facts, Panel, Waiting } from '../parts';
import { type Route, to } from '../router';
import { ask } from '../source';
import { useServerState } from '../server_state';
import { type Branch, Tree } from '../tree';
import { useVerb } from '../use_answer';
import { nodeChoices } from './object';

const page = 500;

// Owners are the root's children; the one with this name.
function useOwner(name: string): { node: HeapNode | null; total: number; missing: boolean } {
  const [found, set] = useState<{ name: string; node: HeapNode | null; total: number; missing: boolean } | null>(null);
  const stage = useServerState().state?.stage;
  useEffect(() => {
    let wanted = true;
    (async () => {
      for (let from = 0; wanted && from < 20 * page; from += page) {
        const { rows, total }: Page<HeapNode> = await ask('api/children', { at: 'root', from, count: page });
        const node = rows.find((each) => each.kind === 'owner' && each.name === name);
        const whole = rows.reduce((sum, each) => sum + each.retained, 0);
        if (node && wanted) return set({ name, node, total: whole, missing: false });
        if (from + page >= total) break;
      }
      if (wanted) set({ name, node: null, total: 0, missing: true });
    })().catch(() => wanted && set({ name, node: null, total: 0, missing: stage === 'ready' }));
    return () => {
      wanted = false;
    };
  }, [name, stage]);
  return found?.name === name ? found : { node: null, total: 0, missing: false };
}

export function Owner({ route }: { route: Route }) {
  const name = route.query.name ?? '';
  const { node, missing } = useOwner(name);
  const all = useVerb('retained', { table: 'owners', top: 0 });
  const row = all.data?.tables.owners?.find((each) => each.owner === name);
  const tree = useVerb('retained', { tree: true, depth: 6, table: 'tree' });
  const rows = tree.data?.tables.tree ?? [];
  const begin = rows.findIndex((each) => each.depth === 0 && each.name === name);
  const branches: Branch[] = [];
  for (let index = begin + 1; begin >= 0 && index < rows.length && rows[index]!.depth > 0; ++index) {
    const each = rows[index]!;
    branches.push({ depth: each.depth - 1, text: each.name, href: each.address ? to.object(each.address) : null, bytes: each.retained, count: each.nodes, is_type: true });
  }
  return (
    <>
      <h1 tabIndex={-1} class="with-name"><span class="kind">Owner</span> <Name text={name} most={100} /></h1>
      {row && <Facts rows={[['Retained', bytes(row.retained)], ['Share', share(row.share)], ['Objects', count(row.objects)], ['Kind', row.kind ?? '–'], ['Rank', row.rank ?? '–'], ['Signature', row.signature ?? '–']]} />}
      {node && <p class="links"><a class="button" href={to.map(node.at)}>Show on the map</a></p>}
      {missing && all.data && !row && <p class="error" role="alert">There is no owner of this name.</p>}
      <Panel title="What it holds, by type" note="Level by level: what holds what alone. Each line is all objects of one type at that place.">
        {!tree.data ? <Waiting asked={tree} /> : branches.length ? <Tree label="What it holds" branches={branches} whole={row?.retained ?? branches[0]?.bytes ?? 1} /> : <p class="empty">Too little to have a tree of its own.</p>}
      </Panel>
      {node && <Panel title="What it holds, object by object" note="Each opens in place."><Branches key={node.at} label="What it holds, object by object" at={node.at} below={dominated} whole={node.retained} href={(each) => (each.kind === 'object' ? to.object(each.at) : to.map(each.at))} menu={nodeChoices} /></Panel>}
    </>
  );
}
