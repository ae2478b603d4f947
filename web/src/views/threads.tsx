// Threads: where each stands and what it waits for; stacks that are alike as one; and one thread's frames with what they hold.
import type { Row } from '../answers';
import { counted } from '../format';
import { Name } from '../name';
import { Facts, LeftOut, Panel, Tabs, Waiting } from '../parts';
import { change, href, type Route, to } from '../router';
import { Gaps, Lead, ShownRows, tableTitle } from '../shown_table';
import type { Column } from '../table';
import { useTables } from '../tables';
import { useVerb } from '../use_answer';

const threadLink = (id: unknown) => href('thread', String(id));

// A row's texts lead to its thread, what it waits for to the object.
function column(each: Column): Column {
  const thread = (row: Row) => (row.os_id ? threadLink(row.os_id) : null);
  if (each.key === 'waits_for' || each.key === 'waits_for_words') return { ...each, kind: 'type', href: (row) => (row.waits_for_object ? to.object(row.waits_for_object) : null) };
  if (each.key === 'name') return { ...each, href: thread };
  if (each.key === 'method' || each.key === 'own_method') return { ...each, method: true, href: thread };
  return each;
}

export function Threads({ route }: { route: Route }) {
  const merged = route.subject === 'merged';
  const parameters = { by: 'retained' };
  const asked = useTables(merged ? null : 'threads', parameters);
  const stacks = useVerb(merged ? 'stack' : null, { all: true, merge: true, top: 500 });
  const { query } = route;
  return (
    <>
      <h1 tabIndex={-1}>Threads</h1>
      <Tabs label="Threads, or their stacks" selected={merged ? 'merged' : 'threads'} tabs={[{ name: 'threads', title: 'Threads', href: href('threads') }, { name: 'merged', title: 'Stacks, alike as one', href: href('threads', 'merged') }]} />
      {!merged && (!asked.data ? <Waiting asked={asked} /> : (
        <>
          <Lead shown={asked.data} verb="threads" />
          {asked.data.tables.map((table, index) => (
            <Panel key={table.name} id={`table-${table.name}`} title={tableTitle(table, index ? table.name : 'Threads')}>
              <ShownRows verb="threads" parameters={parameters} table={table} label={tableTitle(table, index ? table.name : 'Threads')} columns={column} href={(row) => (row.os_id ? threadLink(row.os_id) : null)}
                sort={index ? undefined : query.sort} onSort={index ? undefined : (sort) => change({ sort })} filter={query.filter} onFilter={index ? undefined : (filter) => change({ filter })} />
            </Panel>
          ))}
          <Gaps shown={asked.data} />
        </>
      ))}
      {merged && <LeftOut asked={stacks} table="stacks" />}
      {merged && (!stacks.data ? <Waiting asked={stacks} /> : (stacks.data.tables.stacks ?? []).map((row, index) => (
        <Panel key={index} id={`stack-${index}`} title={`Stack ${index + 1}: ${counted(row.threads, 'thread')}`} aside={<span class="links">{(row.os_ids ?? []).slice(0, 12).map((id: number) => <a key={id} href={threadLink(id)}>{id}</a>)}</span>}>
          <Methods names={row.methods ?? []} />
        </Panel>
      )))}
    </>
  );
}

export function Methods({ names, sources, lines }: { names: string[]; sources?: (string | null)[]; lines?: (number | null)[] }) {
  if (!names.length) return <p class="empty">No method of .NET is on it.</p>;
  return (
    <ol class="frames">
      {names.map((name, index) => <li key={index}><Name text={name} method most={130} />{sources?.[index] && <span class="source"> <bdi>{sources[index]}{lines?.[index] ? `:${lines[index]}` : ''}</bdi></span>}</li>)}
    </ol>
  );
}

export function Thread({ route }: { route: Route }) {
  const id = route.subject;
  const asked = useVerb('stack', { subject: id, roots: true, top: 1000 });
  const threads = useVerb('threads', { by: 'retained', top: 0 });
  const row = threads.data?.tables.threads?.find((each) => String(each.os_id) === id);
  const tables = asked.data?.tables ?? {};
  const held = new Map<number, Row[]>();
  for (const each of tables.references ?? []) held.set(each.index, [...(held.get(each.index) ?? []), each]);
  return (
    <>
      <h1 tabIndex={-1} class="with-name"><span class="kind">Thread</span> {row?.name ? <Name text={row.name} /> : id}</h1>
      {row && <Facts rows={[['Id', String(row.os_id)], ['Managed id', String(row.managed_id ?? '–')], ['State', row.state ?? '–'], ['GC mode', row.gc_mode ?? '–'], ['Waits for', <Name text={row.waits_for} href={row.waits_for_object ? to.object(row.waits_for_object) : null} />],
        ...(row.exception ? [['Exception', <Name text={row.exception_type ?? row.exception} type href={to.object(row.exception)} />] as [string, any]] : [])]} />}
      {!threads.data && <Waiting asked={threads} />}
      <p class="links"><a class="button" href={href('threads')}>All threads</a></p>
      <Panel title="Stack" note="The innermost first. Below each frame: what it holds where it stands.">
        {!asked.data ? <Waiting asked={asked} /> : (
          <><LeftOut asked={asked} table="frames" /><ol class="frames">
            {(tables.frames ?? []).map((frame) => (
              <li key={frame.index} class={`frame-${frame.kind}`}>
                <Name text={frame.method ?? frame.ip} method={frame.kind === 'managed'} most={130} />
                {frame.source && <span class="source"> <bdi>{frame.source}:{frame.line}</bdi></span>}
                {held.has(frame.index) && (
                  <ul class="held">
                    {held.get(frame.index)!.map((each, index) => (
                      <li key={index}><Name text={each.type} type most={80} href={to.object(each.object)} /> <span class="address muted">{each.object}</span>{each.certain === false ? ' (perhaps)' : ''}{each.pinned ? ' (pinned)' : ''}</li>
                    ))}
                  </ul>
                )}
              </li>
            ))}
          </ol></>
        )}
        {asked.data && !tables.frames?.length && <p class="empty">Its stack was not found.</p>}
      </Panel>
    </>
  );
}
