// Paths: by which fields the instances of a type are held, as one tree; or the ways to one object.
import type { Row } from '../answers';
import { bytes as asBytes, counted, share } from '../format';
import { Name } from '../name';
import { LeftOut, Panel, Waiting } from '../parts';
import { type Route, to } from '../router';
import { type Branch, Tree } from '../tree';
import { useVerb } from '../use_answer';

interface Fork {
  text: string;
  owner: string | null;
  bytes: number;
  count: number;
  example: string | null;
  forks: Map<string, Fork>;
  ends: number;
}

function fork(text: string, owner: string | null): Fork {
  return { text, owner, bytes: 0, count: 0, example: null, forks: new Map(), ends: 0 };
}

function stepText(step: Row): string {
  const times = step.most > 1 ? `{${step.least === step.most ? step.most : `${step.least}–${step.most}`}}` : '';
  return `${step.field ?? ''}${times}`;
}

// Rows of paths, put together where they begin alike; what has one way on is one line.
export function merged(paths: Row[]): Branch[] {
  const tops = new Map<string, Fork>();
  for (const path of paths) {
    const owner: string = path.root?.owner ?? path.root?.name ?? '(unknown)';
    let level = tops;
    const keys = [owner, ...(path.steps ?? []).map(stepText).filter((text: string) => text)];
    let last: Fork | null = null;
    keys.forEach((key, index) => {
      let next = level.get(key);
      if (!next) level.set(key, (next = fork(key, index === 0 ? owner : null)));
      next.bytes += path.bytes ?? 0;
      next.count += path.instances ?? 1;
      level = next.forks;
      last = next;
    });
    if (last) {
      (last as Fork).ends += 1;
      (last as Fork).example ??= path.example ?? null;
    }
  }
  const branches: Branch[] = [];
  const walk = (forks: Map<string, Fork>, depth: number) => {
    for (let each of [...forks.values()].sort((a, b) => b.bytes - a.bytes)) {
      let text = each.text;
      while (!each.owner && each.forks.size === 1 && !each.ends) {
        const next = [...each.forks.values()][0]!;
        text += next.text;
        each = next;
      }
      branches.push({ depth, text, href: each.owner && !each.owner.startsWith('(') ? to.owner(each.owner) : each.example ? to.object(each.example) : null, bytes: each.bytes, count: each.count,
        extra: each.example ? <a class="example" href={to.object(each.example)}>{each.example}</a> : null });
      walk(each.forks, depth + 1);
    }
  };
  walk(tops, 0);
  return branches;
}

export function Paths({ route }: { route: Route }) {
  const subject = route.query.of ?? '';
  const is_object = /^0x[0-9a-f]+$/i.test(subject);
  const asked = useVerb(subject ? 'path' : null, { subject, all: is_object, top: 500 });
  const rows = asked.data?.tables.paths ?? [];
  const bytes = rows.reduce((sum, row) => sum + (row.bytes ?? 0), 0);
  return (
    <>
      <h1 tabIndex={-1} class="with-name"><span class="kind">What holds</span> <Name text={subject} type most={100} /></h1>
      {!is_object && <p class="links"><a class="button" href={to.type(subject)}>Its instances</a></p>}
      {!subject ? <p class="empty">Of which type? Open one under Types.</p> : !asked.data ? <Waiting asked={asked} what="Looking for the ways to its instances…" /> : is_object ? (
        <><LeftOut asked={asked} table="paths" />{rows.map((row, index) => (
          <Panel key={index} title={row.root?.owner ?? row.root?.name ?? 'A root'}>
            <ol class="way">{(row.steps ?? []).map((step: Row) => <li key={step.address}><Name text={step.field || '(itself)'} href={to.object(step.address)} most={80} /> <span class="muted"><Name text={step.type} type most={80} /></span></li>)}</ol>
          </Panel>
        ))}</>
      ) : (
        <Panel title="Ways to its instances" note={`${counted(rows.reduce((sum, row) => sum + row.instances, 0), 'instance')} by ${counted(rows.length, 'way')}; ways that begin alike are one until they part. The largest way has ${share(rows[0]?.share)} of them${rows[0]?.retained ? `, and ${asBytes(rows[0].retained)} would be freed with those` : ''}.`}>
          <LeftOut asked={asked} table="paths" />
          {rows.length ? <Tree label="Ways to its instances" branches={merged(rows)} whole={bytes || 1} /> : <p class="empty">Nothing holds an instance of it.</p>}
        </Panel>
      )}
    </>
  );
}
