/** Keywords for numbers and strings. */
import { spend } from '../cost-budget.ts';
import { refuse } from './checking.ts';
import { countOf, type Keyword, numberOf, textOf, wrong } from './place.ts';

const limit =
  (sign: string, fits: (value: number, limit: number) => boolean): Keyword =>
  (given, place) => {
    const bound = numberOf(given, place);
    return (value, at) => typeof value !== 'number' || fits(value, bound) || refuse(at, `must be ${sign} ${bound}`);
  };

const multipleOf: Keyword = (given, place) => {
  const unit = numberOf(given, place);
  if (unit <= 0) throw wrong(place.pointer, 'must be > 0');
  return (value, at) =>
    typeof value !== 'number' || Number.isInteger(value / unit) || refuse(at, `must be multiple of ${unit}`);
};

const maxLength: Keyword = (given, place) => {
  const most = countOf(given, place);
  return (value, at) => {
    if (typeof value !== 'string' || value.length <= most) return true;
    spend(at, value.length >> 3);
    return characters(value) <= most || refuse(at, `must NOT have more than ${most} characters`);
  };
};

const minLength: Keyword = (given, place) => {
  const least = countOf(given, place);
  return (value, at) => {
    if (typeof value !== 'string' || value.length >= 2 * least) return true;
    spend(at, value.length >> 3);
    return characters(value) >= least || refuse(at, `must NOT have fewer than ${least} characters`);
  };
};

/** Counts code points, as JSON Schema does. */
function characters(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index += 1) {
    if ((text.charCodeAt(index) & 0xfc00) !== 0xd800) continue;
    if ((text.charCodeAt(index + 1) & 0xfc00) !== 0xdc00) continue;
    count -= 1;
    index += 1;
  }
  return count;
}

const pattern: Keyword = (given, place) => {
  const { source, test } = place.pattern(textOf(given, place));
  return (value, at) => typeof value !== 'string' || test(value, at) || refuse(at, `must match pattern "${source}"`);
};

const format: Keyword = (given, place) => {
  const name = textOf(given, place);
  const fits = place.format(name);
  if (fits === undefined) return undefined;
  return (value, at) => {
    if (typeof value === 'string') spend(at, value.length >> 2);
    return fits(value) || refuse(at, `must match format "${name}"`);
  };
};

/** In the order in which they are checked, as all lists of keywords. */
export const numberKeywords: readonly (readonly [string, Keyword])[] = [
  ['maximum', limit('<=', (value, most) => value <= most)],
  ['minimum', limit('>=', (value, least) => value >= least)],
  ['exclusiveMaximum', limit('<', (value, bound) => value < bound)],
  ['exclusiveMinimum', limit('>', (value, bound) => value > bound)],
  ['multipleOf', multipleOf],
  ['format', format],
];

export const stringKeywords: readonly (readonly [string, Keyword])[] = [
  ['maxLength', maxLength],
  ['minLength', minLength],
  ['pattern', pattern],
  ['format', format],
];
