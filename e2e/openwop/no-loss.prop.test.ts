/** The task view and the run view of one log: together they lose nothing, and each is valid on its own. */
import {
  audienceOf,
  type ContextId,
  type EventType,
  eventTypes,
  type FoldEvent,
  isoTime,
  isTerminalType,
  type Json,
  type JsonObject,
  payloadSchema,
  type RunEventDoc,
  type RunId,
  taskEvent,
} from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowHash } from '../../packages/host/src/log/chain.ts';
import { docText } from '../../packages/host/src/log/feed/frame.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import { taskFaces } from '../../packages/host/src/log/task-faces.ts';
import { faceColumns } from '../../packages/host/src/log/tasks/face-columns.ts';
import { taskEventText } from '../../packages/host/src/log/tasks/task-frame.ts';
import { type SampledSchema, sample } from '../../packages/protocol/src/schema-sample.kit.ts';
import { agentHistory } from '../../packages/protocol/src/views/agent-history.kit.ts';
import { legalHistory, someRun } from '../../packages/protocol/src/views/legal-history.kit.ts';
import { wireSchemas } from './wire-schemas.ts';
import { withOpenwop } from './with-openwop.ts';

const contextId = 'ctx_some' as ContextId;

/** An event as a test makes it up, and the JSON that it holds. */
type Said = Pick<FoldEvent, 'at' | 'type' | 'nodeId' | 'cause'> & { readonly payload: Json };

/** Rows as a store keeps them, in a context that other runs write to as well. */
function stored(said: readonly Said[], runId: RunId = someRun): Row[] {
  const faceOf = taskFaces(runId);
  return said.map(({ at, type, nodeId = null, cause = null, payload }, seq) => {
    const row = { runId, seq, contextId, at, type, nodeId, cause, payload: JSON.stringify(payload) };
    const task = faceOf(row);
    const audience = audienceOf(type);
    const face = faceColumns(task, { audience, isSubtask: runId !== someRun });
    return { ...row, cursor: 3 * seq + 7, audience, task, face, rowHash: rowHash({ ...row, audience }), hash: '' };
  });
}

const taskView = (rows: readonly Row[]): string[] =>
  rows.filter(({ task }) => task !== null).map((row) => taskEventText(row, isoTime(row.at)));

/** Reads the rows back from what clients of the two views get, and from nothing else. */
function rebuilt(runEvents: readonly string[], taskEvents: readonly string[]): object[] {
  const faces = new Map(
    taskEvents.map((text) => {
      const { contextId: context, taskId, timestamp, cursor, eventId, parentTaskId, ...face } = JSON.parse(text);
      const seen = { contextId: context, cursor, at: Date.parse(timestamp), runId: taskId, parentTaskId };
      return [String(eventId), { ...seen, task: JSON.stringify(face) }];
    }),
  );
  return runEvents.map((text) => {
    const { eventId, runId, type, payload, timestamp, sequence: seq, nodeId = null, causationId } = JSON.parse(text);
    const cause = causationId === undefined ? null : Number(causationId.slice(runId.length + 1));
    const row = { runId, seq, at: Date.parse(timestamp), type, nodeId, cause, payload: JSON.stringify(payload) };
    const shown = faces.get(eventId);
    const task = shown?.task ?? null;
    const audience = audienceOf(type);
    if (shown !== undefined) expect([shown.runId, shown.at]).toEqual([runId, row.at]);
    const isSubtask = runId.includes('.');
    expect(shown?.parentTaskId).toBe(isSubtask && task !== null ? runId.slice(0, runId.lastIndexOf('.')) : undefined);
    const place = shown === undefined ? {} : { contextId: shown.contextId, cursor: shown.cursor };
    const face = faceColumns(task, { audience, isSubtask });
    return { ...row, ...place, audience, task, face, rowHash: rowHash({ ...row, audience }) };
  });
}

/** Of a row without a face the views do not show the place in the context. */
const kept = ({ hash: _, ...row }: Row): object => {
  const { cursor: _cursor, contextId: _context, ...rest } = row;
  return row.task === null ? rest : row;
};

/** Samples of a question have no data that fits its kind; the other histories ask questions of every kind. */
const middle = eventTypes.filter(
  (type) => !isTerminalType(type) && type !== 'run.started' && type !== 'interrupt.requested',
);

function ours(type: EventType, size: 'least' | 'most'): Json {
  const schema = payloadSchema(type) as SampledSchema & { readonly $defs?: Record<string, SampledSchema> };
  const resolve = (ref: string) => schema.$defs?.[ref.replace('#/$defs/', '')] as SampledSchema;
  return sample(schema, { size, resolve }) as Json;
}

