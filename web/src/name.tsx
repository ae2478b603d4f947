// Names out of a dump: always text, kept apart from the direction of what stands around them, shortened in the middle.
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { named, shortened } from './format';

// Where a type's own name begins: behind its namespace.
function ownName(type: string): number {
  const end = type.search(/[<[(,`+ ]/);
  return type.lastIndexOf('.', end < 0 ? undefined : end) + 1;
}

// Where a method's type begins: Name.Space.Type.Method(Arguments).
function ownMethod(method: string): number {
  const end = method.search(/[<[(,`+ ]/);
  const dot = method.lastIndexOf('.', end < 0 ? undefined : end);
  return dot <= 0 ? 0 : method.lastIndexOf('.', dot - 1) + 1;
}

// First the namespaces of its arguments go, then its own.
function shortMethod(method: string, most: number): string {
  const at = method.indexOf('(');
  const text = at < 0 ? method : method.slice(0, at) + withoutNamespaces(method.slice(at));
  if (text.length <= most) return text;
  const own = text.slice(ownMethod(text));
  const end = own.indexOf('(');
  return own.length <= most ? own : own.slice(own.lastIndexOf('+', end < 0 ? undefined : end) + 1); // of nested types the innermost
}

export function withoutNamespaces(type: string): string {
  return type.replace(/[\p{L}_][\p{L}\p{N}_]*\.(?=[\p{L}_])/gu, '');
}

export function typeShortened(text: string, most: number): string {
  return shortened(text.length <= most ? text : withoutNamespaces(text), most);
}

export function methodShortened(text: string, most: number): string {
  return shortened(shortMethod(text, most), most);
}

// The short forms of the names that stand below each other, by name (apart.ts); null: each for itself.
export const Short = createContext<Map<string, string> | null>(null);

// True where names may go on below: they break behind dots and brackets, not inside words.
export const Breaks = createContext(false);

function broken(text: string): ComponentChildren {
  return text.split(/(?<=[.+,<(/\\|: ])(?=[^.+,<(/\\|: ])/).flatMap((part, index) => (index ? [<wbr key={index} />, part] : [part]));
}

let show: ((text: string) => void) | null = null;

export interface NameProps {
  text: string | null | undefined;
  href?: string | null;
  most?: number; // letters
  type?: boolean; // a type's: its namespace stands back
  method?: boolean; // a method's: its type's namespace stands back
  plain?: boolean; // without a button for the whole name, inside another one
  verbatim?: boolean; // a value of the program's, not a name
  label?: string; // in front of the text, for screen readers
}

export function Name({ text: given, href, most = 90, type, method, label, plain, verbatim }: NameProps) {
  const text = given && !verbatim ? named(given) : given;
  const shorts = useContext(Short);
  const breaks = useContext(Breaks);
  if (text === null || text === undefined || text === '') return <span class="muted">–</span>;
  const among = shorts?.get(text);
  const write = (part: string) => (breaks && part.length > 12 ? broken(part) : part);
  const bare = text.length <= most ? text : type ? withoutNamespaces(text) : method ? shortMethod(text, most) : text; // of a long name these are the first to go
  const short = among && text.length > most ? among : shortened(bare, Math.max(most, 12));
  const is_short = short !== text;
  const begin = (type || method) && bare === text ? Math.min(method ? ownMethod(text) : ownName(text), short.indexOf('…') < 0 ? Infinity : short.indexOf('…')) : 0;
  const body = begin > 0
    ? <><span class="namespace">{write(short.slice(0, begin))}</span>{breaks && <wbr />}{write(short.slice(begin))}</>
    : write(short);
  return (
    <bdi class="name" data-whole={is_short ? text.slice(0, 20000) : undefined} title={is_short ? text.slice(0, 2000) : undefined}>
      {href ? <a class="text" href={href} aria-label={label ? `${label} ${short}` : undefined}>{body}</a> : <span class="text">{body}</span>}
      {is_short && !plain && (
        <button type="button" class="whole" aria-label="Show the whole name" title="Show the whole name"
          onClick={(event) => { event.stopPropagation(); show?.(text); }}>⋯</button>
      )}
    </bdi>
  );
}

// Where whole names are shown; stands once, in the shell.
export function WholeName() {
  const [text, set] = useState<string | null>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    show = set;
    return () => { show = null; };
  }, []);
  useEffect(() => {
    if (text !== null && !dialog.current?.open) dialog.current?.showModal();
  }, [text]);
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="whole-name-title" onClose={() => set(null)}>
      <h2 id="whole-name-title">The whole name</h2>
      <p class="whole-text" tabIndex={0}><bdi>{text}</bdi></p>
      <form method="dialog"><button class="button">Close</button></form>
    </dialog>
  );
}

// What is copied has whole names, however short they are on the screen.
export function copyWholeNames(): () => void {
  const copied = (event: ClipboardEvent) => {
    const selection = getSelection();
    if (!selection?.rangeCount || selection.isCollapsed || !event.clipboardData) return;
    const part = selection.getRangeAt(0).cloneContents();
    const around = selection.getRangeAt(0).commonAncestorContainer;
    const own = (around instanceof Element ? around : around.parentElement)?.closest<HTMLElement>('[data-whole]');
    const names = [...part.querySelectorAll<HTMLElement>('[data-whole]')];
    if (!names.length) {
      const text = own?.querySelector('.text')?.textContent;
      if (!own || selection.toString().trim() !== text?.trim()) return; // a part of a name stays what it is
      event.clipboardData.setData('text/plain', own.dataset.whole!);
      return event.preventDefault();
    }
    names.forEach((name) => { name.textContent = name.dataset.whole!; });
    part.querySelectorAll('.whole, .spoken').forEach((each) => each.remove());
    const cells = [...part.querySelectorAll('[role=row], li, p, h1, h2, dt, dd')];
    cells.forEach((each) => each.append('\n'));
    part.querySelectorAll('[role=gridcell], [role=columnheader]').forEach((each) => each.append('\t'));
    event.clipboardData.setData('text/plain', (part.textContent ?? '').replaceAll('\t\n', '\n').trim());
    event.preventDefault();
  };
  document.addEventListener('copy', copied);
  return () => document.removeEventListener('copy', copied);
}
