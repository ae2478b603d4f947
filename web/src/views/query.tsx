// SQL: a question of one's own over the open dump, with completion of tables and columns; rows as a table or as bars.
import { useEffect, useRef, useState } from 'preact/hooks';
import { bytes, count } from '../format';
import { Name } from '../name';
import { Bar, Panel, Waiting } from '../parts';
import { change, href, type Route } from '../router';
import { isKept } from '../source';
import { Gaps, ShownRows } from '../shown_table';
import { rowOf, type ShownTable, useTables } from '../tables';
import { Choice } from './map';

// doc/files.md has them, too.
export const schema: Record<string, string[]> = {
  types: ['id', 'name', 'method_table', 'assembly', 'count', 'bytes', 'aligned_bytes'],
  objects: ['address', 'type', 'bytes', 'aligned_bytes', 'generation', 'reached'],
  refs: ['source', 'target', 'field', 'element'],
  roots: ['kind', 'owner', 'object'],
  owners: ['owner', 'kind', 'rank', 'retained_bytes', 'retained_objects'],
  dominators: ['object', 'dominator', 'owner', 'retained_bytes', 'retained_objects'],
  plain_dominators: ['object', 'dominator', 'owner', 'retained_bytes', 'retained_objects'],
  strings: ['object', 'length', 'value'],
  meta: ['key', 'value'],
};
const keywords = ['select', 'from', 'where', 'group by', 'order by', 'desc', 'limit', 'join', 'left join', 'on', 'having', 'distinct', 'count(*)', 'sum(', 'max(', 'min(', 'avg(', 'like', 'and', 'or', 'with', 'as', 'hex(', 'printf('];

const examples: [string, string][] = [
  ['The largest types', 'select name, count, bytes from types order by bytes desc limit 20'],
  ['Bytes by assembly', 'select assembly, sum(aligned_bytes) as bytes, sum(count) as objects from types group by assembly order by bytes desc'],
  ['Bytes by generation', 'select generation, count(*) as objects, sum(aligned_bytes) as bytes from objects group by generation order by bytes desc'],
  ['Who holds most', 'select owner, retained_bytes, retained_objects from owners order by retained_bytes desc limit 20'],
  ['The largest objects', "select printf('0x%x', o.address) as address, t.name, o.bytes from objects o join types t on t.id = o.type order by o.bytes desc limit 50"],
  ['Fields that refer to strings', "select t.name, r.field, count(*) as n from refs r join objects o on o.address = r.source join types t on t.id = o.type join objects s on s.address = r.target join types st on st.id = s.type where st.name = 'System.String' group by 1, 2 order by n desc limit 30"],
];

interface Offered {
  words: string[];
  from: number; // where the word begins that is completed
}

// What may stand where the text ends: after "table." or an alias its columns, else tables, columns and words of SQL.
export function completions(text: string, whole = text): Offered {
  const word = /[\w.]*$/.exec(text)![0];
  const from = text.length - word.length;
  const dot = word.indexOf('.');
  if (dot >= 0) {
    const name = word.slice(0, dot).toLowerCase();
    const alias = new RegExp(`\\b(?:from|join)\\s+(\\w+)\\s+(?:as\\s+)?${name}\\b`, 'i').exec(whole)?.[1]?.toLowerCase();
    const begin = word.slice(dot + 1).toLowerCase();
    return { words: (schema[alias ?? name] ?? []).filter((each) => each.startsWith(begin) && each !== begin), from: from + dot + 1 };
  }
  if (!word) return { words: /\b(from|join)\s+$/i.test(text) ? Object.keys(schema) : [], from };
  const begin = word.toLowerCase();
  const used = Object.keys(schema).filter((table) => new RegExp(`\\b${table}\\b`, 'i').test(whole));
  const columns = [...new Set((used.length ? used : Object.keys(schema)).flatMap((table) => schema[table]!))];
  const tables_only = /\b(from|join)\s+\w*$/i.test(text);
  const all = tables_only ? Object.keys(schema) : [...columns, ...Object.keys(schema), ...keywords];
  return { words: [...new Set(all)].filter((each) => each.startsWith(begin) && each !== begin).slice(0, 10), from };
}

