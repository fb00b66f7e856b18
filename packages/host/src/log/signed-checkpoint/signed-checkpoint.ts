/** Writes and reads signed checkpoints line by line. A checkpoint kept elsewhere shows a cut or replaced history. */
import { createHash } from 'node:crypto';
import {
  CHECKPOINT_VERSION,
  type CheckpointHeader,
  type CheckpointRun,
  checkpointHeader,
  checkpointRun,
  checkpointSignature,
  type DataOf,
  isCairnError,
  isoTime,
  parseShape,
  TerminalError,
} from '@cairn/protocol';
import type { z } from 'zod';
import { isSignedBy, type SigningKey } from './signing-keys.ts';

/** Where the log of a run stood. */
export type CheckpointedRun = Omit<CheckpointRun, 'kind'>;

export interface CheckpointSource {
  readonly at: number;
  readonly key: SigningKey;
  readonly runs: Iterable<CheckpointedRun>;
}

/** The lines, each without its newline. */
export function* checkpointLines({ at, key, runs }: CheckpointSource): Generator<string> {
  const bytes = createHash('sha256');
  const line = (value: CheckpointHeader | CheckpointRun): string => {
    const text = JSON.stringify(value);
    bytes.update(`${text}\n`);
    return text;
  };
  yield line({ kind: 'cairn-checkpoint', version: CHECKPOINT_VERSION, at: isoTime(at), publicKey: key.publicKey });
  let count = 0;
  for (const { runId, seq, hash } of runs) {
    yield line({ kind: 'run', runId, seq, hash });
    count += 1;
  }
  const sha256 = bytes.digest('hex');
  yield JSON.stringify({ kind: 'signature', runs: count, sha256, signature: key.sign(sha256) });
}

export interface SignedCheckpoint {
  readonly at: string;
  readonly publicKey: string;
  /** Can be iterated once. Reaching the end proves the signature. */
  readonly runs: Iterable<CheckpointedRun>;
}

/** Opens a checkpoint. Only a key in `trusted` counts. `checkpoint_invalid` names the first line that is wrong. */
export function readCheckpoint(lines: Iterable<string>, trusted: readonly string[]): SignedCheckpoint {
  const reader = new CheckpointReader(lines);
  const { at, publicKey } = reader.header();
  if (!trusted.includes(publicKey)) throw foreignKey(publicKey, trusted);
  return { at, publicKey, runs: reader.runs(publicKey) };
}

class CheckpointReader {
  readonly #lines: Iterator<string>;
  readonly #bytes = createHash('sha256');
  #number = 0;

  constructor(lines: Iterable<string>) {
    this.#lines = lines[Symbol.iterator]();
  }

  header(): CheckpointHeader {
    const text = this.#next();
    const value = this.#parsed(text);
    if (memberOf(value, 'kind') !== 'cairn-checkpoint') throw this.#wrong('it is not the first line of a checkpoint');
    const version = memberOf(value, 'version');
    if (version !== CHECKPOINT_VERSION)
      throw this.#wrong(`it has version ${JSON.stringify(version)}; this program reads version ${CHECKPOINT_VERSION}`);
    return this.#taken(checkpointHeader, text, value);
  }

  *runs(publicKey: string): Generator<CheckpointedRun> {
    let count = 0;
    for (;;) {
      const text = this.#next();
      const value = this.#parsed(text);
      if (memberOf(value, 'kind') === 'signature') {
        this.#end(text, value, { count, publicKey });
        return;
      }
      const { runId, seq, hash } = this.#taken(checkpointRun, text, value);
      count += 1;
      yield { runId, seq, hash };
    }
  }

  #end(text: string, value: unknown, { count, publicKey }: { readonly count: number; readonly publicKey: string }) {
    const end = this.#shaped(checkpointSignature, value);
    if (JSON.stringify(end) !== text) throw this.#wrong('it is not written as checkpoints write it');
    if (end.runs !== count) throw this.#wrong(`it says that there are ${end.runs} runs, but there are ${count}`);
    const sha256 = this.#bytes.digest('hex');
    if (end.sha256 !== sha256) throw this.#wrong(`the lines before it have the sha256 ${sha256}, not ${end.sha256}`);
    if (!isSignedBy(publicKey, sha256, end.signature)) throw this.#wrong(`the key ${publicKey} did not sign it`);
    if (this.#lines.next().done !== true) throw this.#wrong('something follows it');
  }

  #next(): string {
    this.#number += 1;
    const next = this.#lines.next();
    if (next.done === true) throw this.#wrong('the checkpoint breaks off before its signature');
    return next.value;
  }

  #parsed(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.#wrong('it is not JSON');
    }
  }

  #taken<Schema extends z.ZodType>(shape: Schema, text: string, value: unknown): DataOf<Schema> {
    const shaped = this.#shaped(shape, value);
    if (JSON.stringify(shaped) !== text) throw this.#wrong('it is not written as checkpoints write it');
    this.#bytes.update(`${text}\n`);
    return shaped;
  }

  #shaped<Schema extends z.ZodType>(shape: Schema, value: unknown): DataOf<Schema> {
    try {
      return parseShape(shape, value, 'it');
    } catch (error) {
      throw isCairnError(error) ? this.#wrong(error.message.replace(/\.$/, '')) : error;
    }
  }

  #wrong(why: string): TerminalError {
    return new TerminalError('checkpoint_invalid', {
      message: `Line ${this.#number} of the checkpoint is wrong: ${why}.`,
      hint: 'Use the file as the host wrote it. A checkpoint that somebody changed proves nothing.',
      details: { line: this.#number },
    });
  }
}

const foreignKey = (publicKey: string, trusted: readonly string[]): TerminalError =>
  new TerminalError('checkpoint_invalid', {
    message: `The checkpoint is signed by ${publicKey}, not by a trusted key (${trusted.join(', ') || 'there is none'}).`,
    hint: 'Name the public key of its host with --key. The discovery document of the host shows it.',
    details: { publicKey },
  });

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
