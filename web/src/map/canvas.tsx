// The map itself. Mouse: point, click to go in. Keys: arrows go over boxes, Enter goes in, Backspace out, O opens the object, the menu key shows what else a box leads to.
// What it shows stands in the list below as well; what is selected is said aloud.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { MapNode } from '../answers';
import { type Choice, isByKey, openMenu } from '../context_menu';
import { bytes, count, counted, share, shortened } from '../format';
import { withoutNamespaces } from '../name';
import { useTheme } from '../theme';
import { useWidth } from '../table';
import { type ColorBy, paint } from './color';
import { type Box, boxAt, lay, neighbour, type Shape } from './layout';

export function restName(box: Box): string {
  return box.kind ? `${count(box.rest!.count)} × ${withoutNamespaces(box.kind)}` : counted(box.rest!.count, 'smaller one');
}

export function words(box: Box, whole: number): string {
  if (box.rest) return `${restName(box)}, ${bytes(box.rest.bytes)}`;
  const node = box.node!;
  return `${node.name}, ${bytes(node.retained)}, ${share(node.retained / whole)}, ${counted(node.objects, 'object')}`;
}

export function MapCanvas({ root, shape, color, search = '', onZoom, onOut, onObject, onType, onRest, onPoint, menu }: {
  root: MapNode; shape: Shape; color: ColorBy;
  search?: string; menu?: (node: MapNode) => Choice[];
  onZoom: (node: MapNode) => void; onOut: () => void; onObject: (node: MapNode) => void; onPoint: (box: Box | null) => void; onType: (type: string) => void; onRest: () => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(frame);
  const height = width < 600 ? 380 : Math.max(340, Math.min(560, innerHeight - 340));
  const dark = useTheme().dark;
  const boxes = useMemo(() => (width > 0 ? lay(root, shape, width, height) : []), [root, shape, width, height]);
  const [selected, setSelected] = useState(0);
  const [focused, setFocused] = useState(false);
  useEffect(() => setSelected(0), [root]);

  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context || !width) return;
    const ratio = devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(context, boxes, shape, color, dark, width, height, selected, focused, search.trim().toLowerCase());
  }, [boxes, color, dark, selected, focused, width, height, search]);

  function select(index: number) {
    setSelected(index);
    onPoint(boxes[index] ?? null);
  }
  function enter(index: number) {
    const box = boxes[index];
    if (box?.kind) return onType(box.kind);
    const node = box?.rest ? boxes[box.parent]?.node : box?.node; // small ones are to be seen from nearer
    if (!node) return;
    if (box?.rest && box.parent === 0) return onRest();
    if (index === 0) onOut();
    else if (node.children === 0) onObject(node);
    else onZoom(node);
  }
  function pressed(event: KeyboardEvent) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key.startsWith('Arrow')) select(neighbour(boxes, selected, event.key, shape));
    else if (event.key === 'Home') select(0);
    else if (event.key === 'Enter' || event.key === ' ') enter(selected);
    else if (event.key === 'Backspace' || event.key === 'Escape') onOut();
    else if (event.key === 'o' || event.key === 'O') {
      const node = boxes[selected]?.node;
      if (node?.kind === 'object') onObject(node);
    } else return;
    event.preventDefault();
  }
  const at = (event: MouseEvent) => {
    const area = canvas.current!.getBoundingClientRect();
    return boxAt(boxes, event.clientX - area.left, event.clientY - area.top);
  };
  const box = boxes[selected];
  return (
    <div ref={frame} class="map-frame">
      <canvas ref={canvas} class="map" style={{ width: `${width}px`, height: `${height}px` }} tabIndex={0} role="application"
        aria-roledescription="map" aria-label={`Map of the heap, ${counted(boxes.length, 'box', 'boxes')}: arrow keys go over them, Enter goes in, Backspace out, O opens the object, the menu key shows what else a box leads to. The list below says the same.`}
        onKeyDown={pressed} onFocus={() => { setFocused(true); onPoint(boxes[selected] ?? null); }} onBlur={() => setFocused(false)}
        onMouseMove={(event) => { const index = at(event); if (index >= 0 && index !== selected) select(index); }}
        onContextMenu={(event) => {
          const index = isByKey(event) ? selected : at(event);
          const node = boxes[index >= 0 ? index : selected]?.node;
          const choices = node ? menu?.(node) ?? [] : [];
          if (choices.length) openMenu(event, choices);
        }}
        onClick={(event) => { const index = at(event); if (index >= 0) { select(index); enter(index); } }} />
      <p class="spoken" aria-live="polite">{focused && box ? words(box, root.retained) : ''}</p>
    </div>
  );
}

function found(box: Box, search: string): boolean {
  return (box.kind ?? box.node?.type ?? box.node?.name ?? '').toLowerCase().includes(search);
}

function draw(context: CanvasRenderingContext2D, boxes: Box[], shape: Shape, color: ColorBy, dark: boolean, width: number, height: number, selected: number, focused: boolean, search: string): void {
  context.clearRect(0, 0, width, height);
  const line = dark ? '#1b1e22' : '#ffffff';
  const font = getComputedStyle(document.body).fontFamily;
  context.textBaseline = 'top';
  const parents = new Set(boxes.map((box) => box.parent));
  for (const [index, box] of boxes.entries()) {
    const { fill, ink } = paint(box.node ?? (box.kind && color !== 'generation' ? { kind: 'object', type: box.kind } : null), color, dark);
    context.globalAlpha = search && !found(box, search) ? 0.25 : 1;
    context.fillStyle = fill;
    context.fillRect(box.x, box.y, box.width, box.height);
    if (box.width > 3 && box.height > 3) {
      context.strokeStyle = line;
      context.lineWidth = 1;
      context.strokeRect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1);
    }
    label(context, box, box.height < 36 || (shape === 'treemap' && parents.has(index)), ink, font);
  }
  context.globalAlpha = 1;
  const box = boxes[selected];
  if (box) {
    context.strokeStyle = dark ? '#9cc3ff' : '#0b4fae';
    context.lineWidth = focused ? 3 : 1.5;
    const inset = context.lineWidth / 2;
    context.strokeRect(box.x + inset, box.y + inset, Math.max(1, box.width - 2 * inset), Math.max(1, box.height - 2 * inset));
  }
}

function label(context: CanvasRenderingContext2D, box: Box, one_line: boolean, ink: string, font: string): void {
  if (box.width < 34 || box.height < 15) return;
  const name = box.rest ? restName(box) : box.node!.kind === 'object' ? withoutNamespaces(box.node!.name) : box.node!.name;
  const size = bytes(box.rest ? box.rest.bytes : box.node!.retained);
  context.font = `500 12px ${font}`;
  const letter = context.measureText('Dictionary<Order>').width / 17;
  const letters = Math.floor((box.width - 10) / letter);
  if (letters < 3) return;
  context.save();
  context.beginPath();
  context.rect(box.x + 3, box.y, box.width - 6, box.height);
  context.clip();
  context.fillStyle = ink;
  context.font = `500 12px ${font}`;
  if (one_line) {
    context.fillText(`\u2068${shortened(name, Math.max(3, letters - size.length - 2))}\u2069  ${size}`, box.x + 5, box.y + 4);
  } else {
    context.fillText(`\u2068${shortened(name, letters)}\u2069`, box.x + 5, box.y + 5);
    if (box.height > 34 && size.length * letter < box.width - 8) {
      context.font = `12px ${font}`;
      context.fillText(size, box.x + 5, box.y + 21);
    }
  }
  context.restore();
}
