/** Functions of bytes. */
import { Failure } from './cel-values.ts';
import { type Priced, priced } from './priced.ts';
import { prices } from './prices.ts';

const copied = (bytes: Uint8Array): number => prices.time + bytes.length * prices.character;

export const byteFunctions: Readonly<Record<string, Priced>> = {
  'bytes(bytes): bytes': priced(0, (bytes: Uint8Array) => bytes),
  'bytes(string): bytes': priced(
    (text: string) => prices.time + text.length * prices.character,
    (text: string) => new TextEncoder().encode(text),
  ),
  'size(bytes): int': priced(prices.integer, (bytes: Uint8Array) => BigInt(bytes.length)),
  'bytes.size(): int': priced(prices.integer, (bytes: Uint8Array) => BigInt(bytes.length)),
  'string(bytes): string': priced(copied, textOf),
  'bytes.string(): string': priced(copied, textOf),
  'bytes.hex(): string': priced(copied, hexOf),
  'bytes.base64(): string': priced(copied, (bytes: Uint8Array) => btoa(latin1(bytes))),
  'bytes.json(): dyn': priced(
    (bytes: Uint8Array) => prices.time + bytes.length * prices.jsonCharacter,
    (bytes: Uint8Array): unknown => parsed(textOf(bytes)),
  ),
  'bytes.at(int): int': priced(prices.integer, (bytes: Uint8Array, index: bigint) => {
    const byte = bytes[Number(index)];
    if (byte === undefined) throw new Failure('an index is out of range');
    return BigInt(byte);
  }),
};

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function hexOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += DIGITS.charAt(byte >> 4) + DIGITS.charAt(byte & 15);
  return text;
}

const DIGITS = '0123456789abcdef';

/** One character for each byte. */
const latin1 = (bytes: Uint8Array): string => {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure('json() needs the bytes of a JSON text');
  }
}
