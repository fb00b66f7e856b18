/** The values of an expression, by kind. JSON numbers are doubles; integers are bigints. */

export type Kind =
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'list'
  | 'map'
  | 'timestamp'
  | 'duration'
  | 'type';

/** An unsigned integer. */
export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A type as a value: what `type(x)` gives, and what the name `int` means. */
export class TypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * An evaluation that failed. Not an Error: a macro can swallow thousands of failures, and the stack of an Error costs
 * ten times as much as the failure itself.
 */
export class Failure {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** How deep values may be nested that are compared or returned. */
export const MAX_VALUE_DEPTH = 64;

export const tooDeep = (): Failure => new Failure(`a value is nested deeper than ${MAX_VALUE_DEPTH} levels`);

export function kindOf(value: unknown): Kind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'double';
    case 'bigint':
      return 'int';
    case 'boolean':
      return 'bool';
    default:
      return value === null ? 'null' : kindOfObject(value);
  }
}

function kindOfObject(value: unknown): Kind {
  if (Array.isArray(value)) return 'list';
  if (value instanceof Date) return 'timestamp';
  if (value instanceof Duration) return 'duration';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof TypeValue) return 'type';
  if (typeof value === 'object') return 'map';
  throw new Failure('a value has no kind');
}

export type CelMap = Readonly<Record<string, unknown>>;

/** For values that `kindOf` calls lists. */
export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
export const isMap = (value: unknown): value is CelMap =>
  typeof value === 'object' && value !== null && kindOfObject(value) === 'map';

/** The name of a map's field that a value stands for; undefined if it stands for none. */
export function fieldName(key: unknown): string | undefined {
  switch (typeof key) {
    case 'string':
      return key;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(key);
    default:
      return undefined;
  }
}

const MAX_INT = 9_223_372_036_854_775_807n;
const MIN_INT = -9_223_372_036_854_775_808n;
const MAX_UINT = 18_446_744_073_709_551_615n;

/** Throws a Failure unless the number fits 64 bits, so that arithmetic stays cheap. */
export function int(value: bigint): bigint {
  if (value <= MAX_INT && value >= MIN_INT) return value;
  throw new Failure('an integer overflows 64 bits');
}

export function uint(value: bigint): Uint {
  if (value <= MAX_UINT && value >= 0n) return new Uint(value);
  throw new Failure('an unsigned integer overflows 64 bits');
}

/** The years 1 to 9999. */
export function timestamp(ms: number): Date {
  if (ms <= 253_402_300_799_999 && ms >= -62_135_596_800_000) return new Date(ms);
  throw new Failure('a timestamp needs ISO 8601 text or seconds since 1970, in the years 1 to 9999');
}
