/**
 * References to sensitive values. A run, its log and every view hold a reference in the place of a value, as text that
 * expressions and templates can pass on. Only the effect that needs the value replaces it.
 */
import { type Json, row } from '@cairn/protocol';
import type { Draft, RunState, SealedValues } from '../core/state.ts';

/** `[REDACTED:<name>#<token>]`. The token cannot be guessed before the run starts, so no definition can name it. */
const REFERENCE = /\[REDACTED:[A-Za-z0-9_.-]{1,40}#[A-Za-z0-9_-]{12}\]/g;
const WHOLE = new RegExp(`^${REFERENCE.source}$`);
/** A quick test that spares most texts the pattern. */
const OPENING = '[REDACTED:';

/** `token` has 12 characters of base64url. */
export const referenceOf = (name: string, token: string): string =>
  `${OPENING}${name.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, 40)}#${token}]`;

export const isReference = (value: Json | undefined): value is string =>
  typeof value === 'string' && value.startsWith(OPENING) && WHOLE.test(value);

/** Returns the replacement of a reference; undefined leaves it as it is. */
export type Replace = (reference: string) => Json | undefined;

/** Replaces the references in a text. A text that is one reference takes any value; inside a text a value is text. */
function replacedInText(text: string, replace: Replace): Json {
  if (!text.includes(OPENING)) return text;
  if (WHOLE.test(text)) return replace(text) ?? text;
  return text.replaceAll(REFERENCE, (reference) => asText(replace(reference) ?? reference));
}

const asText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Replaces the references in all texts of a value, also in keys. Returns the same value if there is nothing to do. */
export function replacedIn(value: unknown, replace: Replace): unknown {
  if (typeof value === 'string') return replacedInText(value, replace);
  if (Array.isArray(value)) {
    const items: unknown[] = value.map((item: unknown) => replacedIn(item, replace));
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const given = Object.entries<unknown>({ ...value });
  const clean = given.map(([key, item]) => [asText(replacedInText(key, replace)), replacedIn(item, replace)] as const);
  return clean.some(([key, item], i) => key !== given[i]?.[0] || item !== given[i]?.[1])
    ? Object.fromEntries(clean)
    : value;
}

/** The sealed values that a value refers to; undefined if there are none. */
export function sealedIn(value: Json, known: SealedValues | undefined): SealedValues | undefined {
  if (known === undefined) return undefined;
  const found: Record<string, string> = {};
  replacedIn(value, (reference) => {
    const sealed = Object.hasOwn(known, reference) ? known[reference] : undefined;
    if (sealed !== undefined) found[reference] = sealed;
    return undefined;
  });
  return Object.keys(found).length === 0 ? undefined : found;
}

/** The row by which sealed values enter a run. */
export const sealedRow = (values: SealedValues): Draft => row('cairn.values.sealed', { values });

/** Folds that row. A new object, so that its identity tells readers whether there are new values. */
export function addSealed(state: RunState, values: SealedValues): void {
  state.sealed = { ...state.sealed, ...values };
}
