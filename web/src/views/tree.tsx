// Dominators: the whole heap as a tree that opens in place: who holds what alone, down to single objects.
import type { HeapNode } from '../answers';
import { Branches, dominated } from '../branches';
import { bytes, counted } from '../format';
import { Panel, Waiting } from '../parts';
import { href, to } from '../router';
import { useAnswer } from '../use_answer';
import { nodeChoices } from './object';

function link(node: HeapNode): string | null {
  if (node.kind === 'object') return to.object(node.at);
  return node.name === '(shared)' ? href('owners', '', { table: 'shared' }) : node.name === '(unreachable)' ? href('types', '', { life: 'dead' }) : to.owner(node.name);
}

export function DominatorTree() {
  const asked = useAnswer<HeapNode>('api/map', { at: 'root', levels: 1 });
  const root = asked.data;
  return (
    <>
      <h1 tabIndex={-1}>Dominator tree</h1>
      {!root ? <Waiting asked={asked} /> : (
        <Panel title="Who holds what alone" note={`${bytes(root.retained)} in ${counted(root.objects, 'object')}. Below each line stands what would be freed with it, the largest first; a right click shows where it leads.`}>
          <Branches label="Who holds what alone" at="root" below={dominated} whole={root.retained} href={link} menu={nodeChoices} />
        </Panel>
      )}
    </>
  );
}
