/** Keywords for objects. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { spend } from '../cost-budget.ts';
import { anything, type Check, type Checking, checkMember, refuse, refuseAlso, tryAlternative } from './checking.ts';
import { countOf, type Keyword, memberPointer, membersOf, namedSchemasOf, namesOf, type Place } from './place.ts';

const maxProperties: Keyword = (given, place) => {
  const most = countOf(given, place);
  return (value, at) =>
    !isJsonObject(value) || count(value, at) <= most || refuse(at, `must NOT have more than ${most} properties`);
};

const minProperties: Keyword = (given, place) => {
  const least = countOf(given, place);
  return (value, at) =>
    !isJsonObject(value) || count(value, at) >= least || refuse(at, `must NOT have fewer than ${least} properties`);
};

const count = (value: JsonObject, at: Checking): number => namesIn(value, at).length;

function namesIn(value: JsonObject, at: Checking): readonly string[] {
  const names = Object.keys(value);
  spend(at, names.length > MANY_NAMES ? 6 * names.length : names.length);
  return names;
}

/** Beyond about this many names the runtime keeps an object as a hash table, and each name costs 100 ns. */
const MANY_NAMES = 500;

const required: Keyword = (given, place) => {
  const names = namesOf(given, place);
  return (value, at) => {
    if (!isJsonObject(value)) return true;
    const missing = missingOf(value, names, at);
    return missing === undefined || refuse(at, `must have required property '${missing}'`);
  };
};

function missingOf(value: JsonObject, names: readonly string[], at: Checking): string | undefined {
  spend(at, names.length);
  for (const name of names) if (!has(value, name)) return name;
  return undefined;
}

const has = (value: JsonObject, name: string): boolean =>
  value[name] !== undefined && (!isInherited(name) || Object.hasOwn(value, name));

/** Every object seems to have these properties, such as `constructor`. Others need no slower look at the object itself. */
const isInherited = (name: string): boolean => name in Object.prototype;

/** Checks each name as a string. An error of the name belongs to the object. */
const propertyNames: Keyword = (given, place) => {
  const check = place.compile(given, place.pointer);
  if (check === anything) return undefined;
  return (value, at) => {
    if (!isJsonObject(value)) return true;
    return namesIn(value, at).every(
      (name) => checkName(check, name, at) || refuseAlso(at, 'property name must be valid'),
    );
  };
};

function checkName(check: Check, name: string, at: Checking): boolean {
  const { evaluated } = at;
  at.evaluated = null;
  const fits = tryAlternative(check, name, at);
  at.evaluated = evaluated;
  return fits;
}

const additionalProperties: Keyword = (given, place) => {
  const check = place.compile(given, place.pointer);
  const { properties: named, patternProperties: matched } = place.schema;
  const known = new Set(isJsonObject(named) ? Object.keys(named) : []);
  const patterns = isJsonObject(matched) ? Object.keys(matched).map((source) => place.pattern(source)) : [];
  return (value, at) => {
    if (!isJsonObject(value)) return true;
    if (check !== anything) {
      for (const name of namesIn(value, at)) {
        if (known.has(name) || patterns.some((pattern) => pattern.test(name, at))) continue;
        if (given === false) return refuse(at, 'must NOT have additional properties');
        if (!checkMember(check, value[name] as Json, name, at)) return false;
      }
    }
    if (at.evaluated !== null) at.evaluated.allProperties = true;
    return true;
  };
};

const properties: Keyword = (given, place) => {
  const named = namedSchemasOf(given, place);
  const checked = named
    .filter(([, check]) => check !== anything)
    .map(([name, check]) => ({ name, check, isInherited: isInherited(name) }));
  return (value, at) => {
    if (!isJsonObject(value)) return true;
    spend(at, checked.length);
    for (const { name, check, isInherited } of checked) {
      const member = value[name];
      if (member === undefined || (isInherited && !Object.hasOwn(value, name))) continue;
      if (!checkMember(check, member, name, at)) return false;
    }
    if (at.evaluated !== null) {
      spend(at, named.length);
      for (const [name] of named) at.evaluated.properties.add(name);
    }
    return true;
  };
};

const patternProperties: Keyword = (given, place) => {
  const named = namedSchemasOf(given, place).map(([source, check]) => ({ pattern: place.pattern(source), check }));
  return (value, at) => {
    if (!isJsonObject(value)) return true;
    for (const { pattern, check } of named) {
      for (const name of namesIn(value, at)) {
        if (!pattern.test(name, at)) continue;
        if (check !== anything && !checkMember(check, value[name] as Json, name, at)) return false;
        at.evaluated?.properties.add(name);
      }
    }
    return true;
  };
};

const dependentRequired: Keyword = (given, place) => {
  const checks = membersOf(given, place).map(([name, others]) => requiredWith(name, others, place));
  return (value, at) => checks.every((check) => check(value, at));
};

function requiredWith(property: string, given: Json, place: Place): Check {
  const names = namesOf(given, { ...place, pointer: memberPointer(place, property) });
  const needed = `${names.length === 1 ? 'property' : 'properties'} ${names.join(', ')}`;
  return (value, at) => {
    spend(at, 1);
    if (!isJsonObject(value) || !has(value, property)) return true;
    const missing = missingOf(value, names, at);
    return missing === undefined || refuse(at, `must have ${needed} when property ${property} is present`);
  };
}

const dependentSchemas: Keyword = (given, place) => {
  const checks = namedSchemasOf(given, place).map(([property, check]) => checkedWith(property, check));
  return (value, at) => checks.every((check) => check(value, at));
};

const checkedWith =
  (property: string, check: Check): Check =>
  (value, at) => {
    spend(at, 1);
    return !isJsonObject(value) || !has(value, property) || check(value, at);
  };

/** The older keyword for both kinds of dependencies. */
const dependencies: Keyword = (given, place) => {
  const members = membersOf(given, place);
  const checks = [
    ...members.filter(([, other]) => Array.isArray(other)).map(([name, other]) => requiredWith(name, other, place)),
    ...members
      .filter(([, other]) => !Array.isArray(other))
      .map(([name, other]) => checkedWith(name, place.compile(other, memberPointer(place, name)))),
  ];
  return (value, at) => checks.every((check) => check(value, at));
};

const unevaluatedProperties: Keyword = (given, place) => {
  const check = place.compile(given, place.pointer);
  return (value, at) => {
    const { evaluated } = at;
    if (!isJsonObject(value) || evaluated === null) return true;
    if (!evaluated.allProperties && check !== anything) {
      for (const name of namesIn(value, at)) {
        if (evaluated.properties.has(name)) continue;
        if (given === false) return refuse(at, 'must NOT have unevaluated properties');
        if (!checkMember(check, value[name] as Json, name, at)) return false;
      }
    }
    evaluated.allProperties = true;
    return true;
  };
};

export const objectKeywords: readonly (readonly [string, Keyword])[] = [
  ['maxProperties', maxProperties],
  ['minProperties', minProperties],
  ['required', required],
  ['propertyNames', propertyNames],
  ['additionalProperties', additionalProperties],
  ['dependencies', dependencies],
  ['properties', properties],
  ['patternProperties', patternProperties],
  ['dependentRequired', dependentRequired],
  ['dependentSchemas', dependentSchemas],
  ['unevaluatedProperties', unevaluatedProperties],
];
