/** Keywords for values of every type: references, fixed values and alternatives. */
import { isJsonObject, type Json } from '@cairn/protocol';
import { spend } from '../cost-budget.ts';
import { anything, type Check, type Checking, refuse, refuseAlso, tryAlternative } from './checking.ts';
import { type Keyword, listOf, memberPointer, schemasOf, textOf, wrong } from './place.ts';

const reference: Keyword = (given, place) => {
  const { schema, pointer } = place.resolve(textOf(given, place));
  return place.compile(schema, pointer);
};

const constant: Keyword = (given) => (value, at) => equals(given, value, at) || refuse(at, 'must be equal to constant');

const enumeration: Keyword = (given, place) => {
  const allowed = listOf(given, place);
  if (allowed.length === 0) throw wrong(place.pointer, 'must NOT have fewer than 1 items');
  const simple = new Set(allowed.filter((value) => !isStructured(value)));
  const structured = allowed.filter(isStructured);
  return (value, at) => {
    const fits = isStructured(value) ? structured.some((one) => equals(one, value, at)) : simple.has(value);
    return fits || refuse(at, 'must be equal to one of the allowed values');
  };
};

const isStructured = (value: Json): boolean => typeof value === 'object' && value !== null;

/** Equality by value. It spends the budget, because a schema may compare one large value with thousands of others. */
function equals(a: Json | undefined, b: Json | undefined, at: Checking): boolean {
  spend(at, 1);
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => equals(item, b[index], at));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const names = Object.keys(b);
  spend(at, 4 + 4 * names.length);
  return (
    names.length === Object.keys(a).length &&
    names.every((name) => Object.hasOwn(a, name) && equals(a[name], b[name], at))
  );
}

const not: Keyword = (given, place) => {
  const check = place.compile(given, place.pointer);
  return (value, at) => {
    const before = at.errors.length;
    const fits = tryAlternative(check, value, at);
    at.errors.length = before;
    return !fits || refuse(at, 'must NOT be valid');
  };
};

const anyOf: Keyword = (given, place) => {
  const checks = schemasOf(given, place);
  return (value, at) => {
    const before = at.errors.length;
    let fits = false;
    for (const check of checks) {
      if (!tryAlternative(check, value, at)) continue;
      fits = true;
      // The other alternatives may evaluate more of the value.
      if (at.evaluated === null) break;
    }
    if (!fits) return refuseAlso(at, 'must match a schema in anyOf');
    at.errors.length = before;
    return true;
  };
};

const oneOf: Keyword = (given, place) => {
  const checks = schemasOf(given, place);
  return (value, at) => {
    const before = at.errors.length;
    let fitting = 0;
    for (const check of checks) {
      if (tryAlternative(check, value, at)) fitting += 1;
      if (fitting > 1) break;
    }
    if (fitting !== 1) return refuseAlso(at, 'must match exactly one schema in oneOf');
    at.errors.length = before;
    return true;
  };
};

const allOf: Keyword = (given, place) => {
  const checks = schemasOf(given, place).filter((check) => check !== anything);
  return checks.length === 0 ? undefined : (value, at) => checks.every((check) => check(value, at));
};

const conditional: Keyword = (given, place) => {
  const condition = place.compile(given, place.pointer);
  const then = branchOf('then');
  const otherwise = branchOf('else');
  if (then === anything && otherwise === anything) return undefined;
  return (value, at) => {
    const before = at.errors.length;
    const holds = tryAlternative(condition, value, at);
    at.errors.length = before;
    const branch = holds ? then : otherwise;
    if (branch(value, at)) return true;
    // Outside alternatives the first error is the only one.
    return at.alternatives > 0 && refuseAlso(at, `must match "${holds ? 'then' : 'else'}" schema`);
  };

  function branchOf(name: 'then' | 'else'): Check {
    const schema = place.schema[name];
    if (schema === undefined) return anything;
    return place.compile(schema, memberPointer({ ...place, pointer: place.pointer.slice(0, -'/if'.length) }, name));
  }
};

/** In the order in which they are checked. */
export const anyKeywords: readonly (readonly [string, Keyword])[] = [
  ['$ref', reference],
  ['const', constant],
  ['enum', enumeration],
  ['not', not],
  ['anyOf', anyOf],
  ['oneOf', oneOf],
  ['allOf', allOf],
  ['if', conditional],
];
