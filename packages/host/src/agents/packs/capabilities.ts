/** Whether a host has what a pack asks for: dotted keys looked up in its discovery document. */
import type { Discovery } from '@cairn/protocol';

/** What is said of a capability when it is only asked for. */
const SUPPORTED = 'supported';

/** One capability implies another where the protocol says so. */
const alsoBy: ReadonlyMap<string, string> = new Map([['agents.manifestRuntime', 'agentRuntime']]);

/**
 * `key` is dotted, with or without `host.` before it; `wanted` is `supported`, or a value that must be there. A family
 * that says of itself that it is not supported makes whatever is below it unsupported, too.
 */
export function hasCapability(document: Discovery, key: string, wanted: string = SUPPORTED): boolean {
  const plain = key.replace(/^host\./, '');
  const implied = alsoBy.get(plain);
  return isThere(document, plain, wanted) || (implied !== undefined && isThere(document, implied, wanted));
}

function isThere(document: Discovery, key: string, wanted: string): boolean {
  let value: unknown = document;
  for (const name of key.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
    const fields: Readonly<Record<string, unknown>> = { ...value };
    if (fields.supported === false) return false;
    value = fields[name];
  }
  return wanted === SUPPORTED || wanted === '*' ? isSupported(value) : isOrHas(value, wanted);
}

function isSupported(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value !== 'object' || value === null) return value === true;
  const { supported }: { readonly supported?: unknown } = value;
  return supported === undefined ? Object.keys(value).length > 0 : supported === true;
}

const isOrHas = (value: unknown, wanted: string): boolean =>
  Array.isArray(value) ? value.includes(wanted) : String(value) === wanted && typeof value !== 'object';