/** Every type of event once, in any order, between the first event and an end. */
const everyType = (types: readonly EventType[], payloadOf: (type: EventType, size: 'least' | 'most') => Json) =>
  fc
    .record({
      order: fc.shuffledSubarray([...types], { minLength: types.length }),
      size: fc.constantFrom('least' as const, 'most' as const),
      nodes: fc.array(fc.constantFrom('text', 'n', '__proto__', undefined), {
        minLength: types.length,
        maxLength: types.length,
      }),
      end: fc.constantFrom('run.completed' as const, 'run.failed' as const, 'run.cancelled' as const),
    })
    .map(({ order, size, nodes, end }): readonly Said[] =>
      (['run.started', ...order, end] as const).map((type, i) => ({
        type,
        at: 1_700_000_000_000 + 7 * i,
        nodeId: nodes[i - 1],
        cause: i % 3 === 2 ? i - 1 : undefined,
        payload: payloadOf(type, size),
      })),
    );

const logs: fc.Arbitrary<readonly Said[]> = fc.oneof(everyType(middle, ours), legalHistory, agentHistory);
const few = { numRuns: 60 };

test('the rows of a log follow byte for byte from its task events and its run events', () => {
  fc.assert(
    fc.property(logs, fc.constantFrom(someRun, 'run_some.0.12' as RunId), (said, runId) => {
      const rows = stored(said, runId);
      expect(JSON.stringify(rebuilt(rows.map(docText), taskView(rows)).map(sorted))).toBe(
        JSON.stringify(rows.map(kept).map(sorted)),
      );
    }),
    few,
  );
});

const sorted = (row: object): object => Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));

/** What is wrong with the task events of a log. */
const problems = (said: readonly Said[]): unknown[] =>
  taskView(stored(said)).flatMap((text) => {
    const event: JsonObject = JSON.parse(text);
    const { error } = taskEvent.safeParse(event);
    return error === undefined ? [] : [{ event, issues: error.issues }];
  });

test('every task event of a log is one that the protocol defines', () => {
  fc.assert(
    fc.property(logs, (said) => {
      expect(problems(said)).toEqual([]);
    }),
    few,
  );
});

test('a log of another host, which has none of our own rows, shows valid task events', () => {
  const foreign = fc
    .oneof(legalHistory, agentHistory)
    .map((events): readonly Said[] => events.filter(({ type }) => !type.startsWith('cairn.')));
  fc.assert(
    fc.property(foreign, (said) => {
      expect(problems(said)).toEqual([]);
    }),
    few,
  );
});

withOpenwop('the two views of a log, by the published schemas', (data) => {
  const published = data.schemas.get('run-event-payloads.schema.json') as JsonObject & { $defs: Defs };
  type Defs = Record<string, SampledSchema>;
  const typeIndex = published.$defs._typeIndex?.properties as Readonly<Record<string, SampledSchema>>;
  const from =
    (base: { readonly $defs: Defs }) =>
    (ref: string): SampledSchema => {
      const [file = '', name] = ref.replace('https://openwop.dev/spec/v1/', '').replace('./', '').split('#/$defs/');
      const schema =
        file === ''
          ? base
          : (data.schemas.get(`${file.replace('.schema.json', '')}.schema.json`) as JsonObject & { $defs: Defs });
      return name === undefined ? (schema as SampledSchema) : (schema.$defs[name] as SampledSchema);
    };
  const theirs = (type: EventType, size: 'least' | 'most') =>
    sample(typeIndex[type] as SampledSchema, { size, resolve: from(published) }) as Json;

  test('the task view of a run of another host is valid, whatever its order', () => {
    const types = middle.filter((type) => typeIndex[type] !== undefined);
    expect(types.length).toBeGreaterThan(40);
    fc.assert(
      fc.property(everyType(types, theirs), (said) => {
        expect(problems(said)).toEqual([]);
      }),
      few,
    );
  });

  test('the run view of a task is valid once the task, the cursor and the context are stripped', () => {
    const schemas = wireSchemas(data);
    // Left out: types that this host never writes, and conversations, whose schema is stricter than a sample.
    const written = middle.filter((type) => !/^(?:eval|deployment|roster|trigger|connector|conversation)\./.test(type));
    fc.assert(
      fc.property(fc.oneof(everyType(written, ours), legalHistory, agentHistory), (said: readonly Said[]) => {
        for (const row of stored(said)) {
          const {
            task: _task,
            cursor: _cursor,
            contextId: _context,
            ...doc
          } = {
            ...(JSON.parse(docText(row)) as RunEventDoc),
            task: row.task,
            cursor: row.cursor,
            contextId: row.contextId,
          };
          schemas.checkEvent(doc);
        }
      }),
      few,
    );
  });
});
