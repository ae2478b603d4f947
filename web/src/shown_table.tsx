// An answer's tables as the program's text shows them, each with all of its rows, and what rows and cells lead to.
import { useState } from 'preact/hooks';
import type { Row } from './answers';
import { type Choice, copied } from './context_menu';
import { bytes, count, isAddress, sentence, title } from './format';
import { nextOf } from './next';
import { Notes, Panel, Waiting } from './parts';
import { href, to } from './router';
import { isKept, type Parameters } from './source';
import { type Column, DataTable } from './table';
import { type Shown, type ShownColumn, type ShownTable, useRows } from './tables';
import type { Asked } from './use_answer';

const object_key = /^(address|object|example|inner|secondary|after|before|waits_for_object|exception|weak_target|target|inner_address|reference|held|source|dominator)$/;
const type_key = /^(type|.*_type|element|what)$/;
const thread_key = /^(os_id|owner_os_id|thread|waits_for_thread)$/;
const not_a_type = /^\(|^[a-z]|[:,;]| of | in |^-$/;
const of_runtime = new Set(['gc', 'info', 'contract', 'account', 'segments']); // addresses there are no objects'

const kinds: Record<ShownColumn['kind'], Column['kind']> = {
  count: 'count', bytes: 'bytes', address: 'address', text: 'text', percent: 'share', number: 'number', boolean: 'text', nested: 'text', bytes_change: 'change', count_change: 'change', bar: 'bar', real: 'number',
};

// Addresses of slots, holes and threads are no objects'.
function isPlace(key: string, columns: ShownColumn[]): boolean {
  return key === 'address' && columns.some((each) => each.key === 'object' || each.key === 'after');
}

export function columnOf(column: ShownColumn, table: ShownTable, verb: string): Column {
  const { key, wraps } = column;
  const out: Column = { key, title: column.title || title(key), kind: kinds[column.kind], wraps, bytes: column.kind === 'bytes_change' };
  const objects = !of_runtime.has(verb);
  const cells = verb === 'query' ? table.rows.map((row) => row[table.columns.indexOf(column)]).filter((cell) => cell !== null) : [];
  if (cells.length && cells.every((cell) => typeof cell === 'number')) out.kind = /bytes|size|retained/.test(key) ? 'bytes' : /count|objects|^n$|length/.test(key) ? 'count' : 'number';
  if (out.kind === 'address') {
    if (objects && object_key.test(key) && !isPlace(key, table.columns)) out.href = (row) => (isAddress(row[key]) ? to.object(row[key]) : null);
  } else if (key === 'owner' && verb !== 'locks') out.href = (row) => (row[key] && !row[key].startsWith('(') ? to.owner(row[key]) : null);
  else if (out.kind === 'text' && type_key.test(key)) {
    const names = table.rows.map((cells) => cells[table.columns.indexOf(column)]).filter((each) => typeof each === 'string' && each);
    if (objects && verb !== 'inspect-list' && names.every((each) => !not_a_type.test(each))) {
      out.kind = 'type';
      out.href = (row) => (row[key] ? to.type(row[key]) : null);
    }
  } else if (thread_key.test(key) && (out.kind === 'number' || out.kind === 'count')) {
    out.kind = 'number';
    out.show = (row) => (row[key] ? <a class="number" href={href('thread', String(row[key]))}>{row[key]}</a> : <span class="muted">–</span>);
  } else if (/^(method|stands_in|program_method|callback)$/.test(key)) out.method = true;
  return out;
}

export function objectOf(row: Row, table: ShownTable, verb: string): string | null {
  if (of_runtime.has(verb)) return null;
  const place = isPlace('address', table.columns);
  const at = [row.object, place ? null : row.address, row.example, row.waits_for_object].find(isAddress);
  return at ?? null;
}

function leadsTo(row: Row, table: ShownTable, verb: string): string | null {
  const object = objectOf(row, table, verb);
  if (object) return to.object(object);
  if (verb === 'threads' && row.os_id) return href('thread', String(row.os_id));
  return typeof row.type === 'string' && !not_a_type.test(row.type) ? to.type(row.type) : null;
}

// What a row leads to besides.
export function choicesOf(row: Row, object: string | null): Choice[] {
  const type = [row.type, row.what, row.element].find((each) => typeof each === 'string' && !not_a_type.test(each));
  return [
    ...(object ? [{ text: 'Open the object', href: to.object(object) }, { text: 'Paths to the object', href: to.paths(object) }, { text: 'Show on the map', href: to.map(object) }] : []),
    ...(type ? [{ text: 'Instances of the type', href: to.type(type) }, { text: 'Paths to the type', href: to.paths(type) }, { text: 'Focus on the type', href: href('map', '', { focus: type }) }] : []),
    ...(type || row.owner ? [copied(type ?? row.owner)] : []),
  ];
}

export function ShownRows({ verb, parameters = {}, table, label, high, columns, sort: given, filter: given_filter, onSort, onFilter, empty, href: own, tools, filterHint }: {
  verb: string; parameters?: Parameters; table: ShownTable; label: string; high?: boolean; columns?: (column: Column) => Column | null; empty?: string; href?: (row: Row) => string | null;
  sort?: string; filter?: string; onSort?: (sort: string) => void; onFilter?: (filter: string) => void; tools?: any; filterHint?: string;
}) {
  const [own_sort, setSort] = useState('');
  const [own_filter, setFilter] = useState('');
  const sort = onSort ? given ?? '' : own_sort;
  const filter = onFilter ? given_filter ?? '' : own_filter;
  const { rows, remote } = useRows(verb, parameters, table, sort, filter);
  const shown = table.columns.filter((column) => column.shown !== 'in_data').map((column) => columnOf(column, table, verb))
    .map((column) => (columns ? columns(column) : column)).filter((column): column is Column => column !== null);
  const is_long = table.kept > 25;
  const left = (table.count ?? Infinity) > table.kept || rows.length < table.kept && !remote;
  return (
    <>
      <DataTable label={label} rows={rows} columns={shown} high={high} remote={remote} counts={is_long} empty={empty ?? 'There is none.'} sort={sort} onSort={onSort ?? setSort}
        filter={filter} onFilter={is_long || onFilter ? onFilter ?? setFilter : undefined} tools={tools} filterHint={filterHint}
        href={(row) => (own ? own(row) : leadsTo(row, table, verb))} menu={(row) => choicesOf(row, objectOf(row, table, verb))}
        total={table.total ? <Total table={table} /> : undefined} />
      {left && <p class="note">{isKept() ? `The first ${count(table.rows.length)} rows are kept in this file.` : `The first ${count(table.kept)} rows can be looked at here${table.count ? ` of ${count(table.count)}` : '; there are more'}.`}</p>}
      {table.notes.map((note) => <p key={note} class="note table-note"><bdi>{sentence(note)}</bdi></p>)}
    </>
  );
}

function Total({ table }: { table: ShownTable }) {
  const shown = table.columns.map((column, index) => ({ column, cell: table.total![index] })).filter(({ column, cell }) => cell && column.shown !== 'in_data');
  const named = shown.filter(({ column }) => column.kind === 'text').map(({ cell }) => cell);
  const sums = shown.filter(({ column }) => column.kind !== 'text').map(({ column, cell }) => `${column.title.toLowerCase()} ${cell}`);
  const words = [named.join(', ') || 'total', sums.join(', ')].filter(Boolean);
  return <>{sentence(words.join(': '))}</>;
}

export function Lead({ shown, verb }: { shown: Shown; verb: string }) {
  const next = nextOf(shown.next);
  return (
    <>
      {shown.lead.map((text) => <p key={text} class={`verdict ${verb === 'report' || /deadlock|crash|ended by|exception/i.test(text) ? 'wrong' : ''}`}><bdi>{sentence(text)}</bdi></p>)}
      {!shown.complete && <p class="error incomplete">Incomplete: the notes below name what is missing.</p>}
      {next && <p class="next"><span class="muted">Next:</span> <a href={next.href}>{next.text}</a></p>}
    </>
  );
}

export function Gaps({ shown }: { shown: Shown }) {
  return (
    <>
      <Notes notes={shown.notes.map(sentence)} />
      {shown.gaps.length > 0 && <ul class="notes">{shown.gaps.map((gap) => <li key={gap.start}>Not read: <span class="address">{gap.start}</span>, {bytes(gap.bytes)}: <bdi>{gap.reason}</bdi></li>)}</ul>}
    </>
  );
}

export function tableTitle(table: ShownTable, otherwise: string): string {
  return sentence(table.title || otherwise);
}

// All tables of an answer, below each other.
export function ShownAnswer({ verb, parameters = {}, asked, label, skip = [], columns }: {
  verb: string; parameters?: Parameters; asked: Asked<Shown>; label: string; skip?: string[]; columns?: (table: string) => ((column: Column) => Column | null) | undefined;
}) {
  if (!asked.data) return <Waiting asked={asked} />;
  const tables = asked.data.tables.filter((table) => !skip.includes(table.name));
  return (
    <>
      <Lead shown={asked.data} verb={verb} />
      {tables.map((table, index) => {
        const own = tableTitle(table, index === 0 ? label : table.name.replaceAll('_', ' '));
        const title = tables.slice(0, index).some((each) => each.title && sentence(each.title) === own) || (index > 0 && own === label) ? `${own}: ${table.name.replaceAll('_', ' ')}` : own;
        return (
          <Panel key={table.name} id={`table-${table.name}`} title={title}>
            <ShownRows verb={verb} parameters={parameters} table={table} label={title} columns={columns?.(table.name)} />
          </Panel>
        );
      })}
      {!tables.length && <p class="empty">There is none.</p>}
      <Gaps shown={asked.data} />
    </>
  );
}

