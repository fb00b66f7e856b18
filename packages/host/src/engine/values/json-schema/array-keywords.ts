/** Keywords for arrays. */
import { isJsonObject, type Json } from '@cairn/protocol';
import { canonicalText } from '../canonical.ts';
import { spend } from '../cost-budget.ts';
import { anything, type Check, type Checking, checkMember, refuse } from './checking.ts';
import { countOf, type Keyword, schemasOf, wrong } from './place.ts';

const maxItems: Keyword = (given, place) => {
  const most = countOf(given, place);
  return (value, at) =>
    !Array.isArray(value) || value.length <= most || refuse(at, `must NOT have more than ${most} items`);
};

const minItems: Keyword = (given, place) => {
  const least = countOf(given, place);
  return (value, at) =>
    !Array.isArray(value) || value.length >= least || refuse(at, `must NOT have fewer than ${least} items`);
};

const prefixItems: Keyword = (given, place) => {
  const checks = schemasOf(given, place);
  return (value, at) => {
    if (!Array.isArray(value)) return true;
    spend(at, checks.length);
    for (const [index, check] of checks.entries()) {
      if (index >= value.length) break;
      if (check !== anything && !checkMember(check, value[index], index, at)) return false;
    }
    evaluatedUpTo(Math.min(checks.length, value.length), at);
    return true;
  };
};

const items: Keyword = (given, place) => {
  const check = place.compile(given, place.pointer);
  const { prefixItems: prefix } = place.schema;
  const from = Array.isArray(prefix) ? prefix.length : 0;
  return (value, at) => {
    if (!Array.isArray(value)) return true;
    if (!checkItems(value, { check, isFalse: given === false && from > 0, from }, at)) return false;
    evaluatedUpTo(value.length, at);
    return true;
  };
};

interface Rest {
  readonly check: Check;
  /** No further items are allowed. */
  readonly isFalse: boolean;
  readonly from: number;
}

function checkItems(value: readonly Json[], { check, isFalse, from }: Rest, at: Checking): boolean {
  if (check === anything || value.length <= from) return true;
  if (isFalse) return refuse(at, `must NOT have more than ${from} items`);
  spend(at, value.length - from);
  for (let index = from; index < value.length; index += 1) {
    if (!checkMember(check, value[index] as Json, index, at)) return false;
  }
  return true;
}

function evaluatedUpTo(count: number, { evaluated }: Checking): void {
  if (evaluated !== null) evaluated.items = Math.max(evaluated.items, count);
}

const contains: Keyword = (given, place) => {
  const check = place.compile(given, place.pointer);
  const { minContains, maxContains } = place.schema;
  const least = minContains === undefined ? 1 : countOf(minContains, place);
  const most = maxContains === undefined ? undefined : countOf(maxContains, place);
  const range = most === undefined ? `at least ${least}` : `at least ${least} and no more than ${most}`;
  return (value, at) => {
    if (!Array.isArray(value)) return true;
    const before = at.errors.length;
    const count = matching(value, { check, least, most }, at);
    if (count < least || (most !== undefined && count > most)) return refuse(at, `must contain ${range} valid item(s)`);
    at.errors.length = before;
    return true;
  };
};

/** `contains` reads the limits next to it; on their own they check nothing. */
const containsLimit: Keyword = (given, place) => {
  countOf(given, place);
  return undefined;
};

interface Wanted {
  readonly check: Check;
  readonly least: number;
  readonly most: number | undefined;
}

/** Counts the items that match, as far as the result depends on it. */
function matching(value: readonly Json[], { check, least, most }: Wanted, at: Checking): number {
  let count = 0;
  spend(at, value.length);
  at.alternatives += 1;
  for (const [index, item] of value.entries()) {
    if (!checkMember(check, item, index, at)) continue;
    count += 1;
    at.evaluated?.matched.add(index);
    if (most === undefined ? count >= least && at.evaluated === null : count > most) break;
  }
  at.alternatives -= 1;
  return count;
}

/** Compares canonical texts: comparing every pair of items would take quadratic time. */
const uniqueItems: Keyword = (given, place) => {
  if (typeof given !== 'boolean') throw wrong(place.pointer, 'must be boolean');
  if (!given) return undefined;
  return (value, at) => {
    if (!Array.isArray(value)) return true;
    spend(at, 8 * value.length);
    const simple = new Set<Json>();
    const texts = new Set<string>();
    for (const item of value) {
      if (typeof item !== 'object' || item === null) simple.add(item);
      else {
        spendOnText(item, at);
        texts.add(canonicalText(item));
      }
    }
    return simple.size + texts.size === value.length || refuse(at, 'must NOT have duplicate items');
  };
};

/** A part of a canonical text costs about as much as 20 steps: its names are sorted. */
function spendOnText(value: Json, at: Checking): void {
  spend(at, 20);
  if (typeof value === 'string') spend(at, value.length >> 2);
  else if (Array.isArray(value)) for (const item of value) spendOnText(item, at);
  else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      spend(at, 10 + (name.length >> 2));
      spendOnText(member, at);
    }
  }
}

const unevaluatedItems: Keyword = (given, place) => {
  const check = place.compile(given, place.pointer);
  return (value, at) => {
    const { evaluated } = at;
    if (!Array.isArray(value) || evaluated === null) return true;
    const { items: from, matched } = evaluated;
    spend(at, Math.max(0, value.length - from));
    for (let index = from; index < value.length; index += 1) {
      if (matched.has(index)) continue;
      if (given === false) return refuse(at, `must NOT have more than ${index} items`);
      if (!checkMember(check, value[index], index, at)) return false;
    }
    evaluated.items = Number.POSITIVE_INFINITY;
    return true;
  };
};

export const arrayKeywords: readonly (readonly [string, Keyword])[] = [
  ['maxItems', maxItems],
  ['minItems', minItems],
  ['prefixItems', prefixItems],
  ['items', items],
  ['minContains', containsLimit],
  ['maxContains', containsLimit],
  ['contains', contains],
  ['uniqueItems', uniqueItems],
  ['unevaluatedItems', unevaluatedItems],
];
