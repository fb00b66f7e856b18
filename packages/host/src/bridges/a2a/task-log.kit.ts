/** Random logs of one task that keep the rules of task events, with tasks below and beside it; not shipped. */
import { parseShape, type TaskEvent, taskEvent } from '@cairn/protocol';
import fc from 'fast-check';

export const TASK = 'run_a';
export const SUBTASK = 'run_a.0';

/** In arguments, results and thoughts, which no peer may see. */
export const INSIDE = 'stays-inside';

type Face = Readonly<Record<string, unknown>> & { readonly kind: string };

/** Stamps faces as a log does. */
export const stamped = (faces: readonly Face[]): readonly TaskEvent[] =>
  faces.map((face, i) => {
    const event = {
      contextId: 'ctx_1',
      taskId: TASK,
      timestamp: new Date(1_767_225_600_000 + i).toISOString(),
      cursor: i + 1,
      eventId: `${face.taskId ?? TASK}:${i}`,
      ...(face.taskId === SUBTASK && { parentTaskId: TASK }),
      ...face,
    };
    return parseShape(taskEvent, event, 'The event');
  });

/** What a log wrote, for comparison with what a peer got. */
export interface Written {
  readonly faces: readonly Face[];
  /** The whole content by artifact. Absent for what was not finished. */
  readonly whole: Readonly<Record<string, unknown>>;
}

const text = fc.string({ maxLength: 12, unit: 'grapheme' });
const texts = fc.array(text, { maxLength: 5 });

const inOrder = <Item>(items: readonly Item[], face: (item: Item, index: number, isLast: boolean) => Face) =>
  items.map((item, index) => face(item, index, index === items.length - 1));

const block = (contentId: string) =>
  fc
    .record({ deltas: texts, isWhole: fc.boolean(), isDone: fc.boolean() })
    .map(({ deltas, isWhole, isDone }): Written => {
      const content = deltas.join('');
      const pieces = isWhole
        ? []
        : inOrder(deltas, (delta, index) => ({ kind: 'content-delta', delta, index, contentId }));
      const end = { kind: 'content-complete', content, contentId, finishReason: 'stop' };
      return { faces: isDone ? [...pieces, end] : pieces, whole: isDone ? { [contentId]: content } : {} };
    });

const file = (artifactId: string) =>
  fc.record({ pieces: fc.array(text, { minLength: 1, maxLength: 4 }), isDone: fc.boolean() }).map(
    ({ pieces, isDone }): Written => ({
      faces: inOrder(pieces, (data, index, isLast) => ({
        kind: 'file-write',
        artifactId,
        data,
        index,
        complete: isLast && isDone,
        ...(index === 0 && { name: 'report.md', mimeType: 'text/markdown', encoding: 'utf-8' }),
      })),
      whole: isDone ? { [artifactId]: pieces.join('') } : {},
    }),
  );

