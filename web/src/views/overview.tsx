// Overview: what is going on, on one screen: the verdict, where the memory is, who holds it, what is odd.
import type { Row } from '../answers';
import { baseName, bytes, count, counted, sentence, share } from '../format';
import { type Next, nextOf } from '../next';
import { Name } from '../name';
import { Bar, Bytes, Facts, Notes, Panel, Stack, Waiting } from '../parts';
import { href, to } from '../router';
import { useVerb } from '../use_answer';
import { wasteKinds } from './waste';

export const groups: Record<string, string> = {
  gc: 'Managed heap', runtime: 'Runtime', malloc: 'malloc', stacks: 'Stacks', stack: 'Stacks', modules: 'Programs and libraries', files: 'Programs and libraries', image: 'Programs and libraries', other: 'Other',
};

export function Overview() {
  const asked = useVerb('report', { top: 200 });
  const answer = asked.data;
  if (!answer) return <><h1 tabIndex={-1}>Overview</h1><Waiting asked={asked} what="Working through the heap for the verdict…" /></>;
  const { target, completeness, tables } = answer;
  const verdict: Row = target.verdict ?? { rule: 'nothing', text: '' };
  const findings = tables.findings ?? [];
  const of = (name: string) => (tables.account ?? []).find((row) => row.class === name)?.bytes ?? 0;
  const live = of('live_objects') || of('objects');
  const all_waste = tables.waste ?? [];
  const wasted = all_waste.reduce((sum, row) => sum + row.bytes, 0);
  const waste = all_waste.filter((row) => row.bytes >= Math.max(4096, live * 0.002)); // less is no help to anybody
  return (
    <>
      <h1 tabIndex={-1}>Overview</h1>
      {target.crash?.text && !findings.some((row) => row.kind === 'crash') && <p class="verdict wrong"><bdi>{sentence(target.crash.text)}</bdi></p>}
      {findings.length > 0 && <ol class="findings" aria-label="Findings">{findings.map((row, index) => <Finding key={index} row={row} />)}</ol>}
      {(!findings.length || verdict.rule !== 'nothing') && !findings.some((row) => row.kind === verdict.rule) && <p class="verdict"><bdi>{sentence(verdict.text)}</bdi></p>}
      <Facts rows={[
        ['Live objects', <Bytes n={live} />],
        ['Dead, not collected', <Bytes n={of('dead_objects')} />],
        ['Free between objects', <Bytes n={of('free_objects')} />],
        ['Objects', count(completeness.objects)],
        ['Runtime', `${target.runtime === 'coreclr' ? '.NET' : target.runtime} ${target.version ?? ''}`],
        ['GC', `${target.gc?.server ? `server, ${counted(target.gc.heaps, 'heap')}` : 'workstation'}${target.gc?.regions ? ', regions' : ''}`],
        ['Process', `${target.os} ${target.architecture}${target.pid ? `, ${target.pid}` : ''}`],
      ]} />
      <div class="columns overview"><div>
      <Panel title="Who holds most" aside={<a href={href('owners')}>All owners</a>} note={`Of ${bytes(live)} that are alive: what would be freed if it let go.`}>
        <ol class="suspects">{(tables.suspects ?? []).slice(0, 12).map((row) => <Suspect key={row.rank} row={row} />)}</ol>
        {!tables.suspects?.length && <p class="empty">Nobody holds much.</p>}
      </Panel>
      <Panel title="What is odd" aside={<a href={href('waste')}>All waste</a>}>
        {waste.length > 0 && (
          <>
            <p class="note">Waste: {bytes(wasted)} of what is alive.</p>
            <ul class="odd">
              {waste.slice(0, 6).map((row, index) => (
                <li key={index}>
                  <Bytes n={row.bytes} /><Bar part={row.share} kind="waste" />
                  <span>{count(row.count)} × <Name text={row.what} type href={to.type(row.what)} most={60} />, {wasteKinds[row.kind] ?? row.kind.replaceAll('_', ' ')}{row.field ? <>, in <Name text={row.field} most={60} /></> : null}</span>
                </li>
              ))}
            </ul>
          </>
        )}
        {(tables.fragmentation ?? []).map((row, index) => <p key={index}>{Object.values(row).map((each) => (typeof each === 'number' ? count(each) : String(each))).join(', ')} <a href={to.verb('frag')}>Fragmentation</a></p>)}
        {!completeness.complete && <p class="error incomplete">Part of the heap, or of what holds it, could not be read: what is said here rests on the rest. <a href={to.verb('info')}>Gaps</a></p>}
        <Notes notes={completeness.notes.map(sentence)} />
        {!waste.length && !completeness.notes.length && <p class="empty">{wasted ? `No waste worth a look: ${bytes(wasted)} in all.` : 'Nothing.'}</p>}
      </Panel>
      </div><div>
      <Account rows={tables.account ?? []} />
      </div></div>
    </>
  );
}

