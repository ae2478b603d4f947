// Locks: who waits for whom, drawn: a deadlock as its circle, every other lock between those that wait and who holds it.
import type { Row } from '../answers';
import { count, counted, sentence, shortened } from '../format';
import { withoutNamespaces } from '../name';
import { Panel, Waiting } from '../parts';
import { href, to } from '../router';
import { ShownAnswer } from '../shown_table';
import { useTables } from '../tables';
import { useWidth } from '../table';
import { useVerb } from '../use_answer';
import { useRef } from 'preact/hooks';

const kinds: Record<string, string> = {
  monitor: 'monitor', lock: 'lock', reader_writer: 'reader-writer lock', semaphore: 'semaphore', event: 'event', wait_handle: 'wait handle', task: 'task', mutex: 'mutex',
};

interface Person {
  title: string;
  says: string;
  href: string | null;
}

interface Thing {
  title: string;
  says: string;
  href: string | null;
}

const box_height = 50;
const step = 92;

// A box with a name and a line below it; the whole text stands in its title.
function Box({ x, y, width, node, kind }: { x: number; y: number; width: number; node: Person | Thing; kind: 'thread' | 'thing' }) {
  const letters = Math.max(6, Math.floor((width - 16) / 8.3));
  const body = (
    <g class={`lock-${kind}`}>
      <title>{`${node.title}\n${node.says}`}</title>
      <rect x={x} y={y} width={width} height={box_height} rx={kind === 'thread' ? 8 : 2} />
      <text x={x + 9} y={y + 20} class="lock-name">{shortened(node.title, letters)}</text>
      <text x={x + 9} y={y + 39} class="lock-says">{shortened(node.says, Math.floor((width - 16) / 7.1))}</text>
    </g>
  );
  return node.href ? <a href={node.href}>{body}</a> : body;
}

function Arrow({ path, label, x, y, end = 'middle' }: { path: string; label?: string; x?: number; y?: number; end?: 'middle' | 'start' | 'end' }) {
  return <><path d={path} class="lock-arrow" marker-end="url(#lock-head)" />{label && <text x={x} y={y} class="lock-label" text-anchor={end}>{label}</text>}</>;
}

const Head = () => <defs><marker id="lock-head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M 0 0 L 10 5 L 0 10 z" class="lock-head" /></marker></defs>;

// Each thread waits for the lock beside it, which the next one holds; the last lock is held by the first thread.
function Circle({ members, says }: { members: { who: Person; for: Thing; sure: boolean }[]; says: string }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = Math.min(820, Math.max(300, useWidth(frame)));
  const margin = 34;
  const box = Math.min(300, (width - margin - 70) / 2);
  const right = width - box - margin;
  const head = 22; // the way back to the first
  const height = head + members.length * step - (step - box_height) + 6;
  const middle = (index: number) => head + index * step + box_height / 2;
  return (
    <div ref={frame} class="lock-graph">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={says}>
        <Head />
        {members.map((member, index) => {
          const y = head + index * step;
          const last = index === members.length - 1;
          const back = width - 12;
          return (
            <g key={index}>
              <Arrow path={`M ${box} ${middle(index)} L ${right - 3} ${middle(index)}`} label="waits for" x={(box + right) / 2} y={middle(index) - 6} />
              {!last && <Arrow path={`M ${right + box / 2} ${y + box_height} L ${right + box / 2} ${y + box_height + 21} L ${box / 2} ${y + box_height + 21} L ${box / 2} ${y + step - 3}`} label={member.sure ? 'is held by' : 'is held by, as its stack shows'} x={(box + right) / 2} y={y + box_height + 16} />}
              {last && <Arrow path={`M ${right + box} ${middle(index)} L ${back} ${middle(index)} L ${back} 4 L ${box / 2} 4 L ${box / 2} ${head - 3}`} label={member.sure ? 'is held by' : 'is held by, as its stack shows'} x={(box + right) / 2} y={17} />}
              <Box x={1} y={y} width={box} node={member.who} kind="thread" />
              <Box x={right} y={y} width={box} node={member.for} kind="thing" />
            </g>
          );
        })}
      </svg>
    </div>
  );
}

