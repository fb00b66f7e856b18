/**
 * Canonical JSON (RFC 8785) of any value in a run. It also accepts strings with lone surrogates, which RFC 8785
 * rejects: models and tools may split a character.
 */
import type { Json } from '@cairn/protocol';
import canonicalize from 'canonicalize';

export function canonicalText(value: Json): string {
  try {
    return canonicalize(value) ?? 'null';
  } catch {
    return canonicalize(wellFormed(value)) ?? 'null';
  }
}

/** Replaces each lone surrogate with U+FFFD, also in keys, as encoding to UTF-8 does. */
export function wellFormed<Value extends Json>(value: Value): Value {
  const text = JSON.stringify(value);
  // JSON.stringify escapes exactly the lone surrogates. An escaped backslash is matched first and kept.
  const whole = text.replaceAll(/\\\\|\\ud[89a-f][0-9a-f]{2}/g, (part) => (part === '\\\\' ? part : '\ufffd'));
  return whole === text ? value : (JSON.parse(whole) as Value);
}