const binary = (artifactId: string) =>
  fc.array(fc.uint8Array({ minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 4 }).map(
    (pieces): Written => ({
      faces: inOrder(pieces, (bytes, index, complete) => ({
        kind: 'file-write',
        artifactId,
        data: Buffer.from(bytes).toString('base64'),
        index,
        complete,
        ...(index === 0 && { name: 'image.png', mimeType: 'image/png', encoding: 'base64' }),
      })),
      whole: { [artifactId]: Buffer.concat(pieces).toString('base64') },
    }),
  );

const record = (artifactId: string) =>
  fc.array(text, { minLength: 1, maxLength: 3 }).map(
    (values): Written => ({
      faces: inOrder(values, (value, index) => ({
        kind: 'data-write',
        artifactId,
        data: { value },
        metadata: { version: index + 1 },
      })),
      whole: { [artifactId]: { value: values.at(-1) } },
    }),
  );

const dataset = (artifactId: string) =>
  fc.array(texts, { minLength: 1, maxLength: 4 }).map(
    (batches): Written => ({
      faces: inOrder(batches, (batch, index, complete) => ({
        kind: 'dataset-write',
        artifactId,
        rows: batch.map((value) => ({ value })),
        index,
        complete,
        ...(index === 0 && { name: 'rows', schema: { type: 'object' } }),
      })),
      whole: { [artifactId]: { rows: batches.flat().map((value) => ({ value })) } },
    }),
  );

const written = fc
  .array(fc.constantFrom(block, block, file, binary, record, dataset), { maxLength: 6 })
  .chain((kinds) => fc.tuple(...kinds.map((kind, i) => kind(`art_${i}`))));

const faces = (...list: readonly Face[]): readonly Face[] => list;

/** Work that a peer sees nothing of. */
const inside = fc.nat(3).map((n) =>
  faces(
    { kind: 'tool-start', toolCallId: `c${n}`, toolName: INSIDE, arguments: { secret: INSIDE } },
    { kind: 'tool-progress', toolCallId: `c${n}`, progress: 0.5, message: INSIDE },
    { kind: 'tool-complete', toolCallId: `c${n}`, toolName: INSIDE, success: true, result: INSIDE },
    {
      kind: 'thought-stream',
      thoughtId: `h${n}`,
      thoughtType: 'reasoning',
      verbosity: 'brief',
      content: INSIDE,
      index: n,
    },
    { kind: 'error', code: 'tool_failed', message: INSIDE, retryable: true, scope: 'tool' },
    { kind: 'llm-usage', model: INSIDE, inputTokens: 1 },
    { kind: 'content-delta', taskId: 'run_b', delta: INSIDE, index: 0, contentId: 'other' },
    { kind: 'task-complete', taskId: 'run_b', content: INSIDE },
  ),
);

const question = fc
  .record({
    inputType: fc.constantFrom('tool-execution', 'confirmation', 'clarification', 'selection', 'custom'),
    prompt: text,
    isHeld: fc.boolean(),
  })
  .map(({ inputType, prompt, isHeld }) => {
    const asked = { kind: 'input-required', inputId: 'i', inputType, prompt, schema: { type: 'string' } };
    const waits = { kind: 'task-status', status: 'waiting-input', metadata: { pending: [{ type: 'input', id: 'i' }] } };
    return faces(
      ...(isHeld ? [waits, asked] : [asked, waits]),
      { kind: 'input-received', inputId: 'i', providedBy: 'user', userId: 'ann' },
      { kind: 'task-status', status: 'working' },
    );
  });

const signIn = fc.constant(
  faces(
    { kind: 'auth-required', authId: 's', authType: 'oauth2', prompt: 'Sign in.', authUrl: 'https://sign.example/in' },
    { kind: 'task-status', status: 'waiting-auth', metadata: { pending: [{ type: 'auth', id: 's' }] } },
    { kind: 'auth-completed', authId: 's', userId: 'ann' },
    { kind: 'task-status', status: 'working' },
  ),
);

const subtask = fc
  .record({ isForwarded: fc.boolean(), isAnswered: fc.boolean() })
  .map(({ isForwarded, isAnswered }) => [
    ...faces(
      { kind: 'subtask-created', subtaskId: SUBTASK, prompt: INSIDE },
      { kind: 'task-created', taskId: SUBTASK, initiator: 'agent' },
      { kind: 'task-status', status: 'waiting-subtask', metadata: { blockedBy: SUBTASK } },
      { kind: 'content-delta', taskId: SUBTASK, delta: INSIDE, index: 0, contentId: 'below' },
      { kind: 'input-required', taskId: SUBTASK, inputId: 'j', inputType: 'custom', prompt: 'Which one?' },
      { kind: 'task-status', taskId: SUBTASK, status: 'waiting-input' },
    ),
    ...(isForwarded ? faces({ kind: 'input-forwarded', taskId: SUBTASK, inputId: 'j' }) : []),
    ...(isAnswered
      ? faces({ kind: 'input-received', taskId: SUBTASK, inputId: 'j', providedBy: 'user', userId: 'ann' })
      : []),
    ...faces(
      { kind: 'task-status', taskId: SUBTASK, status: isAnswered ? 'completed' : 'canceled' },
      { kind: 'task-status', status: 'working' },
    ),
  ]);

const life = fc.array(fc.oneof(inside, question, signIn, subtask), { maxLength: 4 }).map((parts) => parts.flat());

const end = fc.constantFrom(
  faces({ kind: 'task-status', status: 'completed' }, { kind: 'task-complete', content: 'done' }),
  faces({ kind: 'task-complete' }),
  faces({
    kind: 'task-status',
    status: 'failed',
    error: { code: 'tool_failed', message: 'It broke.', retryable: false },
  }),
  faces({ kind: 'task-status', status: 'canceled', metadata: { reason: 'canceled_by_user' } }),
);

/** Merges lists at random; each keeps its own order. */
const merged = (lists: readonly (readonly Face[])[], picks: readonly number[]): readonly Face[] => {
  const left = lists.map((list) => [...list]);
  const result: Face[] = [];
  for (let i = 0; left.some((list) => list.length > 0); i += 1) {
    const open = left.filter((list) => list.length > 0);
    const next = open[(picks[i % picks.length] ?? 0) % open.length]?.shift();
    if (next !== undefined) result.push(next);
  }
  return result;
};

export interface TaskLog {
  readonly events: readonly TaskEvent[];
  readonly whole: Readonly<Record<string, unknown>>;
}

/** A whole task. Its blocks, files and questions interleave. */
export const taskLog: fc.Arbitrary<TaskLog> = fc
  .record({ written, life, end, picks: fc.array(fc.nat(7), { minLength: 1, maxLength: 12 }) })
  .map(({ written, life, end, picks }) => ({
    events: stamped([
      { kind: 'task-created', initiator: 'user', metadata: { message: { role: 'user', content: 'Begin.' } } },
      { kind: 'task-status', status: 'working' },
      ...merged([life, ...written.map(({ faces }) => faces)], picks),
      ...end,
    ]),
    whole: Object.assign({}, ...written.map(({ whole }) => whole)),
  }));
