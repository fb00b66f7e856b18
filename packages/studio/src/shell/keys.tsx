/** Keys of the page: each screen adds its own, the help lists them all, and none counts while somebody types. */
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';

export interface KeyAction {
  /** As `KeyboardEvent.key` has it: `j`, `Enter`, `?`. Left out where one press would do too much: only the palette has it. */
  readonly key?: string;
  readonly label: string;
  readonly run: () => void;
  /** Whether the palette offers it too. Moving in a list makes no sense there. */
  readonly inPalette?: boolean;
}

interface Registry {
  readonly list: () => readonly KeyAction[];
  readonly subscribe: (listener: () => void) => () => void;
  readonly add: (actions: readonly KeyAction[]) => () => void;
}

function createRegistry(): Registry {
  let groups: readonly (readonly KeyAction[])[] = [];
  let flat: readonly KeyAction[] = [];
  const listeners = new Set<() => void>();
  const change = (next: readonly (readonly KeyAction[])[]) => {
    groups = next;
    flat = groups.flat();
    for (const listener of listeners) listener();
  };
  return {
    list: () => flat,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    add: (actions) => {
      change([...groups, actions]);
      return () => change(groups.filter((group) => group !== actions));
    },
  };
}

const KeysContext = createContext<Registry | null>(null);

function useRegistry(): Registry {
  const registry = useContext(KeysContext);
  if (registry === null) throw new Error('Keys need a KeysProvider above them.');
  return registry;
}

export function KeysProvider({ children }: { readonly children: ReactNode }) {
  const registry = useMemo(createRegistry, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isCommand(event) || isTyping(event)) return;
      // The newest group comes first: a screen may use a key of the shell for itself.
      const action = registry.list().findLast(({ key }) => key === event.key);
      if (action === undefined) return;
      event.preventDefault();
      action.run();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [registry]);
  return <KeysContext.Provider value={registry}>{children}</KeysContext.Provider>;
}

/** Whether the browser or the system may mean something by it. Many keyboards have signs such as `[` on Alt or AltGr. */
function isCommand({ key, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
  const isSign = /^[^\p{L}\p{N}\s]$/u.test(key);
  return metaKey || (!(isSign && altKey) && (altKey || ctrlKey));
}

/** A dialog has its own keys, a slider takes arrows alone, and Enter presses a button or follows a link that has the focus. */
function isTyping({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (
    target.closest(
      'dialog[open], input:not([type="checkbox"], [type="range"]), textarea, select, [contenteditable]',
    ) !== null
  )
    return true;
  return key === 'Enter' && target.closest('a, button, summary, input') !== null;
}

/** Adds keys while the component is shown. The functions of the latest render are called. */
export function useKeys(actions: readonly KeyAction[]): void {
  const registry = useRegistry();
  const latest = useRef(actions);
  useEffect(() => {
    latest.current = actions;
  });
  const names = actions.map(({ key, label }) => `${key} ${label}`).join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the keys are added anew when their names change, not their functions.
  useEffect(() => {
    const added = actions.map((action, at) => ({ ...action, run: () => latest.current[at]?.run() }));
    return registry.add(added);
  }, [registry, names]);
}

export function useAllKeys(): readonly KeyAction[] {
  const { subscribe, list } = useRegistry();
  return useSyncExternalStore(subscribe, list);
}
