import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { payloadsOf } from '../../../test/kit/payloads-of.ts';
import type { Emission } from '../../engine/ports.ts';
import { MAX_EVENT_BYTES } from '../../log/ports/rows.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import { type DeltaOptions, DeltaWriter } from './delta-writer.ts';

/** A log that has room until it is told otherwise. */
class Log {
  readonly rows: Emission[] = [];
  isFull = false;
  #waiting: (() => void)[] = [];

  readonly emit = (rows: readonly Emission[]): Promise<void> | undefined => {
    this.rows.push(...rows);
    return this.isFull ? new Promise((resolve) => this.#waiting.push(resolve)) : undefined;
  };

  makeRoom(): void {
    this.isFull = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  get chunks() {
    return this.rows.flatMap(({ type, payload }) => (type === 'output.chunk' ? [payload.chunk] : []));
  }

  get thoughts() {
    return this.rows.flatMap(({ type, payload }) =>
      type === 'agent.reasoning.delta' ? [[payload.sequence, payload.delta]] : [],
    );
  }
}

function writer(log: Log, over: Partial<DeltaOptions> = {}, attempt = 1): DeltaWriter {
  const context = { runId: 'run_1' as RunId, nodeId: 'n', callId: 'n#0.0/m0', attempt, emit: log.emit };
  return new DeltaWriter(context, {
    agentId: 'local.a.b',
    verbosity: 'full',
    isScripted: false,
    keepsTail: false,
    redact: null,
    ...over,
  });
}

test('writes each piece as a row of its kind, reasoning numbered from 0', async () => {
  const log = new Log();
  const deltas = writer(log);
  deltas.add('reasoning', 'hm');
  deltas.add('text', 'Hel');
  deltas.add('reasoning', ' yes');
  deltas.flush();
  deltas.add('text', 'lo');
  deltas.flush();
  expect(await deltas.close()).toBe('');
  expect(log.rows[1]).toEqual({
    type: 'output.chunk',
    payload: { nodeId: 'n', runId: 'run_1', chunk: 'Hel', isLast: false, channel: 'n#0.0/m0' },
  });
  expect(log.thoughts).toEqual([
    [0, 'hm'],
    [1, ' yes'],
  ]);
  expect(log.chunks).toEqual(['Hel', 'lo']);
  expect(deltas.said).toEqual({ reasoning: 'hm yes', text: 'Hello' });
  expect(deltas.chunks).toBe(2);
});

test('a later attempt is a block of its own', () => {
  const log = new Log();
  const deltas = writer(log, {}, 2);
  deltas.add('text', 'again');
  deltas.flush();
  expect(payloadsOf(log.rows, 'output.chunk')[0]?.channel).toBe('n#0.0/m0~2');
});

test('what comes while there is no room is merged, kept in order, and written when there is', async () => {
  const log = new Log();
  const deltas = writer(log);
  log.isFull = true;
  deltas.add('text', 'a');
  expect(deltas.flush()).toBeUndefined();
  for (const piece of ['b', 'c', 'd']) {
    deltas.add('text', piece);
    deltas.flush();
  }
  deltas.add('reasoning', 'x');
  deltas.add('reasoning', 'y');
  deltas.add('text', 'e');
  const closed = deltas.close();
  log.makeRoom();
  await closed;
  expect(log.chunks).toEqual(['a', 'bcd', 'e']);
  expect(log.thoughts).toEqual([[0, 'xy']]);
  expect(deltas.said.text).toBe('abcde');
});

test('deltas of a script are never merged: whoever adds them waits for room', async () => {
  const log = new Log();
  const deltas = writer(log, { isScripted: true });
  log.isFull = true;
  deltas.add('text', 'a');
  const room = deltas.flush();
  expect(room).toBeInstanceOf(Promise);
  log.makeRoom();
  await room;
  deltas.add('text', 'b');
  deltas.flush();
  expect(log.chunks).toEqual(['a', 'b']);
});

test('room that never comes is told to whoever closes, and to nobody else', async () => {
  const deltas = new DeltaWriter(
    { runId: 'run_1' as RunId, nodeId: 'n', callId: 'c', attempt: 1, emit: () => Promise.reject(new Error('over')) },
    { agentId: 'a.b', verbosity: 'full', isScripted: false, keepsTail: false, redact: null },
  );
  deltas.add('text', 'a');
  deltas.flush();
  await new Promise((resolve) => setImmediate(resolve));
  await expect(deltas.close()).rejects.toThrow('over');
});

test('a secret in pieces is taken out, and nothing else is held back', async () => {
  const redactor = createRedactor([{ name: 'k', value: 'sk-0123456789abcdef' }]);
  const log = new Log();
  const deltas = writer(log, { redact: () => redactor.stream() });
  for (const piece of ['plain ', 'sk-0123', '456789', 'abcdef', ' after', ' sk-01']) {
    deltas.add('text', piece);
    deltas.add('reasoning', piece);
    deltas.flush();
  }
  expect(log.chunks[0]).toBe('plain ');
  const tail = await deltas.close();
  expect(deltas.said.text).toBe('plain [REDACTED] after sk-01');
  expect(log.chunks.join('') + tail).toBe(deltas.said.text);
  expect(log.thoughts.map(([, text]) => text).join('')).toBe(deltas.said.text);
  expect(tail).toBe('sk-01');
});

test('with verbosity off no reasoning is written or kept', async () => {
  const log = new Log();
  const deltas = writer(log, { verbosity: 'off' });
  deltas.add('reasoning', 'private');
  deltas.add('text', 'public');
  await deltas.close();
  expect(log.rows).toHaveLength(1);
  expect(deltas.said).toEqual({ reasoning: '', text: 'public' });
});

test('the last piece can be left for the closing chunk', async () => {
  const log = new Log();
  const deltas = writer(log, { keepsTail: true, isScripted: true });
  for (const piece of ['one', ' two', ' three']) deltas.add('text', piece);
  expect(await deltas.close()).toBe(' three');
  expect(log.chunks).toEqual(['one', ' two']);
  expect(deltas.said.text).toBe('one two three');
});

test.each([false, true])(
  'splits a piece that no event could hold, between characters (tail kept: %s)',
  async (keepsTail) => {
    const log = new Log();
    const deltas = writer(log, { keepsTail });
    // An odd start, so that a cut by length alone would fall inside a pair.
    const text = `.${'😀'.repeat(100_000)}`;
    deltas.add('text', text);
    deltas.add('reasoning', '\u0001'.repeat(200_000));
    const tail = await deltas.close();
    expect(log.chunks.join('') + tail).toBe(text);
    expect(log.chunks.length).toBeGreaterThan(5);
    expect(tail.length).toBeLessThan(40_000);
    expect([...log.chunks, tail].every((chunk) => chunk.isWellFormed())).toBe(true);
    expect(log.thoughts.map(([sequence]) => sequence)).toEqual(log.thoughts.map((_, i) => i));
    for (const { payload } of log.rows) expect(2 * JSON.stringify(payload).length).toBeLessThan(MAX_EVENT_BYTES);
  },
);

test('splits pieces that were merged while the log had no room', async () => {
  const log = new Log();
  const deltas = writer(log);
  log.isFull = true;
  deltas.add('text', 'a');
  deltas.flush();
  for (let i = 0; i < 100; i += 1) deltas.add('text', 'b'.repeat(1_000));
  log.makeRoom();
  await deltas.close();
  expect(log.chunks.join('')).toBe(`a${'b'.repeat(100_000)}`);
  expect(Math.max(...log.chunks.map((chunk) => chunk.length))).toBeLessThan(40_000);
});
