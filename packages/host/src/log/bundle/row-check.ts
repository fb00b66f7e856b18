/** Views trust stored payloads without validating them again, so rows that no host would write are rejected here. */
import { eventPayloads, isEventType, isTerminalType } from '@cairn/protocol';
import type { z } from 'zod';
import { utf8Size } from '../../utf8.ts';
import { artifactChanges, blobsOf } from '../artifact-changes.ts';
import { pinnedDefinitions } from '../pinned-definitions.ts';
import { MAX_EVENT_BYTES, type Row } from '../ports/rows.ts';
import type { KnownParts } from './known-parts.ts';

interface CheckedRun {
  readonly runId: string;
  readonly originRunId: string;
  readonly contextId: string;
  readonly definitionHash: string;
}

interface CheckedRow {
  readonly seq: number;
  readonly type: string;
  readonly nodeId: string | null;
  readonly payload: string | null;
}

/** The checks of one run. Collects the definitions that it is pinned to, and the blobs that its rows name. */
export class RowCheck {
  readonly #run: CheckedRun;
  readonly #known: KnownParts;
  #ended = false;

  constructor(run: CheckedRun, known: KnownParts) {
    this.#run = run;
    this.#known = known;
  }

  /** What is wrong with the next row; null if nothing is. */
  wrong(row: CheckedRow): string | null {
    const { seq, type } = row;
    if (this.#ended) return `event ${seq} follows the event that ended the run`;
    this.#ended = isTerminalType(type);
    if (seq === 0 && type !== 'run.started') return `the first event is ${type}, not run.started`;
    return textProblem(row) ?? this.#bodyProblem(row);
  }

  #bodyProblem({ seq, type, payload }: CheckedRow): string | null {
    if (payload === null) return seq === 0 ? this.#unstarted() : null;
    const value = parsed(payload);
    if (value === undefined) return `the payload of event ${seq} is not JSON`;
    if (isEventType(type)) {
      const schema: z.ZodType = eventPayloads[type];
      const { error } = schema.safeParse(value);
      const [issue] = error?.issues ?? [];
      if (issue !== undefined)
        return `the payload of event ${seq} (${type}) is wrong at ${issue.path.join('.') || 'its top'}: ${issue.message}`;
    }
    return seq === 0 ? this.#started(value) : this.#blobProblem({ seq, type, payload });
  }

  #blobProblem({ seq, type, payload }: Pick<Row, 'seq' | 'type' | 'payload'>): string | null {
    for (const hash of blobsOf(artifactChanges([{ seq, at: 0, type, nodeId: null, cause: null, payload }]))) {
      if (!this.#known.blobs.has(hash)) return `the bundle lacks the blob ${hash}, which event ${seq} names`;
      this.#known.usedBlobs.add(hash);
    }
    return null;
  }

  #started(payload: unknown): string | null {
    const { workflow, hashes, startedIn } = pinnedDefinitions(payload);
    if (workflow !== this.#run.definitionHash) return 'the run was started with another definition';
    const { runId, originRunId, contextId } = this.#run;
    // A fork shares this event with its source, which has another context.
    if (startedIn !== null && startedIn !== contextId && runId === originRunId)
      return 'the run was started in another context';
    for (const hash of hashes) {
      if (!this.#known.definitions.has(hash))
        return `the bundle lacks the definition ${hash}, which the run is pinned to`;
      this.#known.usedDefinitions.add(hash);
    }
    return null;
  }

  /** The pins of a run whose first row was retired are not known any more. */
  #unstarted(): null {
    for (const hash of this.#known.definitions.keys()) this.#known.usedDefinitions.add(hash);
    return null;
  }
}

function textProblem({ seq, type, nodeId, payload }: CheckedRow): string | null {
  const bytes = utf8Size(payload ?? '');
  if (bytes > MAX_EVENT_BYTES) return `event ${seq} has ${bytes} bytes; the limit is ${MAX_EVENT_BYTES}`;
  const texts = [type, nodeId ?? '', payload ?? ''];
  return texts.every((text) => text.isWellFormed()) ? null : `event ${seq} holds text that is not Unicode`;
}

/** Undefined for text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
