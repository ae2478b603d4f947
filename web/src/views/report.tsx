// Report: what one would hand to a colleague, on one page of text: findings, who holds most and by which way, the largest
// types, what is odd, where the memory is. Laid out for A4.
import type { Row } from '../answers';
import { bytes, count, counted, named, sentence, share } from '../format';
import { baseName } from '../format';
import { Name } from '../name';
import { Waiting } from '../parts';
import { useServerState } from '../server_state';
import { useVerb } from '../use_answer';
import { Account, nextOfFinding } from './overview';
import { wasteKinds } from './waste';

const types_shown = 20;

export function Report() {
  const { state } = useServerState();
  const asked = useVerb('report', { top: 200 });
  const types = useVerb('stat', { by: 'retained', top: 0 });
  const answer = asked.data;
  if (!answer) return <><h1 tabIndex={-1}>Report</h1><Waiting asked={asked} what="Working through the heap for the report…" /></>;
  const { tables, target, completeness } = answer;
  const findings = tables.findings ?? [];
  const suspects = tables.suspects ?? [];
  const waste = (tables.waste ?? []).slice(0, 10);
  return (
    <article class="report">
      <h1 tabIndex={-1}>Report on <Name text={state ? baseName(state.file) : 'the dump'} most={60} plain /></h1>
      <p class="links screen-only"><button type="button" class="button primary" onClick={() => print()}>Print</button></p>
      <p class="note">{[state?.runtime, target.pid ? `process ${target.pid}` : '', counted(completeness.objects, 'object'), bytes(completeness.bytes)].filter(Boolean).join(', ')}{completeness.complete ? '' : '; incomplete'}</p>
      <section><h2>Findings</h2>
        {findings.length ? <ol class="report-findings">{findings.map((row, index) => <li key={index}><p><bdi>{sentence(row.text)}</bdi> <span class="muted">({row.sureness})</span></p><p class="muted">Next: <a href={nextOfFinding(row).href}>{nextOfFinding(row).text}</a> <code class="print-only">{row.next}</code></p></li>)}</ol>
          : <p><bdi>{sentence(target.verdict?.text ?? 'Nothing was found.')}</bdi></p>}
      </section>
      {suspects.length > 0 && (
        <section><h2>Who holds most</h2>
          <table><thead><tr><th class="right">Retained</th><th class="right">Share</th><th>Owner, and the way</th></tr></thead>
            <tbody>{suspects.slice(0, 10).map((row: Row) => <tr key={row.rank}><td class="right">{bytes(row.retained)}</td><td class="right">{share(row.share)}</td><td><strong><bdi>{named(row.owner)}</bdi></strong><bdi>{(row.path ?? []).map((step: Row) => step.field ? named(step.field) : '').join('')}</bdi><br /><bdi class="muted">{named(row.text ?? '')}</bdi></td></tr>)}</tbody></table>
        </section>
      )}
      {!!types.data?.tables.types?.length && (
        <section><h2>The largest types</h2>
          <table><thead><tr><th class="right">Count</th><th class="right">Bytes</th><th class="right">Retained</th><th>Type</th></tr></thead>
            <tbody>{types.data.tables.types.slice(0, types_shown).map((row: Row) => <tr key={row.type}><td class="right">{count(row.count)}</td><td class="right">{bytes(row.bytes)}</td><td class="right">{bytes(row.retained)}</td><td><bdi>{row.type}</bdi></td></tr>)}</tbody></table>
        </section>
      )}
      {waste.length > 0 && (
        <section><h2>What is odd</h2>
          <table><thead><tr><th class="right">Bytes</th><th class="right">Count</th><th>Why</th><th>Type</th><th>In</th></tr></thead>
            <tbody>{waste.map((row: Row, index: number) => <tr key={index}><td class="right">{bytes(row.bytes)}</td><td class="right">{count(row.count)}</td><td>{sentence(wasteKinds[row.kind] ?? row.kind.replaceAll('_', ' '))}</td><td><bdi>{row.what}</bdi></td><td><bdi>{named(row.field ?? '–')}</bdi></td></tr>)}</tbody></table>
        </section>
      )}
      <Account rows={tables.account ?? []} />
      {completeness.notes.length > 0 && <section><h2>Notes</h2><ul class="notes">{completeness.notes.map((note) => <li key={note}><bdi>{sentence(note)}</bdi></li>)}</ul></section>}
    </article>
  );
}
