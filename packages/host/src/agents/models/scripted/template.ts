/** Fills placeholders such as `{{input.topic}}` in a script: three names and paths into them, no expressions. */
import type { Json } from '@cairn/protocol';
import type { ModelCall } from '../model-port.ts';

/** The values that a script may reference. */
export interface Blanks {
  /** The task's JSON object; empty when it has none. */
  readonly input: Json;
  /** The task as text. */
  readonly task: string;
  /** The result of the last tool; null before the first. */
  readonly last: Json;
}

const names: ReadonlySet<string> = new Set(['input', 'task', 'last'] satisfies (keyof Blanks)[]);
const blank = /\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}/g;
const wholeBlank = /^\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}$/;

export function blanksOf({ task, messages }: Pick<ModelCall, 'task' | 'messages'>): Blanks {
  const last = messages.findLast((message) => message.role === 'tool');
  return { task, input: objectIn(task), last: last?.role === 'tool' ? bare(last.output) : null };
}

/** Removes the untrusted mark: a script does not follow instructions in tool output. */
function bare(output: Json): Json {
  const marked = typeof output === 'string' ? /^<UNTRUSTED [^>]*>([\s\S]*)<\/UNTRUSTED>$/.exec(output)?.[1] : undefined;
  if (marked === undefined) return output;
  try {
    return JSON.parse(marked);
  } catch {
    return marked;
  }
}

/**
 * Fills the placeholders of a text: strings as they are, other values as JSON, missing values as empty. Null leaves the
 * text unchanged.
 */
export function filledText(text: string, blanks: Blanks | null): string {
  if (blanks === null) return text;
  return text.replace(blank, (_, path: string) => {
    const value = valueAt(path, blanks);
    if (value === undefined) return '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

/** Fills the placeholders of a value. A string that is a single placeholder becomes the value itself. */
export function filled(value: Json, blanks: Blanks | null): Json {
  if (blanks === null) return value;
  if (typeof value === 'string') {
    const path = wholeBlank.exec(value)?.[1];
    return path === undefined ? filledText(value, blanks) : (valueAt(path, blanks) ?? null);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => filled(item, blanks));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, blanks)]));
}

/** Lists the placeholders with unknown names, with their paths. */
export function unknownNames(
  value: unknown,
): readonly { readonly path: readonly PropertyKey[]; readonly name: string }[] {
  if (typeof value === 'string') {
    const found = [...value.matchAll(blank)].map(([, path = '']) => path);
    return found.filter((path) => !names.has(path.split('.', 1).join())).map((name) => ({ path: [], name }));
  }
  if (typeof value !== 'object' || value === null) return [];
  const entries: readonly (readonly [PropertyKey, unknown])[] = Array.isArray(value)
    ? value.map((item, i) => [i, item] as const)
    : Object.entries(value);
  return entries.flatMap(([key, item]) => unknownNames(item).map(({ path, name }) => ({ path: [key, ...path], name })));
}

function valueAt(path: string, blanks: Blanks): Json | undefined {
  const [name, ...keys] = path.split('.');
  let value: Json | undefined = name === 'input' || name === 'task' || name === 'last' ? blanks[name] : undefined;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

/** Parses the last paragraph of the task: the task itself, or the data handed over with it. */
function objectIn(text: string): Json {
  const last = text.slice(text.lastIndexOf('\n\n') + 1).trim();
  if (!last.startsWith('{')) return {};
  try {
    return JSON.parse(last);
  } catch {
    return {};
  }
}
