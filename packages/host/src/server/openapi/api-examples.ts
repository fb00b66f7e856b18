/** The examples of the API description: requests that a real host was sent, and what it answered. */
import { readFileSync } from 'node:fs';
import type { Json } from '@cairn/protocol';

/** One request of an operation and its answer. */
export interface ApiExample {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly status: number;
  /** Absent when the answer has no body. */
  readonly response?: Json;
  /** The first frames for a client that accepts a stream. */
  readonly stream?: string;
}

/** By operation id. */
export type ApiExamples = Readonly<Record<string, ApiExample>>;

/** The assets folder is next to both `src` and `dist`. */
export const apiExamplesFile = new URL('../../../assets/api-examples.json', import.meta.url);

export const readApiExamples = (): ApiExamples => JSON.parse(readFileSync(apiExamplesFile, 'utf8')) as ApiExamples;
