// Light or dark: as the system has it, unless one chose. Kept where the browser lets us.
import { useEffect, useState } from 'preact/hooks';

export type Theme = 'system' | 'light' | 'dark';
const key = 'dnheap-theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
let chosen: Theme = 'system';

try {
  const kept = localStorage.getItem(key);
  if (kept === 'light' || kept === 'dark') chosen = kept;
} catch {
  // a page from disk may have no storage
}
apply();
system.addEventListener('change', tell);

function apply(): void {
  if (chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}
function tell(): void {
  for (const each of [...listeners]) each();
}

export function setTheme(theme: Theme): void {
  chosen = theme;
  apply();
  try {
    if (theme === 'system') localStorage.removeItem(key);
    else localStorage.setItem(key, theme);
  } catch {
    // as above
  }
  tell();
}

export function useTheme(): { theme: Theme; dark: boolean } {
  const [, again] = useState(0);
  useEffect(() => {
    const changed = () => again((n) => n + 1);
    listeners.add(changed);
    return () => void listeners.delete(changed);
  }, []);
  return { theme: chosen, dark: chosen === 'dark' || (chosen === 'system' && system.matches) };
}
