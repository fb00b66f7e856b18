/**
 * Parses request bodies strictly. It refuses JSON that two parsers could read differently, before any code acts on it.
 */
import { isUtf8 } from 'node:buffer';
import { isJsonObject, type Json, quoted, TerminalError, thrownText } from '@cairn/protocol';
import { endOfString, repeatedKey } from '../../repeated-key.ts';

/** Maximum nesting of arrays and objects in a request. */
export const MAX_JSON_DEPTH = 100;

/** What a body may have besides its bytes. A million tiny objects would hold the event loop for 100 ms, in all that read them. */
export interface JsonLimits {
  /** Objects, lists and members of objects together. */
  readonly parts: number;
  /** Items of all lists and objects together. */
  readonly items: number;
  /**
   * Different names of members. Records repeat theirs; a name that is new costs ten times as much in all that read it.
   * Measured: 45,000 of them made turns of 60 to 90 ms at the start of a run, 10,000 take 12 to 18 ms.
   */
  readonly names: number;
}

/** Data of users has some ten bytes for each part, so that half a megabyte of it has fewer. */
const USUAL: JsonLimits = { parts: 50_000, items: 200_000, names: 10_000 };

/**
 * Parses a body. Refuses invalid UTF-8, malformed JSON, repeated keys, `__proto__` keys, lone surrogates, deep nesting
 * and numbers that no double can hold. -0 becomes 0, as it would once it is written as JSON.
 */
export function parseJsonBody(bytes: Buffer, limits: JsonLimits = USUAL): Json {
  if (!isUtf8(bytes)) throw refusal('The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  const members = scan(text, limits);
  if (members > limits.names) refuseManyNames(text, limits.names);
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refusal(`The body is not JSON: ${thrownText(error)}.`);
  }
  // A repeated key leaves fewer members in the value than in the text. Comparing two counts avoids a set per object.
  const found: Found = { hasMinusZero: false };
  if (countMembers(value, found) !== members)
    throw refusal(`The body repeats the key ${quoted(repeatedKey(text), 80)}.`);
  if (SURROGATE_ESCAPE.test(text) && hasLoneSurrogate(value)) {
    throw refusal('The body has half of a surrogate pair, which no text in UTF-8 can hold.');
  }
  return found.hasMinusZero ? JSON.parse(JSON.stringify(value)) : value;
}

/** Only an escape can produce a surrogate, because the bytes are valid UTF-8. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

function hasLoneSurrogate(value: Json): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasLoneSurrogate);
  return Object.entries(value).some(([key, member]) => !key.isWellFormed() || hasLoneSurrogate(member));
}

/** Counts the members of all objects in the text, and refuses deep nesting and too many parts. JSON.parse reports malformed text. */
function scan(text: string, limits: JsonLimits): number {
  let members = 0;
  let containers = 0;
  let commas = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i += 1) {
    switch (text.charCodeAt(i)) {
      case 0x22: // "
        i = endOfString(text, i);
        break;
      case 0x2c: // ,
        commas += 1;
        break;
      case 0x3a: // :
        members += 1;
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        containers += 1;
        if (depth > MAX_JSON_DEPTH) throw refusal(`The body nests deeper than ${MAX_JSON_DEPTH} levels.`);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
    }
  }
  if (members + containers > limits.parts) throw tooMany('objects, lists and members', limits.parts);
  if (commas > limits.items) throw tooMany('items', limits.items);
  return members;
}

/** Looks at every name of the text, and stops at the first one too many. */
function refuseManyNames(text: string, limit: number): void {
  const names = new Set<string>();
  for (let i = 0, start = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      start = i;
      i = endOfString(text, i);
    } else if (code === 0x3a) {
      names.add(text.slice(start, i));
      if (names.size > limit) throw tooMany('different names of members', limit);
    }
  }
}

/** What a walk over the value notes besides its members. */
interface Found {
  hasMinusZero: boolean;
}

function countMembers(value: Json, found: Found): number {
  if (typeof value === 'number') checkNumber(value, found);
  let members = 0;
  if (Array.isArray(value)) for (const item of value) members += countMembers(item, found);
  if (!isJsonObject(value)) return members;
  // Entries of an object with many keys would be as many arrays.
  for (const key of Object.keys(value)) {
    if (key === '__proto__') throw refusal('The body has a key "__proto__", which no object of ours may have.');
    members += 1 + countMembers(value[key] ?? null, found);
  }
  return members;
}

/** JSON.parse reads a number beyond the range as infinity, which JSON cannot write. */
function checkNumber(value: number, found: Found): void {
  if (!Number.isFinite(value)) throw refusal('The body has a number that is too large: its size is over 1.8e308.');
  if (Object.is(value, -0)) found.hasMinusZero = true;
}

const tooMany = (what: string, limit: number): TerminalError =>
  new TerminalError('payload_too_large', {
    message: `The body has more than ${limit} ${what}.`,
    hint: 'Send fewer and larger values, or write them as an artifact.',
    details: { limit },
  });

const refusal = (message: string): TerminalError =>
  new TerminalError('validation_error', {
    message,
    hint: 'Send one JSON value in UTF-8, each key once in its object.',
  });
