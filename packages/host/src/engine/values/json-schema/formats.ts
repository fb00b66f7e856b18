/** The formats that schemas may name. All are checked in time that grows linearly with the text. */
import { type Json, quoted } from '@cairn/protocol';
import { type FormatName, fullFormats } from 'ajv-formats/dist/formats.js';

export type FormatCheck = (value: Json) => boolean;

/** The maximum length of a text of most formats. A longer one does not fit. */
const MAX_LENGTH = 256;

/** The maximum length of addresses and paths. Their checks are linear, but backtracking takes memory for each character. */
const MAX_PATH_LENGTH = 8_192;

/** Formats of ajv-formats whose checks are linear. Its `url` is quadratic, so it has a check of our own below. */
const short: readonly FormatName[] = [
  'date',
  'time',
  'date-time',
  'iso-time',
  'iso-date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
];
const paths: readonly FormatName[] = [
  'uri',
  'uri-reference',
  'uri-template',
  'json-pointer',
  'json-pointer-uri-fragment',
  'relative-json-pointer',
];

/** Formats that only describe. Schemas made with zod name them and check the text with a pattern. */
const descriptive: readonly string[] = [
  'float',
  'double',
  'password',
  'binary',
  'base64',
  'base64url',
  'cidrv4',
  'cidrv6',
  'cuid',
  'cuid2',
  'e164',
  'emoji',
  'jwt',
  'ksuid',
  'nanoid',
  'ulid',
  'xid',
];

/** The maximum length of a pattern as a value. It is parsed, never executed. */
const MAX_PATTERN_LENGTH = 1_000;

const isUrl = (text: string): boolean =>
  /^(?:https?|ftp):\/\/[^\s/?#]/i.test(text) && !/\s/.test(text) && URL.canParse(text);

function isRegex(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** Base64 may hold a file, so its length is not limited. */
const byte: FormatCheck = (value) =>
  typeof value !== 'string' || (value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value));

const isInteger: FormatCheck = (value) => typeof value !== 'number' || Number.isInteger(value);
const isInt32: FormatCheck = (value) => typeof value !== 'number' || (value | 0) === value;

/** The formats by name, with their checks; undefined for a format that only describes. */
export const knownFormats: ReadonlyMap<string, FormatCheck | undefined> = new Map([
  ...short.map((name) => [name, textCheck(ajvCheck(name), MAX_LENGTH)] as const),
  ...paths.map((name) => [name, textCheck(ajvCheck(name), MAX_PATH_LENGTH)] as const),
  ['url', textCheck(isUrl, MAX_PATH_LENGTH)] as const,
  ['regex', textCheck(isRegex, MAX_PATTERN_LENGTH)] as const,
  ['byte', byte] as const,
  ['int32', isInt32] as const,
  ['int64', isInteger] as const,
  ...descriptive.map((name) => [name, undefined] as const),
]);

export const unknownFormat = (name: string): Error =>
  new Error(`the format ${quoted(name, 100)} is not known; there are ${[...knownFormats.keys()].sort().join(', ')}`);

function textCheck(fits: (text: string) => boolean, maxLength: number): FormatCheck {
  return (value) => typeof value !== 'string' || (value.length <= maxLength && fits(value));
}

function ajvCheck(name: FormatName): (text: string) => boolean {
  const format: unknown = fullFormats[name];
  const fits = typeof format === 'object' && format !== null && 'validate' in format ? format.validate : format;
  if (fits instanceof RegExp) return (text) => fits.test(text);
  if (!isTextCheck(fits)) throw new Error(`ajv-formats has no check for ${name}`);
  return fits;
}

function isTextCheck(check: unknown): check is (text: string) => boolean {
  return typeof check === 'function';
}
