// Inspectors: what each of them finds, at one look, and one inspector's tables.
import type { Row } from '../answers';
import { bytes, count, counted, sentence } from '../format';
import { Name } from '../name';
import { Waiting } from '../parts';
import { href, type Route, to } from '../router';
import { useServerState } from '../server_state';
import { ShownAnswer } from '../shown_table';
import { useTables } from '../tables';
import { useVerb } from '../use_answer';

// Names of .NET's own things are written as .NET does.
const titles: Record<string, string> = {
  http: 'HTTP', db: 'Databases', di: 'Dependency injection', ef: 'Entity Framework', safehandles: 'Safe handles', asynclocals: 'Async locals', regex: 'Regular expressions', pools: 'Array pools', contexts: 'Load contexts', requests: 'HTTP requests',
};
// Those with a second table, which may have rows where the first one has none.
const has_more = new Set(['finalizers', 'contexts', 'ef', 'di']);
export const inspectorTitle = (name: string) => titles[name] ?? sentence(name);

export function Inspectors({ route }: { route: Route }) {
  const subject = route.query.subject ?? '';
  const index = useVerb('inspect', { table: 'inspectors' });
  return subject ? <Inspector key={subject} name={subject} rows={index.data?.tables.inspectors ?? []} /> : (
    <>
      <h1 tabIndex={-1}>Inspectors</h1>
      <p class="note">What well known types of .NET say about this program.</p>
      {!index.data ? <Waiting asked={index} what="Asking all inspectors…" /> : (
        <ul class="inspectors">{(index.data.tables.inspectors ?? []).map((row) => <Entry key={row.name} row={row} />)}</ul>
      )}
    </>
  );
}

function Entry({ row }: { row: Row }) {
  const body = (
    <>
      <span class="inspector-head"><strong>{inspectorTitle(row.name)}</strong>
        <span class="number">{row.rows ? counted(row.objects ?? row.rows, row.objects === null || row.objects === undefined ? 'kind' : 'object') : 'none'}{row.bytes ? `, ${bytes(row.bytes)}` : ''}</span></span>
      <span class="inspector-asks">{sentence(row.question ?? '')}</span>
    </>
  );
  if (!row.rows && has_more.has(row.name)) return <li class="nothing"><a href={to.verb('inspect', row.name)}>{body}</a></li>;
  if (!row.rows) return <li class="nothing">{body}</li>;
  return <li><a href={to.verb('inspect', row.name)}>{body}</a>{row.most && <span class="inspector-most"><span class="muted">The first of {row.rows === 1 ? 'them' : `${count(row.rows)} kinds`}: </span><Name text={row.most} most={110} /></span>}</li>;
}

function Inspector({ name, rows }: { name: string; rows: Row[] }) {
  const { state } = useServerState();
  const names = (state?.verbs.find((each) => each.name === 'inspect')?.subjects ?? []).filter((each) => each !== 'list');
  const known = new Map(rows.map((row) => [row.name, row.rows]));
  const asked = useTables('inspect', { subject: name });
  return (
    <>
      <h1 tabIndex={-1}>{inspectorTitle(name)}</h1>
      <p class="note">{sentence(rows.find((row) => row.name === name)?.question ?? '')}</p>
      <nav class="tabs" aria-label="Inspectors">
        <a href={href('ask', 'inspect')}>All</a>
        {names.map((each) => <a key={each} class={known.get(each) === 0 ? 'nothing' : ''} href={to.verb('inspect', each)} aria-current={each === name ? 'page' : undefined}>{inspectorTitle(each)}</a>)}
      </nav>
      <ShownAnswer verb="inspect" parameters={{ subject: name }} asked={asked} label={inspectorTitle(name)} />
    </>
  );
}