// Async calls that await each other need no lock between them.
function Awaiting({ calls, says }: { calls: Person[]; says: string }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = Math.min(560, Math.max(280, useWidth(frame)));
  const box = width - 50;
  const height = calls.length * step + 6;
  const middle = 2 + (calls.length - 1) * step + box_height / 2;
  return (
    <div ref={frame} class="lock-graph">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={says}>
        <Head />
        {calls.map((call, index) => (
          <g key={index}>
            <Box x={1} y={2 + index * step} width={box} node={call} kind="thread" />
            {index < calls.length - 1
              ? <Arrow path={`M ${box / 2} ${2 + index * step + box_height} L ${box / 2} ${2 + (index + 1) * step - 3}`} label="awaits" x={box / 2 + 10} y={2 + index * step + box_height + 26} end="start" />
              : <Arrow path={`M ${box + 1} ${middle} L ${box + 26} ${middle} L ${box + 26} ${2 + box_height / 2} L ${box + 4} ${2 + box_height / 2}`} label="awaits the first" x={box} y={middle + 44} end="end" />}
          </g>
        ))}
      </svg>
    </div>
  );
}

// Those that wait, what for, and who has it.
function Queue({ waiting, thing, owner, says }: { waiting: Person[]; thing: Thing; owner: Person | null; says: string }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = Math.min(960, Math.max(300, useWidth(frame)));
  const is_narrow = width < 560;
  const shown = waiting.slice(0, waiting.length > 5 ? 4 : 5);
  const rest = waiting.length - shown.length;
  const rows = shown.length + (rest ? 1 : 0);
  const small = 30;
  const gap = is_narrow ? 26 : 74;
  const box = owner ? (width - 2 * gap - 4) / 3 : Math.min(300, (width - gap - 4) / 2);
  const height = Math.max(box_height + 8, rows * small + 4);
  const y = (height - box_height) / 2;
  const letters = Math.max(5, Math.floor((box - 14) / 8.3));
  return (
    <div ref={frame} class="lock-graph">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={says}>
        <Head />
        {shown.map((who, index) => (
          <g key={index}>
            <Arrow path={`M ${box} ${index * small + 15} L ${box + gap - 3} ${y + box_height / 2}`} />
            <a href={who.href ?? '#/threads'}><g class="lock-thread"><title>{`${who.title}\n${who.says}`}</title><rect x={1} y={index * small + 2} width={box - 1} height={small - 5} rx={6} /><text x={9} y={index * small + 19} class="lock-name">{shortened(who.title, letters)}</text></g></a>
          </g>
        ))}
        {rest > 0 && <text x={9} y={shown.length * small + 19} class="lock-says">{`and ${count(rest)} more`}</text>}
        {!is_narrow && waiting.length > 0 && <text x={box + gap / 2} y={y - 2 + box_height / 2 - 8} class="lock-label" text-anchor="middle">wait for</text>}
        <Box x={box + gap} y={y} width={box} node={thing} kind="thing" />
        {owner && <><Arrow path={`M ${2 * box + gap} ${y + box_height / 2} L ${2 * box + 2 * gap - 3} ${y + box_height / 2}`} label={is_narrow ? undefined : 'is held by'} x={2 * box + gap * 1.5} y={y + box_height / 2 - 8} /><Box x={2 * box + 2 * gap} y={y} width={box} node={owner} kind="thread" /></>}
      </svg>
    </div>
  );
}

function Drawn({ each, person, thing }: { each: Row; person: (id: number) => Person; thing: (at: string, type: string | null) => Thing }) {
  const cycle: Row[] = each.cycle ?? [];
  const says = each.text ?? 'A deadlock';
  const call = (task: string): Person => {
    const name = new RegExp(`task ${task} \\(([^)]*)\\)`).exec(says)?.[1];
    return { title: name ?? 'An async call', says: `task ${task}`, href: to.object(task) };
  };
  const who = (member: Row) => (member.os_id ? person(member.os_id) : call(String(member.task)));
  const direct = cycle.every((member, index) => member.task && cycle[(index + 1) % cycle.length]!.task === member.waits_for);
  if (direct) return <Awaiting says={says} calls={cycle.map(who)} />;
  return <Circle says={says} members={cycle.map((member) => ({ who: who(member), for: thing(member.waits_for, member.waits_for_type), sure: member.grounds !== 'stack' }))} />;
}

