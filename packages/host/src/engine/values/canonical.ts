/** Canonical JSON (RFC 8785) of whatever a run may hold, also of texts that its recipe refuses: models and tools cut characters in half. */
import type { Json } from '@cairn/protocol';
import canonicalize from 'canonicalize';

export function canonicalText(value: Json): string {
  try {
    return canonicalize(value) ?? 'null';
  } catch {
    return canonicalize(wellFormed(value)) ?? 'null';
  }
}

/** The value with U+FFFD for each half of a surrogate pair, keys too: what is left of it once it was sent or stored as UTF-8. */
export function wellFormed<Value extends Json>(value: Value): Value {
  const text = JSON.stringify(value);
  // JSON has escapes for exactly those; two backslashes are one, whatever follows.
  const whole = text.replaceAll(/\\\\|\\ud[89a-f][0-9a-f]{2}/g, (part) => (part === '\\\\' ? part : '\ufffd'));
  return whole === text ? value : (JSON.parse(whole) as Value);
}
