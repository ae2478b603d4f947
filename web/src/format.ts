// Numbers as people read them. The exact ones belong into a title beside.
const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const grouped = new Intl.NumberFormat('en-US');

export function bytes(n: number | null | undefined): string {
  if (n === null || n === undefined) return '–';
  let unit = 0;
  let value = n;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    ++unit;
  }
  return unit === 0 ? `${grouped.format(n)} B` : `${value.toFixed(1)} ${units[unit]}`;
}

export function exactBytes(n: number | null | undefined): string {
  return n === null || n === undefined ? '' : `${grouped.format(n)} bytes`;
}

export function count(n: number | null | undefined): string {
  return n === null || n === undefined ? '–' : grouped.format(n);
}

export function share(part: number | null | undefined): string {
  if (part === null || part === undefined || !Number.isFinite(part)) return '–';
  const percent = part * 100;
  return percent > 0 && percent < 0.05 ? '<0.1%' : `${percent.toFixed(1)}%`;
}

// "1 object", "5,000 objects".
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

// At most `most` characters: what is left out is in the middle, where long names differ least.
export function shortened(text: string, most: number): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const head = Math.ceil((most - 1) * 0.55);
  return `${letters.slice(0, head).join('')}…${letters.slice(letters.length - (most - 1 - head)).join('')}`;
}

// What to call a key of the JSON: "free_bytes" → "Free bytes".
export function title(key: string): string {
  const words = key.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function baseName(path: string): string {
  return path.split(/[\\/]/).pop() || path;
}

export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{1,16}$/.test(value);
}

export function generationName(name: string | null | undefined): string {
  switch (name) {
    case 'gen0': return 'Gen 0';
    case 'gen1': return 'Gen 1';
    case 'gen2': return 'Gen 2';
    case 'loh': return 'Large (LOH)';
    case 'poh': return 'Pinned (POH)';
    case 'frozen': return 'Frozen';
    default: return name ?? '–';
  }
}

// A change: "+1.5 MiB", "−14".
export function change(n: number | null | undefined, of_bytes: boolean): string {
  if (n === null || n === undefined) return '–';
  const size = of_bytes ? bytes(Math.abs(n)) : count(Math.abs(n));
  return n === 0 ? size : `${n > 0 ? '+' : '−'}${size}`;
}

// A sentence begins with a capital letter.
export function sentence(words: string): string {
  const text = named(words);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// A property's field is called as the property, as in the program's text: "<Cart>k__BackingField" is "Cart".
export function named(text: string): string {
  return text.includes('k__BackingField') ? text.replace(/<([^<>]+)>k__BackingField/g, '$1') : text;
}
