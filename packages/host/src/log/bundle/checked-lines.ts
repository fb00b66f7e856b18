/** Reads lines of JSON whose every byte counts: each has a shape, is written in one way, and is part of one digest. */
import { createHash } from 'node:crypto';
import { type DataOf, isCairnError, parseShape, type TerminalError } from '@cairn/protocol';
import type { z } from 'zod';

export interface Line {
  readonly text: string;
  readonly kind: unknown;
  readonly value: unknown;
}

/** How a file of lines is called in errors. */
export interface LineWords {
  /** Said of a file that ends too early. */
  readonly brokenOff: string;
  /** Said of a line with the right content in other bytes. */
  readonly otherwise: string;
  readonly error: (line: number, why: string) => TerminalError;
}

export class CheckedLines {
  readonly #lines: Iterator<string>;
  readonly #words: LineWords;
  readonly #bytes = createHash('sha256');
  #number = 0;

  constructor(lines: Iterable<string>, words: LineWords) {
    this.#lines = lines[Symbol.iterator]();
    this.#words = words;
  }

  next(): Line {
    this.#number += 1;
    const next = this.#lines.next();
    if (next.done === true) throw this.wrong(this.#words.brokenOff);
    const text = next.value;
    try {
      const value: unknown = JSON.parse(text) ?? {};
      return { text, kind: memberOf(value, 'kind'), value };
    } catch {
      throw this.wrong('it is not JSON');
    }
  }

  /** Checks the shape of a line and that it is written as its writer writes it, and adds its bytes to the digest. */
  taken<Schema extends z.ZodType>(shape: Schema, line: Line): DataOf<Schema> {
    const shaped = this.shaped(shape, line);
    this.#bytes.update(`${line.text}\n`);
    return shaped;
  }

  /** The same without the digest, for the line that holds it. */
  shaped<Schema extends z.ZodType>(shape: Schema, { text, value }: Line): DataOf<Schema> {
    const shaped = this.#parsed(shape, value);
    if (JSON.stringify(shaped) !== text) throw this.wrong(this.#words.otherwise);
    return shaped;
  }

  /** Throws unless the digest of all lines that were taken is this one. Returns it. */
  proven(sha256: string): string {
    const actual = this.#bytes.digest('hex');
    if (actual === sha256) return actual;
    throw this.wrong(`the lines before it have the sha256 ${actual}, not ${sha256}`);
  }

  /** Throws if another line follows. */
  end(why: string): void {
    if (this.#lines.next().done === true) return;
    this.#number += 1;
    throw this.wrong(why);
  }

  wrong(why: string): TerminalError {
    return this.#words.error(this.#number, why);
  }

  #parsed<Schema extends z.ZodType>(shape: Schema, value: unknown): DataOf<Schema> {
    try {
      return parseShape(shape, value, 'it');
    } catch (error) {
      throw isCairnError(error) ? this.wrong(error.message.replace(/\.$/, '')) : error;
    }
  }
}

export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
