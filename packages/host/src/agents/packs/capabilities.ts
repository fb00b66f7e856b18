/** Looks up the capabilities a pack needs, as dotted keys of the host's discovery document. */
import type { Discovery } from '@cairn/protocol';

/** The value of a requirement that names only the capability. */
const SUPPORTED = 'supported';

/** Capabilities that the protocol defines as implied by another. */
const alsoBy: ReadonlyMap<string, string> = new Map([['agents.manifestRuntime', 'agentRuntime']]);

/**
 * `key` is dotted, with or without the prefix `host.`. `wanted` is `supported`, or a required value. A family with
 * `supported: false` makes every capability below it unsupported.
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
