/**
 * Compiles a JSON Schema (2020-12) to functions that interpret it. Nothing is generated as code: compiling costs about
 * as much as copying the schema, and each step of a check is charged before it is taken. The order of keywords and the
 * texts of errors are those of Ajv, because runs recorded them.
 */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { CostExceeded, costBudget, spend } from '../cost-budget.ts';
import { compilePattern, type Pattern } from '../patterns.ts';
import { anyKeywords } from './any-keywords.ts';
import { arrayKeywords } from './array-keywords.ts';
import { addEvaluated, anything, type Check, type Checking, nothingEvaluated, refuse } from './checking.ts';
import { type FormatCheck, knownFormats } from './formats.ts';
import { objectKeywords } from './object-keywords.ts';
import { type Keyword, type Place, wrong } from './place.ts';
import { numberKeywords, stringKeywords } from './scalar-keywords.ts';

const nothing: Check = (_value, at) => refuse(at, 'boolean schema is false');

/** The maximum cost to compile the patterns of a schema: about 2 ms, and ten times that in a process that just began. */
const MAX_PATTERN_COST = 100_000;

export interface Compiled {
  readonly check: Check;
  /** Formats that the schema names and this host does not know. The check ignores them. */
  readonly unknownFormats: ReadonlySet<string>;
}

/** Throws an Error that names the place and the problem. */
export function compileRoot(root: JsonObject): Compiled {
  const unknownFormats = new Set<string>();
  const format = (name: string): FormatCheck | undefined => {
    if (!knownFormats.has(name)) unknownFormats.add(name);
    return knownFormats.get(name);
  };
  const known = new Map<Json, Check>();
  const patterns = new Map<string, Pattern>();
  const budget = costBudget(MAX_PATTERN_COST);
  const pattern = (source: string): Pattern => {
    const known = patterns.get(source);
    if (known !== undefined) return known;
    try {
      const compiled = compilePattern(source, 'u', budget);
      patterns.set(source, compiled);
      return compiled;
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error;
      throw new RangeError(
        `its patterns cost more than ${MAX_PATTERN_COST} units to compile in all, so use fewer or shorter ones`,
      );
    }
  };
  const resolve: Place['resolve'] = (reference) => {
    const schema = targetOf(root, reference);
    if (schema === undefined) throw new Error(`can't resolve reference ${reference}`);
    return { schema, pointer: reference.slice(1) };
  };
  const compile: Place['compile'] = (schema, pointer) => {
    if (schema === true) return anything;
    if (schema === false) return nothing;
    if (!isJsonObject(schema)) throw wrong(pointer, 'must be object,boolean');
    const before = known.get(schema);
    if (before !== undefined) return before;
    const check = compileObject({ schema, pointer, compile, pattern, format, resolve });
    known.set(schema, check);
    return check;
  };
  return { check: compile(root, ''), unknownFormats };
}

/** Resolves a reference that is a JSON Pointer. Returns undefined for a missing target. */
export function targetOf(schema: Json, reference: string): Json | undefined {
  if (!/^#(\/|$)/.test(reference)) {
    throw new RangeError(
      `the reference ${JSON.stringify(reference)} is not a path in the schema, such as #/$defs/name`,
    );
  }
  let found: Json | undefined = schema;
  for (const step of reference.split('/').slice(1)) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = isJsonObject(found) ? found[name] : found[Number(name)];
  }
  return found;
}

const groupNames = ['any', 'number', 'string', 'array', 'object'] as const;
type GroupName = (typeof groupNames)[number];
type Groups = Readonly<Record<GroupName, readonly Check[]>>;

interface Entry {
  readonly name: string;
  readonly keyword: Keyword;
  readonly group: GroupName;
  /** The position in the order in which keywords are checked. */
  readonly order: number;
}

/** All keywords by name. `format` is there for numbers and for strings. */
const entries: ReadonlyMap<string, readonly Entry[]> = Map.groupBy(
  [
    ...inGroup('any', anyKeywords),
    ...inGroup('number', numberKeywords),
    ...inGroup('string', stringKeywords),
    ...inGroup('array', arrayKeywords),
    ...inGroup('object', objectKeywords),
  ],
  ({ name }) => name,
);

function inGroup(group: GroupName, keywords: readonly (readonly [string, Keyword])[]): readonly Entry[] {
  return keywords.map(([name, keyword], order) => ({ name, keyword, group, order }));
}

function compileObject(place: Place): Check {
  compileDefinitions('$defs', place);
  compileDefinitions('definitions', place);
  const { schema } = place;
  const type = typeOf(place);
  const found = Object.keys(schema).flatMap((name) => entries.get(name) ?? []);
  if (found.length === 0) return type === null ? anything : typeCheck(type);
  const check = keywordCheck(type, isTypeLate(type, found), compileKeywords(found, place));
  const { unevaluatedProperties, unevaluatedItems } = schema;
  return unevaluatedProperties === undefined && unevaluatedItems === undefined ? check : tracking(check);
}