// Where a finding leads: what its command asks for, or its example.
export function nextOfFinding(row: Row): Next {
  return nextOf(row.next, row.example) ?? { text: 'Who holds most', href: href('owners') };
}

function Finding({ row }: { row: Row }) {
  const next = nextOfFinding(row);
  return <li class="verdict wrong"><p><bdi>{sentence(row.text)}</bdi></p><p class="finding-next"><span class="muted">{sentence(row.sureness ?? '')}. Next: </span><a href={next.href}>{next.text}</a></p></li>;
}

function Suspect({ row }: { row: Row }) {
  const steps: Row[] = row.path ?? [];
  return (
    <li class="suspect">
      <div class="suspect-size"><strong><Bytes n={row.retained} /></strong><Bar part={row.share} /><span class="muted">{share(row.share)}</span></div>
      <div class="suspect-text">
        <p class="suspect-owner"><Name text={row.owner} href={to.owner(row.owner)} most={90} />
          {steps.map((step) => step.field && <span key={step.address} class="step"><Name text={step.field} href={to.object(step.address)} label="Field" most={48} /></span>)}
        </p>
        <p><Name text={row.text} most={140} /></p>
        <p class="links">
          {row.address && <a href={to.object(row.address)} aria-label={`Open the object of suspect ${row.rank}`}>Open the object</a>}
          {row.address && <a href={to.map(row.address)} aria-label={`Show on the map: suspect ${row.rank}`}>Show on the map</a>}
          {row.element && <a href={to.type(row.element)} aria-label={`Its elements: suspect ${row.rank}`}>Its elements</a>}
        </p>
      </div>
    </li>
  );
}

export function Account({ rows }: { rows: Row[] }) {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row.group, (sums.get(row.group) ?? 0) + row.bytes);
  const total = rows.reduce((sum, row) => sum + row.bytes, 0);
  const names = [...sums.keys()];
  return (
    <Panel title="Where the memory is" aside={<a href={to.verb('account')}>Exact account</a>} note={`${bytes(total)} mapped by the process, each byte once.`}>
      <Stack parts={names.map((name) => ({ kind: `group-${names.indexOf(name) % 7}`, n: sums.get(name)! }))} total={total} />
      <ul class="account">
        {names.map((name, index) => (
          <li key={name}>
            <p><span class={`swatch group-${index % 7}`} aria-hidden="true" /> <strong>{groups[name] ?? name.replaceAll('_', ' ')}</strong> <Bytes n={sums.get(name)} /> <span class="muted">{share((sums.get(name) ?? 0) / total)}</span></p>
            <ul>
              {rows.filter((row) => row.group === name && row.bytes > 0).map((row) => <li key={row.class}><Bytes n={row.bytes} /> <bdi>{row.what.replace(/^[^:]*: /, '')}</bdi></li>)}
            </ul>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function fileTitle(path: string): string {
  return baseName(path);
}
