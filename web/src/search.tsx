// The search box: types and fields by a part of their name, objects by their address, views by what other tools call them. Arrow
// keys choose, Enter opens.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Found } from './answers';
import { bytes, counted, shortened } from './format';
import { go, href, to } from './router';
import { ask } from './source';
import { placesFor } from './words';

interface Choice {
  address: string;
  text: string;
  says: string;
  is_view?: boolean;
}

export function Search() {
  const [text, setText] = useState('');
  const [choices, setChoices] = useState<Choice[]>([]);
  const [selected, select] = useState(-1);
  const [open, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const wanted = text.trim();
    if (wanted.length < 2) return setChoices([]);
    let current = true;
    const timer = setTimeout(() => {
      ask('api/find', { text: wanted, count: 12 }).then((found: Found) => {
        if (!current) return;
        const views = placesFor(wanted).map((place) => ({ address: place.address, text: place.title, says: place.says, is_view: true }));
        setChoices([
          ...found.objects.map((node) => ({ address: to.object(node.at), text: `${node.at} ${node.name}`, says: bytes(node.retained) })),
          ...found.types.map((type) => ({ address: to.type(type.name), text: type.name, says: counted(type.objects, 'object') })),
          ...(found.fields ?? []).map((each) => ({ address: to.type(each.type), text: `${each.type}.${each.field}`, says: 'field' })),
        ].slice(0, 12 - views.length).concat(views));
        select(-1);
        setOpen(true);
      }, () => current && setChoices([]));
    }, 180);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text]);

  function leave(address: string) {
    setOpen(false);
    setText('');
    go(address);
  }
  function pressed(event: KeyboardEvent) {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (!choices.length) return;
      setOpen(true);
      select((selected + (event.key === 'ArrowDown' ? 1 : -1) + choices.length + (selected < 0 && event.key === 'ArrowUp' ? 1 : 0)) % choices.length);
    } else if (event.key === 'Enter') {
      const choice = choices[selected];
      if (choice && open) leave(choice.address);
      else if (/^(0x)?[0-9a-f]{6,16}$/i.test(text.trim())) leave(to.object(`0x${text.trim().toLowerCase().replace(/^0x0*/, '')}`));
      else if (text.trim()) leave(href('find', '', { text: text.trim() }));
    } else if (event.key === 'Escape' && open) setOpen(false);
    else return;
    event.preventDefault();
  }
  const shown = open && choices.length > 0;
  return (
    <div class="search" role="search" onFocusOut={(event) => { if (!event.currentTarget.contains(event.relatedTarget as Node)) setOpen(false); }}>
      <input ref={input} id="search" type="text" role="combobox" aria-label="Search a type, a field or an address" aria-expanded={shown} aria-controls="search-list" aria-autocomplete="list"
        aria-activedescendant={shown && selected >= 0 ? `choice-${selected}` : undefined} placeholder="Search: type, field, address  ( / )" value={text} spellcheck={false} autocomplete="off"
        onInput={(event) => setText((event.target as HTMLInputElement).value)} onKeyDown={pressed} onFocus={() => choices.length && setOpen(true)} />
      <ul id="search-list" role="listbox" aria-label="Found" hidden={!shown}>
        {choices.map((choice, index) => (
          <li key={`${choice.address} ${choice.text}`} id={`choice-${index}`} role="option" class={choice.is_view ? 'view' : undefined} aria-selected={index === selected} onMouseDown={(event) => { event.preventDefault(); leave(choice.address); }}>
            <bdi title={choice.text}>{shortened(choice.text, 70)}</bdi><span class="muted">{choice.says}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
