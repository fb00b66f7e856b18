/** Functions that convert values or tell their kind and size. */
import { type CelMap, Failure, int, kindOf, TypeValue, type Uint, uint } from './cel-values.ts';
import { type Priced, priced } from './priced.ts';
import { prices } from './prices.ts';

const same = (value: unknown): unknown => value;
const searched = (text: string): number => prices.object + text.length * prices.character;

/**
 * Listing the keys of a map is the only way to count them, and the most costly part: 10 ms for the largest map of a
 * request. So the price lists them once for both.
 */
function mapSize(): Priced {
  let count = 0;
  return priced(
    (map: CelMap) => {
      count = Object.keys(map).length;
      return count * prices.key;
    },
    () => BigInt(count),
  );
}

export const conversions: Readonly<Record<string, Priced>> = {
  'dyn(dyn): dyn': priced(0, same),
  'type(dyn): type': priced(
    prices.object,
    (value: unknown) => new TypeValue(typeNames[kindOf(value)] ?? kindOf(value)),
  ),
  'bool(bool): bool': priced(0, same),
  'bool(string): bool': priced(prices.object, boolOf),
  'size(string): int': priced(searched, codePoints),
  'size(list): int': priced(prices.integer, (list: readonly unknown[]) => BigInt(list.length)),
  'size(map): int': mapSize(),
  'string.size(): int': priced(searched, codePoints),
  'list.size(): int': priced(prices.integer, (list: readonly unknown[]) => BigInt(list.length)),
  'map.size(): int': mapSize(),
  'double(double): double': priced(0, same),
  'double(int): double': priced(prices.object, (value: bigint) => Number(value)),
  'double(uint): double': priced(prices.object, ({ value }: Uint) => Number(value)),
  'double(string): double': priced((text: string) => prices.number + text.length * prices.character, doubleOf),
  'int(int): int': priced(0, same),
  'int(uint): int': priced(prices.integer, ({ value }: Uint) => int(value)),
  'int(double): int': priced(prices.number, (value: number) => int(whole(value))),
  'int(string): int': priced(prices.number, (text: string) => int(integerOf(text, /^[+-]?\d{1,20}$/))),
  'uint(uint): uint': priced(0, same),
  'uint(int): uint': priced(prices.object, (value: bigint) => uint(value)),
  'uint(double): uint': priced(prices.number, (value: number) => uint(whole(value))),
  'uint(string): uint': priced(prices.number, (text: string) => uint(integerOf(text, /^\d{1,20}$/))),
  'string(string): string': priced(0, same),
  'string(bool): string': priced(prices.object, (value: boolean) => String(value)),
  'string(int): string': priced(prices.number, (value: bigint) => String(value)),
  'string(uint): string': priced(prices.number, ({ value }: Uint) => String(value)),
  'string(double): string': priced(prices.number, textOf),
};

const typeNames: Readonly<Record<string, string>> = {
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
};

function boolOf(text: string): boolean {
  switch (text) {
    case '1':
    case 't':
    case 'true':
    case 'TRUE':
    case 'True':
      return true;
    case '0':
    case 'f':
    case 'false':
    case 'FALSE':
    case 'False':
      return false;
    default:
      throw new Failure('bool() needs a text such as "true" or "false"');
  }
}

/** The number of code points, not of UTF-16 units. */
function codePoints(text: string): bigint {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    const isPair = (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
    if (isPair) {
      count -= 1;
      i += 1;
    }
  }
  return BigInt(count);
}

const named: Readonly<Record<string, number>> = {
  inf: Number.POSITIVE_INFINITY,
  infinity: Number.POSITIVE_INFINITY,
  nan: Number.NaN,
};

function doubleOf(text: string): number {
  const number = text === '' || text !== text.trim() ? Number.NaN : Number(text);
  if (!Number.isNaN(number)) return number;
  const [, sign, name = ''] = /^([+-]?)([a-z]{3,8})$/i.exec(text) ?? [];
  const value = Object.hasOwn(named, name.toLowerCase()) ? named[name.toLowerCase()] : undefined;
  if (value === undefined) throw new Failure('double() needs the text of a number');
  return sign === '-' ? -value : value;
}

function whole(value: number): bigint {
  if (Number.isFinite(value)) return BigInt(Math.trunc(value));
  throw new Failure('an integer overflows 64 bits');
}

function integerOf(text: string, form: RegExp): bigint {
  if (text.length <= 21 && form.test(text)) return BigInt(text.replace('+', ''));
  throw new Failure('int() and uint() need the text of an integer');
}

function textOf(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