const most_queues = 12;

export function Locks() {
  const asked = useVerb('locks', { top: 200 });
  const threads = useVerb('threads', { by: 'retained', top: 0 });
  const shown = useTables('locks');
  const tables = asked.data?.tables ?? {};
  const known = new Map<number, Row>((threads.data?.tables.threads ?? []).map((row) => [row.os_id, row]));
  const named = new Map<number, string>();
  for (const row of tables.waits ?? []) if (row.os_id && row.name) named.set(row.os_id, row.name);
  for (const row of tables.locks ?? []) if (row.owner_os_id && row.owner_name) named.set(row.owner_os_id, row.owner_name);
  const person = (id: number): Person => {
    const name = named.get(id) ?? known.get(id)?.name;
    const method = known.get(id)?.own_method ?? known.get(id)?.method;
    return { title: name ? `${name} (${id})` : `Thread ${id}`, says: method ? `in ${String(method).split('(')[0]!.split('.').slice(-2).join('.')}` : 'thread', href: href('thread', String(id)) };
  };
  const locks = new Map<string, Row>((tables.locks ?? []).map((row) => [row.object, row]));
  const thing = (at: string, type: string | null): Thing => {
    const lock = locks.get(at);
    const kind = kinds[lock?.kind ?? ''] ?? lock?.kind ?? '';
    const more = (lock?.waiters ?? 0) > 1 ? `, ${count(lock!.waiters)} wait` : '';
    return { title: withoutNamespaces(type ?? lock?.type ?? kind ?? 'lock'), says: `${kind ? `${kind} ` : ''}${at}${more}`, href: to.object(at) };
  };
  const deadlocks = tables.deadlocks ?? [];
  const inside = new Set<string>(deadlocks.flatMap((each) => (each.cycle ?? []).map((member: Row) => member.waits_for)));
  const queues = (tables.locks ?? []).filter((row) => row.object && !inside.has(row.object) && (row.waiters > 0 || row.owner_os_id));
  const nobody = asked.data && !deadlocks.length && !queues.length && !(tables.waits ?? []).length;
  return (
    <>
      <h1 tabIndex={-1}>Locks</h1>
      <p class="note">Who waits for whom?</p>
      {!asked.data && <Waiting asked={asked} />}
      {asked.data && !deadlocks.length && <p class="verdict"><bdi>{nobody ? 'No thread waits for a lock.' : 'No deadlock was found.'}</bdi></p>}
      {deadlocks.map((each, index) => (
        <Panel key={index} id={`deadlock-${index}`} title={deadlocks.length > 1 ? `Deadlock ${index + 1}: none of these ever goes on` : 'Deadlock: none of these ever goes on'}>
          <Drawn each={each} person={person} thing={thing} />
          <p class="deadlock-text"><bdi>{sentence(each.text ?? '')}</bdi></p>
        </Panel>
      ))}
      {queues.length > 0 && (
        <Panel title={deadlocks.length ? 'Other locks' : 'Locks and those that wait for them'} id="queues" note={queues.length > most_queues ? `The first ${most_queues} of ${count(queues.length)}; all stand below.` : undefined}>
          {queues.slice(0, most_queues).map((row) => (
            <Queue key={row.object} waiting={(row.waiting ?? []).map(person)} thing={thing(row.object, row.type)} owner={row.owner_os_id ? person(row.owner_os_id) : null}
              says={`${counted(row.waiters, 'thread')} ${row.waiters === 1 ? 'waits' : 'wait'} for ${row.type} ${row.object}${row.owner_os_id ? `, which thread ${row.owner_os_id} holds` : ''}`} />
          ))}
        </Panel>
      )}
      <ShownAnswer verb="locks" asked={shown} label="Locks" skip={['deadlocks']} />
    </>
  );
}
