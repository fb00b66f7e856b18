/** RunDiff: what differs between two runs. The protocol closes its shape; what Cairn adds is in the open `stateDiff`. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count, json, jsonObject, text } from '../fields.ts';
import { runStatuses } from './run-status.ts';

const op = z.enum(['added', 'removed', 'changed']);

/** A text as parts of both: in each, in the second only, in the first only. */
const textParts = z.array(z.looseObject({ op: z.enum(['same', 'added', 'removed']), text: z.string() }));

/** A side that lacks the value has no field. */
const valueChange = z.looseObject({
  path: z.string(),
  a: json.optional(),
  b: json.optional(),
  text: textParts.optional(),
});

/** Where a move begins in one of the runs. */
const moveSide = z.looseObject({
  seq: count,
  /** The result comes from the record of the source of a branch. */
  reused: z.boolean().optional(),
  /** For a child run: its id, to be compared on its own. */
  runId: text.optional(),
});

/** One thing that differs: a decision, a tool call, a model turn, an answer, a text, a child run. */
const diffEntry = z.looseObject({
  /** Its place by meaning, such as `write#0/tool1.0`: node, visit, kind and number. */
  key: text,
  kind: text,
  nodeId: z.string().optional(),
  visit: count,
  op,
  a: moveSide.optional(),
  b: moveSide.optional(),
  changes: z.array(valueChange),
});

const both = <Shape extends z.ZodType>(shape: Shape) => z.looseObject({ a: shape, b: shape });
const figures = both(z.number());

const section = z.looseObject({
  /** Those that differ, in order, up to the limit of the request. */
  entries: z.array(diffEntry),
  changed: count,
  same: count,
});

/** The last version that a run wrote of an artifact. */
const artifactSide = z.looseObject({
  artifactId: text,
  version: count,
  /** Versions that the run wrote after what both runs share. */
  versions: count,
  /** The event that completed the version. */
  seq: count,
  family: z.enum(['file', 'data', 'dataset']),
  mimeType: z.string().optional(),
  /** Bytes of a file, characters of a record as JSON, rows of a dataset. */
  size: count,
  /** Of the content; a record has none. */
  sha256: z.string().optional(),
});

const hunkSide = z.looseObject({ start: count, lines: count });

/** Changed lines with a few unchanged ones around them, as in a unified diff. */
const hunk = z.looseObject({
  a: hunkSide,
  b: hunkSide,
  lines: z.array(
    z.looseObject({
      op: z.enum(['same', 'added', 'removed']),
      text: z.string(),
      /** The text ends here, without a line break. */
      noNewline: z.boolean().optional(),
    }),
  ),
});

/** How far the content of an artifact was compared. */
const contentComparisons = ['lines', 'same', 'binary', 'too_large', 'too_different', 'left_out', 'none'] as const;

const artifactEntry = z.looseObject({
  /** The id of the artifact, without the ids of its run. */
  key: text,
  op,
  a: artifactSide.optional(),
  b: artifactSide.optional(),
  /** What differs besides the content of the last version. */
  changes: z.array(valueChange),
  content: z.looseObject({
    compared: z.enum(contentComparisons),
    /** The bound, if the content lies beyond it. */
    limit: count.optional(),
    /** Lines of the whole difference. */
    added: count.optional(),
    removed: count.optional(),
    hunks: z.array(hunk).optional(),
    /** Lines that are not shown. */
    leftOut: count.optional(),
  }),
});

const cairnDiff = z.looseObject({
  /** The last sequence that both logs share as the same rows; -1 if they share none. */
  sharedUpTo: z.int().min(-1),
  /** The first events that differ in what they say. A run that has ended before has none. */
  firstDivergence: z
    .looseObject({
      a: z.looseObject({ seq: count, type: text, nodeId: z.string().optional() }).nullable(),
      b: z.looseObject({ seq: count, type: text, nodeId: z.string().optional() }).nullable(),
      changes: z.array(valueChange),
    })
    .nullable(),
  decisions: section,
  toolCalls: section,
  modelTurns: section,
  answers: section,
  texts: section,
  artifacts: z.looseObject({ entries: z.array(artifactEntry), changed: count, same: count }),
  children: section,
  totals: z.looseObject({
    status: both(z.enum(runStatuses)),
    events: figures,
    durationMs: figures,
    inputTokens: figures,
    outputTokens: figures,
    costUsd: figures,
    modelCalls: figures,
    toolCalls: figures,
  }),
  /** For a run that branched off within what is compared: from where, and with which changes. */
  branches: z.looseObject({ a: jsonObject.optional(), b: jsonObject.optional() }).optional(),
  /** What is not shown, in words, each with its number. */
  leftOut: z.array(z.looseObject({ what: text, count })),
});

export const runDiff = z
  .strictObject({
    a: text,
    b: text,
    divergedAtSeq: count.nullable(),
    eventDiffs: z.array(
      z.strictObject({ seq: count, op, aEvent: jsonObject.optional(), bEvent: jsonObject.optional() }),
    ),
    stateDiff: z.looseObject({
      variables: z.array(valueChange).optional(),
      channels: z.array(valueChange).optional(),
      inputs: z.array(valueChange).optional(),
      outputs: z.array(valueChange).optional(),
      error: z.array(valueChange).optional(),
      status: both(z.enum(runStatuses)).optional(),
      cairn: cairnDiff,
    }),
    /** One of the runs goes on, so only what it has so far was compared. */
    truncated: z.boolean().optional(),
  })
  .meta({ id: 'RunDiff' });

export type RunDiff = DataOf<typeof runDiff>;
export type DiffEntry = DataOf<typeof diffEntry>;
export type ArtifactDiff = DataOf<typeof artifactEntry>;
