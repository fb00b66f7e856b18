/** The part of a file that a request asks for. */
import type { IncomingHttpHeaders } from 'node:http';

/** From `start` to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
  readonly isPart: boolean;
}

/** The version of a file that is read. */
interface RangedFile {
  readonly etag: string;
  readonly size: number;
}

/**
 * An invalid range, or several ranges, return the whole file, as HTTP allows. So does a client that goes on with another
 * version (`If-Range`): a part of this one would not fit to what it has.
 */
export function byteRange({ range: header, ...headers }: IncomingHttpHeaders, { etag, size }: RangedFile): ByteRange {
  const whole = { start: 0, end: size, isPart: false };
  const ifRange = headers['if-range'];
  if (ifRange !== undefined && ifRange !== etag) return whole;
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return whole;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start < end ? { start, end, isPart: true } : whole;
}
