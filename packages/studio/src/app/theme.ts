/** Light, dark, or as the system has it. Remembered in this browser. */
import { useSyncExternalStore } from 'react';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const KEY = 'cairn.theme';
const listeners = new Set<() => void>();

const stored = (): Theme => themes.find((theme) => theme === readStored()) ?? 'system';

/** A browser may refuse storage. The choice then lasts as long as the page. */
function readStored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

let current: Theme = stored();

export function setTheme(theme: Theme): void {
  current = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Kept in memory.
  }
  applyTheme();
  for (const listener of listeners) listener();
}

export function applyTheme(): void {
  if (current === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = current;
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const useTheme = (): Theme => useSyncExternalStore(subscribe, () => current);
