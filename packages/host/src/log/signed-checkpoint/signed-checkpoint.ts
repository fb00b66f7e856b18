/** Writes and reads signed checkpoints line by line. A checkpoint kept elsewhere shows a cut or replaced history. */
import { createHash } from 'node:crypto';
import {
  CHECKPOINT_VERSION,
  type CheckpointHeader,
  type CheckpointRun,
  checkpointHeader,
  checkpointRun,
  checkpointSignature,
  isoTime,
  TerminalError,
} from '@cairn/protocol';
import { CheckedLines, type Line, memberOf } from '../bundle/checked-lines.ts';
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
  readonly #lines: CheckedLines;

  constructor(lines: Iterable<string>) {
    this.#lines = new CheckedLines(lines, {
      brokenOff: 'the checkpoint breaks off before its signature',
      otherwise: 'it is not written as checkpoints write it',
      error: wrongLine,
    });
  }

  header(): CheckpointHeader {
    const line = this.#lines.next();
    if (line.kind !== 'cairn-checkpoint') throw this.#lines.wrong('it is not the first line of a checkpoint');
    const version = memberOf(line.value, 'version');
    if (version !== CHECKPOINT_VERSION)
      throw this.#lines.wrong(
        `it has version ${JSON.stringify(version)}; this program reads version ${CHECKPOINT_VERSION}`,
      );
    return this.#lines.taken(checkpointHeader, line);
  }

  *runs(publicKey: string): Generator<CheckpointedRun> {
    let count = 0;
    for (;;) {
      const line = this.#lines.next();
      if (line.kind === 'signature') {
        this.#end(line, { count, publicKey });
        return;
      }
      const { runId, seq, hash } = this.#lines.taken(checkpointRun, line);
      count += 1;
      yield { runId, seq, hash };
    }
  }

  #end(line: Line, { count, publicKey }: { readonly count: number; readonly publicKey: string }): void {
    const end = this.#lines.shaped(checkpointSignature, line);
    if (end.runs !== count) throw this.#lines.wrong(`it says that there are ${end.runs} runs, but there are ${count}`);
    const sha256 = this.#lines.proven(end.sha256);
    if (!isSignedBy(publicKey, sha256, end.signature)) throw this.#lines.wrong(`the key ${publicKey} did not sign it`);
    this.#lines.end('something follows the signature');
  }
}

const wrongLine = (line: number, why: string): TerminalError =>
  new TerminalError('checkpoint_invalid', {
    message: `Line ${line} of the checkpoint is wrong: ${why}.`,
    hint: 'Use the file as the host wrote it. A checkpoint that somebody changed proves nothing.',
    details: { line },
  });

const foreignKey = (publicKey: string, trusted: readonly string[]): TerminalError =>
  new TerminalError('checkpoint_invalid', {
    message: `The checkpoint is signed by ${publicKey}, not by a trusted key (${trusted.join(', ') || 'there is none'}).`,
    hint: 'Name the public key of its host with --key. The discovery document of the host shows it.',
    details: { publicKey },
  });
