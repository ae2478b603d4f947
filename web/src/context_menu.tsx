// The menu of a row, a box or a node: what else it leads to. A right click or the menu key opens it; arrow keys go over
// it, Enter chooses, Escape closes. It stands once, in the shell.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface Choice {
  text: string;
  href?: string;
  run?: () => void;
}

interface Open {
  x: number;
  y: number;
  choices: Choice[];
  from: HTMLElement | null; // has the focus again afterwards
}

let show: ((open: Open | null) => void) | null = null;

// The menu key gives an event without the right button; its place is that of the whole element.
export function isByKey(event: MouseEvent): boolean {
  return event.button !== 2;
}

export function openMenu(event: MouseEvent, choices: Choice[]): void {
  if (!show) return;
  event.preventDefault();
  const from = event.currentTarget as HTMLElement | null;
  const area = from?.getBoundingClientRect();
  const by_key = isByKey(event);
  show({ x: by_key && area ? area.left + 24 : event.clientX, y: by_key && area ? area.top + 20 : event.clientY, choices, from: document.activeElement as HTMLElement | null });
}

export function copied(text: string): Choice {
  return { text: 'Copy the name', run: () => { void navigator.clipboard?.writeText(text).catch(() => {}); } };
}

export function ContextMenu() {
  const [open, set] = useState<Open | null>(null);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    show = set;
    return () => { show = null; };
  }, []);
  useLayoutEffect(() => {
    const element = list.current;
    if (!open || !element) return;
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(4, Math.min(open.x, innerWidth - width - 4))}px`;
    element.style.top = `${Math.max(4, Math.min(open.y, innerHeight - height - 4))}px`;
    element.querySelector<HTMLElement>('[role=menuitem]')?.focus();
  }, [open]);
  useEffect(() => {
    if (!open) return;
    const away = (event: Event) => { if (!list.current?.contains(event.target as Node)) set(null); };
    addEventListener('mousedown', away);
    addEventListener('scroll', away, true);
    addEventListener('hashchange', away);
    return () => { removeEventListener('mousedown', away); removeEventListener('scroll', away, true); removeEventListener('hashchange', away); };
  }, [open]);
  if (!open) return null;
  const close = () => { set(null); open.from?.focus(); };
  const choose = (choice: Choice) => {
    set(null);
    if (choice.href) location.hash = choice.href;
    else { open.from?.focus(); choice.run?.(); }
  };
  function pressed(event: KeyboardEvent) {
    const items = [...list.current!.querySelectorAll<HTMLElement>('[role=menuitem]')];
    const at = items.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'ArrowDown') items[(at + 1) % items.length]?.focus();
    else if (event.key === 'ArrowUp') items[(at - 1 + items.length) % items.length]?.focus();
    else if (event.key === 'Home') items[0]?.focus();
    else if (event.key === 'End') items[items.length - 1]?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  return (
    <ul ref={list} class="context-menu" role="menu" aria-label="What this leads to" onKeyDown={pressed}>
      {open.choices.map((choice) => (
        <li key={choice.text} role="none"><button type="button" role="menuitem" tabIndex={-1} onClick={() => choose(choice)}>{choice.text}</button></li>
      ))}
    </ul>
  );
}
