// Async: calls that have begun and wait, with the calls that wait for them; tasks; the thread pool's queues.
import type { Row } from '../answers';
import { bytes, count } from '../format';
import { Name } from '../name';
import { LeftOut, Notes, Panel, Waiting } from '../parts';
import { to } from '../router';
import { ShownRows, tableTitle } from '../shown_table';
import { useTables } from '../tables';
import { useVerb } from '../use_answer';
import { Methods } from './threads';

const parameters = { by: 'retained' };
const titles: Record<string, string> = { tasks: 'Tasks by status', pool: 'Thread pool', queued: 'Queued work' };

export function Async() {
  const shown = useTables('async', parameters);
  const asked = useVerb('async', { by: 'retained', top: 500 });
  const tables = asked.data?.tables ?? {};
  const calls = tables.calls ?? [];
  return (
    <>
      <h1 tabIndex={-1}>Async calls</h1>
      {!asked.data ? <Waiting asked={asked} /> : (
        <>
          <Panel title="Pending calls" note="Calls that are alike are one. The one that waits comes first, then who awaits it.">
            <LeftOut asked={asked} table="calls" />
            {calls.length === 0 && <p class="empty">No async call is pending.</p>}
            <ol class="calls">{calls.map((row, index) => <Call key={index} row={row} />)}</ol>
          </Panel>
          {(shown.data?.tables ?? []).filter((table) => table.name !== 'calls').map((table) => {
            const title = tableTitle(table, titles[table.name] ?? table.name);
            return <Panel key={table.name} id={`table-${table.name}`} title={title}><ShownRows verb="async" parameters={parameters} table={table} label={title} /></Panel>;
          })}
          <Notes notes={asked.data.completeness?.notes} />
        </>
      )}
    </>
  );
}

function Call({ row }: { row: Row }) {
  return (
    <li>
      <p><strong>{count(row.count)} ×</strong> <Name text={row.method} method most={100} href={row.example ? to.object(row.example) : null} />
        {row.awaits && <span class="muted"> waits for <Name text={row.awaits} most={60} /></span>}
        {typeof row.retained === 'number' && <span class="muted">, {bytes(row.retained)} retained</span>}</p>
      <Methods names={row.stack ?? []} sources={row.sources} lines={row.lines} />
    </li>
  );
}
