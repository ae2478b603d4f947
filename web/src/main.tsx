// The page: what stands around every view, and which view an address opens.
import { type ComponentChildren, render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { stages } from './answers';
import { baseName, count, counted, bytes } from './format';
import { ContextMenu } from './context_menu';
import { copyWholeNames, Name, WholeName } from './name';
import { href, type Route, useRoute } from './router';
import { Search } from './search';
import { useServerState, watchState } from './server_state';
import { isKept, openSource } from './source';
import { setTheme, type Theme, useTheme } from './theme';
import { Async } from './views/async';
import { Diff } from './views/diff';
import { Find } from './views/find';
import { Instances } from './views/instances';
import { MapView } from './views/map';
import { ObjectView } from './views/object';
import { Overview } from './views/overview';
import { Owner } from './views/owner';
import { Owners } from './views/owners';
import { Paths } from './views/paths';
import { Query } from './views/query';
import { Report } from './views/report';
import { Segments } from './views/segments';
import { Thread, Threads } from './views/threads';
import { DominatorTree } from './views/tree';
import { Timeline } from './views/timeline';
import { Types } from './views/types';
import { VerbView } from './views/verb';
import { Waste } from './views/waste';

const views: Record<string, { title: string; show: (route: Route) => ComponentChildren }> = {
  '': { title: 'Overview', show: () => <Overview /> },
  types: { title: 'Types', show: (route) => <Types route={route} /> },
  instances: { title: 'Type', show: (route) => <Instances route={route} key={route.query.type} /> },
  paths: { title: 'What holds', show: (route) => <Paths route={route} /> },
  owners: { title: 'Owners', show: (route) => <Owners route={route} /> },
  owner: { title: 'Owner', show: (route) => <Owner route={route} key={route.query.name} /> },
  map: { title: 'Map', show: (route) => <MapView route={route} /> },
  object: { title: 'Object', show: (route) => <ObjectView route={route} key={route.subject} /> },
  threads: { title: 'Threads', show: (route) => <Threads route={route} /> },
  thread: { title: 'Thread', show: (route) => <Thread route={route} /> },
  async: { title: 'Async', show: () => <Async /> },
  tree: { title: 'Dominator tree', show: () => <DominatorTree /> },
  query: { title: 'SQL', show: (route) => <Query route={route} /> },
  report: { title: 'Report', show: () => <Report /> },
  waste: { title: 'Waste', show: (route) => <Waste route={route} /> },
  segments: { title: 'Segments', show: () => <Segments /> },
  diff: { title: 'What grew', show: (route) => <Diff route={route} /> },
  timeline: { title: 'Over time', show: (route) => <Timeline route={route} /> },
  find: { title: 'Found', show: (route) => <Find route={route} /> },
  ask: { title: '', show: (route) => <VerbView route={route} key={route.subject} /> },
};

// What the bar at the side has; those that are only a verb's tables by the verb's name.
const menu: { title: string; entries: [string, string][] }[] = [
  { title: 'Heap', entries: [['', 'Overview'], ['types', 'Types'], ['owners', 'Owners'], ['map', 'Map'], ['tree', 'Tree'], ['waste', 'Waste'], ['diff', 'What grew'], ['timeline', 'Over time'], ['ask/strings', 'Strings']] },
  { title: 'Program', entries: [['threads', 'Threads'], ['async', 'Async'], ['ask/locks', 'Locks'], ['ask/exceptions', 'Exceptions'], ['ask/inspect', 'Inspect']] },
  { title: 'Memory', entries: [['segments', 'Segments'], ['ask/frag', 'Fragmentation'], ['ask/handles', 'Handles'], ['ask/roots', 'Roots'], ['ask/gc', 'GC'], ['ask/account', 'Account']] },
  { title: 'Dump', entries: [['report', 'Report'], ['query', 'SQL'], ['ask/info', 'Info'], ['ask/verify', 'Soundness']] },
];

const belongs: Record<string, string> = { instances: 'types', paths: 'types', owner: 'owners', thread: 'threads' };

function Menu({ route }: { route: Route }) {
  const { state } = useServerState();
  const here = route.view === 'ask' ? `ask/${route.subject}` : belongs[route.view] ?? route.view;
  const is_there = (entry: string) => entry === 'timeline' ? (state?.dumps ?? 0) > 2 : entry === 'diff' ? !isKept() || !!state?.verbs?.some((verb) => verb.name === entry) : !entry.startsWith('ask/') || !state?.verbs?.length || state.verbs.some((verb) => `ask/${verb.name}` === entry);
  return (
    <nav class="menu" aria-label="Views">
      {menu.map((group) => (
        <div key={group.title} class="menu-group">
          <h2>{group.title}</h2>
          <ul>
            {group.entries.filter(([entry]) => is_there(entry)).map(([entry, title]) => {
              const [view = '', subject = ''] = entry.split('/');
              return <li key={entry}><a href={href(view, subject)} aria-current={entry === here ? 'page' : undefined}>{title}</a></li>;
            })}
          </ul>
        </div>
      ))}
    </nav>
  );
}

const doing: Record<string, string> = {
  opening: 'Opening the dump', counts: 'Counting objects', graph: 'Reading references', tree: 'Who holds what', ways: 'Finding ways', dumps: 'Summing up the other dumps', ready: 'Ready', failed: 'Failed',
};

function Progress() {
  const { state, gone } = useServerState();
  if (gone) return <p class="banner wrong" role="alert">{gone.message} What was loaded stays readable.</p>;
  if (!state || state.stage === 'ready') return null;
  if (state.stage === 'failed') return <p class="banner wrong" role="alert">dnheap could not go on: <bdi>{state.error}</bdi></p>;
  const passed = stages.filter((each) => each !== 'dumps' || (state.dumps ?? 1) > 1);
  const step = passed.indexOf(state.stage as any);
  const part = state.pass && state.pass.total > 0 ? Math.min(1, state.pass.done / state.pass.total) : 0;
  const done = Math.min(1, (Math.max(step, 0) + part) / (passed.length - 1));
  return (
    <div class="banner" role="status">
      <progress max={1} value={done} aria-label="How far the dump is worked through" />
      <span>{doing[state.stage]}{state.pass ? <>: <bdi>{state.pass.name}</bdi>{state.pass.total > 0 ? `, ${count(state.pass.done)} of ${count(state.pass.total)}` : ''}</> : '…'}. What is known already can be looked at.</span>
    </div>
  );
}

const keys: [string, string][] = [
  ['/', 'Search'], ['?', 'These keys'], ['g then o', 'Overview'], ['g then t', 'Types'], ['g then w', 'Owners'], ['g then m', 'Map'], ['g then h', 'Threads'], ['g then s', 'Segments'], ['g then l', 'Locks'], ['g then q', 'SQL'], ['g then r', 'Report'], ['Shift + F10, right click', 'On a row, a box, a branch: what else it leads to'],
  ['Alt + ←, →', 'Back, forward'], ['↑ ↓, Page Up, Page Down, Home, End', 'In a table: go over rows'], ['Enter', 'In a table: open the row; on the map: go in'],
  ['↑ ↓ ← →', 'On the map: go over boxes'], ['Backspace', 'On the map: go out'], ['O', 'On the map: open the object'], ['Esc', 'Close'],
];
const goes: Record<string, string> = { o: '', t: 'types', w: 'owners', m: 'map', h: 'threads', s: 'segments', a: 'async', q: 'query', r: 'report', l: 'ask/locks', i: 'ask/inspect' };

function Keys({ open, onClose }: { open: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
  }, [open]);
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="keys-title" onClose={onClose}>
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">{keys.map(([key, says]) => <div key={key + says}><dt><kbd>{key}</kbd></dt><dd>{says}</dd></div>)}</dl>
      <form method="dialog"><button class="button">Close</button></form>
    </dialog>
  );
}

