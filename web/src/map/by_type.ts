// The dominator tree with what is alike as one: at each place all objects of a type. Its nodes have no address of their own:
// they are found by the way to them, "0.2.1".
import type { MapNode, Row } from '../answers';

export interface TypeNode extends MapNode {
  parts: TypeNode[];
  times: number; // so many objects
  example: string | null;
}

function node(at: string, row: Row, kind: MapNode['kind']): TypeNode {
  const type = kind === 'object' ? (row.name as string) : null;
  const name = row.nodes > 1 && kind === 'object' ? `${row.nodes.toLocaleString('en-US')} × ${row.name}` : row.name;
  return { at, kind, name, type, owner_kind: null, rank: null, generation: null, self: 0, retained: row.retained, objects: row.objects, children: 0, parts: [], times: row.nodes ?? 1, example: row.address ?? null };
}

// Rows of `retained --tree`, each with its depth; `bytes` and `objects`: of all that is held.
export function treeByType(rows: Row[], bytes: number, objects: number): TypeNode {
  const root = node('', { name: 'all that is held', retained: bytes, objects, nodes: 1 }, 'root');
  const above: TypeNode[] = [root];
  for (const row of rows) {
    const parent = above[Math.min(row.depth, above.length - 1)]!;
    const at = parent.at === '' ? String(parent.parts.length) : `${parent.at}.${parent.parts.length}`;
    const each = node(at, row, row.depth === 0 ? 'owner' : 'object');
    parent.parts.push(each);
    above.length = row.depth + 1;
    above.push(each);
  }
  const finish = (each: TypeNode) => {
    each.children = each.parts.length;
    each.self = Math.max(0, each.retained - each.parts.reduce((sum, part) => sum + part.retained, 0));
    each.parts.forEach(finish);
  };
  finish(root);
  return root;
}

// From the root down to the node at `at`; as far as that is there.
export function wayTo(root: TypeNode, at: string): TypeNode[] {
  const way = [root];
  for (const step of at.split('.')) {
    const next = at === '' ? undefined : way[way.length - 1]!.parts[Number(step)];
    if (!next) break;
    way.push(next);
  }
  return way;
}