export function Query({ route }: { route: Route }) {
  const { query } = route;
  const asked_for = query.sql ?? '';
  const [text, setText] = useState(asked_for || examples[0]![1]);
  const [offered, offer] = useState<Offered>({ words: [], from: 0 });
  const [chosen, choose] = useState(0);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => { if (asked_for) setText(asked_for); }, [asked_for]);
  const parameters = { subject: asked_for };
  const asked = useTables(asked_for && !isKept() ? 'query' : null, parameters);
  const as_bars = query.as === 'bars';
  const table = asked.data?.tables[0];

  function run(sql = text) {
    offer({ words: [], from: 0 });
    if (sql.trim()) change({ sql: sql.trim(), sort: '', filter: '' });
  }
  function insert(word: string) {
    const element = area.current!;
    const at = element.selectionStart;
    const next = text.slice(0, offered.from) + word + text.slice(at);
    setText(next);
    offer({ words: [], from: 0 });
    const caret = offered.from + word.length;
    requestAnimationFrame(() => { element.focus(); element.setSelectionRange(caret, caret); });
  }
  function typed(event: Event) {
    const element = event.target as HTMLTextAreaElement;
    setText(element.value);
    offer(completions(element.value.slice(0, element.selectionStart), element.value));
    choose(0);
  }
  function pressed(event: KeyboardEvent) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run();
    else if (offered.words.length && event.key === 'ArrowDown') choose((chosen + 1) % offered.words.length);
    else if (offered.words.length && event.key === 'ArrowUp') choose((chosen - 1 + offered.words.length) % offered.words.length);
    else if (offered.words.length && (event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey) insert(offered.words[chosen]!);
    else if (offered.words.length && event.key === 'Escape') offer({ words: [], from: 0 });
    else return;
    event.preventDefault();
  }
  const shown = offered.words.length > 0;
  return (
    <>
      <h1 tabIndex={-1}>SQL</h1>
      <p class="note">One SELECT of SQLite over the open dump. The address of this page holds the question.</p>
      <div class="sql">
        <div class="sql-box" onFocusOut={(event) => { if (!event.currentTarget.contains(event.relatedTarget as Node)) offer({ words: [], from: 0 }); }}>
          <textarea ref={area} rows={4} value={text} spellcheck={false} autocomplete="off" aria-label="The question in SQL" aria-haspopup="listbox" aria-controls="sql-words" aria-autocomplete="list"
            aria-activedescendant={shown ? `sql-word-${chosen}` : undefined} onInput={typed} onKeyDown={pressed} />
          <ul id="sql-words" role="listbox" aria-label="Words that may follow" hidden={!shown}>
            {offered.words.map((word, index) => <li key={word} id={`sql-word-${index}`} role="option" aria-selected={index === chosen} onMouseDown={(event) => { event.preventDefault(); insert(word); }}>{word}</li>)}
          </ul>
        </div>
        <p class="links">
          <button type="button" class="button primary" onClick={() => run()}>Ask</button> <span class="note">Ctrl + Enter asks</span>
          {examples.map(([title, sql]) => <a key={title} href={href('query', '', { sql, as: query.as })}>{title}</a>)}
        </p>
      </div>
      {isKept() ? <p class="waiting">This file holds answers, not the dump: dnheap explore answers SQL.</p> : asked_for && (
        <Panel title="Rows" id="rows" aside={<Choice label="Show as" options={[['table', 'Table'], ['bars', 'Bars']]} value={as_bars ? 'bars' : 'table'} onChoose={(as) => change({ as: as === 'bars' ? 'bars' : '' })} />}>
          {!table ? <Waiting asked={asked} what="Asking SQLite…" /> : as_bars ? <Bars table={table} /> : (
            <ShownRows key={asked_for} verb="query" parameters={parameters} table={table} label="Rows" high sort={query.sort} onSort={(sort) => change({ sort })} filter={query.filter} onFilter={(filter) => change({ filter })} empty="The question has no rows." />
          )}
          {asked.data && <Gaps shown={asked.data} />}
        </Panel>
      )}
      <Panel title="Tables">
        <dl class="schema">{Object.entries(schema).map(([name, columns]) => <div key={name}><dt>{name}</dt><dd>{columns.join(', ')}</dd></div>)}</dl>
      </Panel>
    </>
  );
}

const most_bars = 100;

// The first number of each row as a bar, its first text beside it.
function Bars({ table }: { table: ShownTable }) {
  const rows = table.rows.slice(0, most_bars);
  const is_number = (index: number) => rows.some((cells) => typeof cells[index] === 'number') && rows.every((cells) => typeof cells[index] === 'number' || cells[index] === null);
  const numbers = table.columns.map((_, index) => index).filter(is_number);
  const at = numbers.find((index) => /bytes|size|retained/.test(table.columns[index]!.key)) ?? numbers[numbers.length - 1];
  if (at === undefined) return <p class="empty">No column has numbers only.</p>;
  const name = table.columns.findIndex((_, index) => !numbers.includes(index));
  const column = table.columns[at]!;
  const most = Math.max(1, ...rows.map((cells) => Math.abs(cells[at] ?? 0)));
  const is_bytes = /bytes|size|retained/.test(column.key);
  return (
    <>
      <ul class="odd sql-bars" aria-label={`Bars: ${column.title || column.key}`}>
        {rows.map((cells, index) => (
          <li key={index}><span class="number">{is_bytes ? bytes(cells[at]) : count(cells[at])}</span><Bar part={Math.abs(cells[at] ?? 0) / most} />
            <span>{name < 0 ? `Row ${index + 1}` : <Name text={String(rowOf(table.columns, cells)[table.columns[name]!.key] ?? '–')} most={90} />}</span></li>
        ))}
      </ul>
      {table.rows.length > most_bars && <p class="note">The first {most_bars} rows.</p>}
    </>
  );
}
