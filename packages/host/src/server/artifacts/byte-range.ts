/** The part of a file that a request asks for. */

/** From `start` to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
  readonly isPart: boolean;
}

/** An invalid range, or several ranges, return the whole file, as HTTP allows. */
export function byteRange(header: string | undefined, size: number): ByteRange {
  const whole = { start: 0, end: size, isPart: false };
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return whole;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start < end ? { start, end, isPart: true } : whole;
}
