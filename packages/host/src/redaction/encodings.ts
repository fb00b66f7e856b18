/**
 * The encodings in which a secret may appear in external text: verbatim, JSON, URL, base64 and the usual combinations.
 */

/** Every encoded form of the secret. For base64, only the characters that do not depend on neighbouring bytes. */
export function spellings(secret: string): ReadonlySet<string> {
  const plain = new Set([secret, ...jsonEscaped(secret)]);
  const packed = each(plain, base64Encoded);
  const all = new Set([...plain, ...packed, ...each(plain, urlEncoded), ...each(packed, urlEncoded)]);
  return new Set([...all, ...each(all, jsonEscaped)]);
}

/** Applies an encoding to every text. The set removes duplicates: most encodings leave most texts unchanged. */
const each = (texts: ReadonlySet<string>, encoded: (text: string) => readonly string[]): ReadonlySet<string> =>
  new Set([...texts].flatMap(encoded));

const hex4 = (unit: string): string => unit.charCodeAt(0).toString(16).padStart(4, '0');

/** Covers the variants of JSON writers: minimal escapes, escaped slashes, HTML-safe and ASCII-only. */
function jsonEscaped(text: string): readonly string[] {
  const least = JSON.stringify(text).slice(1, -1);
  const forHtml = least.replace(/[<>&\u2028\u2029]/g, (unit) => `\\u${hex4(unit)}`);
  const inAscii = least.replace(/[\u007f-\uffff]/g, (unit) => `\\u${hex4(unit)}`);
  const both = [least, least.replaceAll('/', '\\/'), forHtml, inAscii];
  return [
    ...both,
    ...both.map((form) => form.replace(/\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`)),
  ];
}

/** As a URL component, a whole URL and a form field, with hexadecimal digits in either case. */
function urlEncoded(text: string): readonly string[] {
  const part = encodeURIComponent(text);
  const strict = part.replace(/[!'()*]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = strict.replaceAll('%20', '+').replaceAll('~', '%7E').replaceAll('%2A', '*');
  const all = [part, strict, form, encodeURI(text)];
  return [...all, ...all.map((one) => one.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

/** At each of the three byte offsets in a base64 group, in both alphabets. */
function base64Encoded(text: string): readonly string[] {
  const bytes = new TextEncoder().encode(text);
  return [0, 1, 2].flatMap((before) => {
    const shifted = new Uint8Array(before + bytes.length);
    shifted.set(bytes, before);
    const whole = btoa(Array.from(shifted, (byte) => String.fromCharCode(byte)).join(''));
    // A base64 character holds six bits. Characters that share bits with neighbouring bytes are cut off.
    const own = whole.slice(Math.ceil((before * 8) / 6), Math.floor((shifted.length * 8) / 6));
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
