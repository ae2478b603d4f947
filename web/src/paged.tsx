// Rows of which there may be millions, a page at a time, in the server's order.
import { useState } from 'preact/hooks';
import type { Page, Row } from './answers';
import { counted, count } from './format';
import { Waiting } from './parts';
import type { Parameters } from './source';
import { type Column, DataTable } from './table';
import { useAnswer } from './use_answer';

export function Paged<R extends Row>({ path, parameters, label, columns, href, size = 50, empty, one = 'row' }: {
  path: string; parameters: Parameters; label: string; columns: Column<R>[]; href?: (row: R) => string | null; size?: number; empty?: string; one?: string;
}) {
  const [from, setFrom] = useState(0);
  const asked = useAnswer<Page<R> & { left_out?: number }>(path, { ...parameters, from, count: size });
  if (!asked.data) return <Waiting asked={asked} />;
  const { total, rows, left_out } = asked.data;
  const listed = asked.data.listed ?? total;
  const last = Math.max(0, Math.floor((listed - 1) / size) * size);
  const button = (title: string, to: number, off: boolean) => (
    <button type="button" class="button" aria-label={`${title} page: ${label}`} disabled={off} onClick={() => setFrom(to)}>{title}</button>
  );
  return (
    <div class="paged">
      <DataTable label={label} rows={rows} columns={columns} href={href} empty={empty} />
      {left_out ? <p class="note">{counted(left_out, 'smaller one')} not kept in this file.</p> : null}
      {listed < total && <p class="note">The first {count(listed)} of them can be listed here.</p>}
      {total > size && (
        <nav class="pager" aria-label={`Pages: ${label}`}>
          {button('First', 0, from === 0)}
          {button('Previous', Math.max(0, from - size), from === 0)}
          <span role="status">{count(from + 1)} to {count(from + rows.length)} of {counted(total, one)}</span>
          {button('Next', from + size, from + size >= listed)}
          {button('Last', last, from >= last)}
        </nav>
      )}
    </div>
  );
}
