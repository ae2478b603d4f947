// Any question that dnheap can answer, as its tables.
import { columnsFor } from '../columns';
import { LeftOut, Notes, Panel, Waiting } from '../parts';
import { change, href, type Route, to } from '../router';
import { useServerState } from '../server_state';
import { isKept } from '../source';
import { title, isAddress } from '../format';
import { DataTable } from '../table';
import { useVerb } from '../use_answer';

export const verbTitles: Record<string, string> = {
  frag: 'Fragmentation', gc: 'What the GC says of itself', verify: 'Soundness', info: 'The dump', handles: 'GC handles', account: 'Account of the memory', inspect: 'Inspectors',
};
const first_rows = 1000;
const most_rows = 100_000; // more make the page slow
const of_runtime = new Set(['gc', 'info', 'contract', 'account']); // addresses there are no objects'

export function VerbView({ route }: { route: Route }) {
  const name = route.subject;
  const { state } = useServerState();
  const verb = state?.verbs.find((each) => each.name === name);
  const inspectors = name === 'inspect' ? (verb?.subjects ?? []).filter((each) => each !== 'list') : [];
  const subject = route.query.subject ?? inspectors[0] ?? '';
  const rows_asked = Math.min(Math.max(Number(route.query.rows) || 0, first_rows), most_rows);
  const asked = useVerb(name === 'inspect' && !subject ? null : name, { subject, top: rows_asked, values: !!state?.values && !!verb?.takes.includes('values') });
  const tables = Object.entries(asked.data?.tables ?? {});
  return (
    <>
      <h1 tabIndex={-1}>{verbTitles[name] ?? title(name)}</h1>
      {verb && <p class="note"><bdi>{verb.question}</bdi></p>}
      {name === 'inspect' && <nav class="tabs" aria-label="Inspectors">{inspectors.map((each) => <a key={each} href={href('ask', 'inspect', { subject: each })} aria-current={each === subject ? 'page' : undefined}>{title(each)}</a>)}</nav>}
      {!asked.data ? <Waiting asked={asked} /> : (
        <>
          <Notes notes={asked.data.completeness?.notes} />
          {tables.map(([key, rows]) => (
            <Panel key={key} id={`table-${key}`} title={title(key)}>
              <LeftOut asked={asked} table={key} more={rows_asked < most_rows && !isKept() ? () => change({ rows: rows_asked * 10 }) : undefined} />
              <DataTable label={title(key)} rows={rows} columns={columnsFor(rows, [], !of_runtime.has(name))} empty="There is none."
                href={(row) => { const address = row.object ?? row.address ?? row.example; return isAddress(address) && !of_runtime.has(name) && !('after' in row) ? to.object(address) : null; }} />
            </Panel>
          ))}
        </>
      )}
    </>
  );
}
