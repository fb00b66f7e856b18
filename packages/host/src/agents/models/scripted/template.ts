/** Fills `{{input.topic}}` and its like into what a script says: three names, paths into them, and nothing that computes. */
import type { Json } from '@cairn/protocol';
import type { ModelCall } from '../model-port.ts';

/** What a script may refer to. */
export interface Blanks {
  /** The task as an object, when it is one. */
  readonly input: Json;
  /** The task as text. */
  readonly task: string;
  /** What the last tool returned; null before any did. */
  readonly last: Json;
}

const names: ReadonlySet<string> = new Set(['input', 'task', 'last'] satisfies (keyof Blanks)[]);
const blank = /\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}/g;
const wholeBlank = /^\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}$/;

export function blanksOf({ task, messages }: Pick<ModelCall, 'task' | 'messages'>): Blanks {
  const last = messages.findLast((message) => message.role === 'tool');
  return { task, input: objectIn(task), last: last?.role === 'tool' ? bare(last.output) : null };
}

/** What was marked as other people's words, as it came: a script takes no orders from it. */
function bare(output: Json): Json {
  const marked = typeof output === 'string' ? /^<UNTRUSTED [^>]*>([\s\S]*)<\/UNTRUSTED>$/.exec(output)?.[1] : undefined;
  if (marked === undefined) return output;
  try {
    return JSON.parse(marked);
  } catch {
    return marked;
  }
}

/** Text with its blanks filled: texts as they are, other values as JSON, what is not there as nothing. Null leaves it alone. */
export function filledText(text: string, blanks: Blanks | null): string {
  if (blanks === null) return text;
  return text.replace(blank, (_, path: string) => {
    const value = valueAt(path, blanks);
    if (value === undefined) return '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

/** A value with its blanks filled; a text that is one blank becomes the value itself. */
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

/** Every blank of a value whose name is not one of the three, with the way to it. */
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

/** The task itself, or the data that was handed over with it: its last paragraph. */
function objectIn(text: string): Json {
  const last = text.slice(text.lastIndexOf('\n\n') + 1).trim();
  if (!last.startsWith('{')) return {};
  try {
    return JSON.parse(last);
  } catch {
    return {};
  }
}