function compileDefinitions(name: '$defs' | 'definitions', { schema, pointer, compile }: Place): void {
  const definitions = schema[name];
  if (!isJsonObject(definitions)) return;
  for (const [key, definition] of Object.entries(definitions)) compile(definition, `${pointer}/${name}/${key}`);
}

function compileKeywords(found: readonly Entry[], place: Place): Groups {
  const { schema, pointer, compile, pattern, format, resolve } = place;
  const groups: Record<GroupName, Check[]> = { any: [], number: [], string: [], array: [], object: [] };
  for (const { name, keyword, group } of found.toSorted((a, b) => a.order - b.order)) {
    const given = schema[name];
    if (given === undefined) continue;
    const check = keyword(given, { schema, pointer: `${pointer}/${name}`, compile, pattern, format, resolve });
    if (check !== undefined) groups[group].push(check);
  }
  return groups;
}

/** A single type with keywords of its own is checked in their place, after the groups before it. */
const isTypeLate = (type: Type | null, found: readonly Entry[]): boolean =>
  type !== null && type.only !== null && found.some(({ group }) => group === type.only);

function keywordCheck(type: Type | null, isLate: boolean, groups: Groups): Check {
  const { any, number, string, array, object } = groups;
  const late = isLate ? type : null;
  const first = isLate ? null : type;
  const earlier = late === null || late.only === null ? [] : groupNames.slice(1, groupNames.indexOf(late.only));
  return (value, at) => {
    spend(at, 1 + any.length);
    if (first !== null && (first.bits & bitsOf(value)) === 0) return refuse(at, first.message);
    for (const check of any) if (!check(value, at)) return false;
    if (late !== null && (late.bits & bitsOf(value)) === 0) {
      return earlier.every((name) => all(groups[name], value, at)) && refuse(at, late.message);
    }
    if (typeof value === 'string') return all(string, value, at);
    if (typeof value === 'number') return all(number, value, at);
    if (typeof value !== 'object' || value === null) return true;
    return all(Array.isArray(value) ? array : object, value, at);
  };
}

function all(checks: readonly Check[], value: Json, at: Checking): boolean {
  spend(at, checks.length);
  for (const check of checks) if (!check(value, at)) return false;
  return true;
}

const typeCheck =
  ({ bits, message }: Type): Check =>
  (value, at) => {
    spend(at, 1);
    return (bits & bitsOf(value)) !== 0 || refuse(at, message);
  };

/** Records what the schema evaluates, for its own `unevaluated…` keywords and for those around it. */
const tracking =
  (check: Check): Check =>
  (value, at) => {
    const around = at.evaluated;
    const own = nothingEvaluated();
    at.evaluated = own;
    const fits = check(value, at);
    at.evaluated = around;
    if (fits && around !== null) addEvaluated(around, own);
    return fits;
  };

const typeBits = { string: 1, number: 2, integer: 4, boolean: 8, null: 16, array: 32, object: 64 } as const;
type TypeName = keyof typeof typeBits;

interface Type {
  readonly bits: number;
  readonly message: string;
  /** The type, if it is the only one and has keywords of its own. */
  readonly only: Exclude<GroupName, 'any'> | null;
}

function bitsOf(value: Json): number {
  if (typeof value === 'string') return typeBits.string;
  if (typeof value === 'number') return Number.isInteger(value) ? typeBits.number | typeBits.integer : typeBits.number;
  if (typeof value === 'boolean') return typeBits.boolean;
  if (value === null) return typeBits.null;
  return Array.isArray(value) ? typeBits.array : typeBits.object;
}

function typeOf({ schema, pointer }: Place): Type | null {
  const { type, nullable } = schema;
  if (type === undefined) return null;
  const names = Array.isArray(type) ? type : [type];
  let bits = nullable === true ? typeBits.null : 0;
  let only: Type['only'] = null;
  for (const name of names) {
    if (!isTypeName(name)) throw wrong(`${pointer}/type`, `must be one of ${Object.keys(typeBits).join(', ')}`);
    bits |= typeBits[name];
    only = groupOf(name);
  }
  const isOnly = names.length === 1 && nullable !== true;
  return { bits, message: `must be ${names.join(',')}`, only: isOnly ? only : null };
}

const isTypeName = (name: Json): name is TypeName => typeof name === 'string' && Object.hasOwn(typeBits, name);

const groupOf = (type: TypeName): Type['only'] =>
  type === 'number' || type === 'string' || type === 'array' || type === 'object' ? type : null;