const next_theme: Record<Theme, Theme> = { system: 'dark', dark: 'light', light: 'system' };

const seen = new Map<string, number>(); // how far down each address was, for going back to it

function App() {
  const route = useRoute();
  const { state } = useServerState();
  const { theme } = useTheme();
  const [keys_open, setKeysOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const view = views[route.view];
  const place = `${route.view}/${route.subject}/${route.query.type ?? route.query.name ?? route.query.at ?? route.query.of ?? route.query.table ?? ''}`;
  const first = useRef(true);

  useEffect(() => {
    const heading = main.current?.querySelector('h1')?.textContent ?? view?.title ?? '';
    document.title = `${heading.slice(0, 120)} · ${state ? baseName(state.file) : 'dump'} · dnheap`;
  });
  useEffect(() => {
    const y = seen.get(location.hash) ?? 0;
    if (!first.current) {
      main.current?.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
      requestAnimationFrame(() => scrollTo(0, y));
    }
    first.current = false;
    const hash = location.hash;
    const moved = () => seen.set(hash, scrollY);
    addEventListener('scroll', moved, { passive: true });
    return () => removeEventListener('scroll', moved);
  }, [place]);
  useEffect(copyWholeNames, []);
  useEffect(() => {
    let after_g = 0;
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || document.querySelector('dialog[open]')) return;
      if (event.key === '?') setKeysOpen(true);
      else if (event.key === '/') document.getElementById('search')?.focus();
      else if (event.key === 'g') { after_g = Date.now(); return; }
      else if (Date.now() - after_g < 1500 && goes[event.key] !== undefined) location.hash = `#/${goes[event.key]}`;
      else return;
      after_g = 0;
      event.preventDefault();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>Skip to the view</a>
      <header class="top">
        <a class="brand" href="#/">dnheap</a>
        <span class="file">{state && <><strong><Name text={baseName(state.file)} most={40} /></strong> <span class="muted file-more">{[state.runtime, state.pid ? `process ${state.pid}` : '', state.objects ? counted(state.objects, 'object') : '', state.bytes ? bytes(state.bytes) : ''].filter(Boolean).join(', ')}</span></>}</span>
        <Search />
        <button type="button" class="button" onClick={() => setTheme(next_theme[theme])} aria-label={`Colours: ${theme}. Change to ${next_theme[theme]}`} title={`Colours: ${theme}`}>{theme === 'system' ? '◐' : theme === 'dark' ? '●' : '○'}</button>
        <button type="button" class="button" onClick={() => setKeysOpen(true)} aria-label="Keys" title="Keys (?)">?</button>
      </header>
      <Progress />
      {isKept() && <p class="banner">This file holds a part of the answers. For everything: <code>dnheap explore</code> of the dump.</p>}
      <div class="body">
        <Menu route={route} />
        <main id="main" ref={main} tabIndex={-1}>
          {view ? view.show(route) : <><h1 tabIndex={-1}>There is no such view</h1><p><a href="#/">Overview</a></p></>}
        </main>
      </div>
      <Keys open={keys_open} onClose={() => setKeysOpen(false)} />
      <WholeName />
      <ContextMenu />
    </>
  );
}

const place = document.getElementById('app')!;
openSource().then(
  () => {
    void watchState();
    render(<App />, place);
  },
  (error) => {
    place.textContent = `This page is damaged: ${error}`;
  },
);
