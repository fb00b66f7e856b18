import { type Json, typedEvent } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { RunRow } from '../folds/run-row.ts';
import { LogFilter } from './log-filter.ts';

const types = [
  'run.started',
  'node.started',
  'output.chunk',
  'agent.toolCalled',
  'agent.toolReturned',
  'output.chunk',
  'run.completed',
];
/** What the rows say; the others say nothing. */
const payloads: Readonly<Record<number, Json>> = {
  0: { workflowId: 'w', inputs: { topic: 'High Tide [1.5 m]' } },
  2: { chunk: 'Tides come and go.' },
  4: { outcome: { rows: [{ height: 12.5 }, { note: null }] } },
};
const rows: RunRow[] = types.map((type, at) =>
  typedEvent({ seq: at * 2, at, type, nodeId: undefined, cause: undefined, payload: payloads[at] ?? {} }),
);

const shown = (text: string, upTo = 100): string[] => {
  const found = new LogFilter(rows, text).upTo(upTo);
  return Array.from({ length: found.length }, (_, index) => rows[found.at(index)]?.type ?? '?');
};

test.for([
  ['', types],
  ['agent.*', ['agent.toolCalled', 'agent.toolReturned']],
  ['-output.chunk', types.filter((type) => type !== 'output.chunk')],
  ['run, tool -returned', ['run.started', 'agent.toolCalled', 'run.completed']],
  ['TOOL', ['agent.toolCalled', 'agent.toolReturned']],
  ['nothing', []],
  ['"tide"', ['run.started', 'output.chunk']],
  ['"tide', ['run.started', 'output.chunk']],
  ['"tide" -output.chunk', ['run.started']],
  ['"tide [1.5"', ['run.started']],
  ['"12.5"', ['agent.toolReturned']],
  ['"height" "note"', ['agent.toolReturned']],
  ['"tide" "height"', []],
  ['""', types],
] as const)('the filter %s shows what it says', ([text, expected]) => {
  expect(shown(text)).toEqual(expected);
});

test('a filter shows the past up to the event that is shown', () => {
  expect(shown('', 5)).toEqual(types.slice(0, 3));
  expect(shown('output', 5)).toEqual(['output.chunk']);
});

test('an event is found at its place, also by a sequence that is not shown', () => {
  const found = new LogFilter(rows, 'output').upTo(100);
  expect([found.indexOfSeq(4), found.indexOfSeq(7), found.indexOfSeq(10), found.indexOfSeq(3)]).toEqual([0, 0, 1, -1]);
});

test('rows that come later are found too', () => {
  const growing = rows.slice(0, 3);
  const filter = new LogFilter(growing, 'run');
  expect(filter.upTo(100).length).toBe(1);
  growing.push(...rows.slice(3));
  expect(filter.upTo(100).length).toBe(2);
});

test('data that is nested deeper than the stack is passed over', () => {
  let deep: Json = 'tide';
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
  const row = typedEvent({ seq: 0, at: 0, type: 'a', nodeId: undefined, cause: undefined, payload: { deep } });
  expect(new LogFilter([row], '"tide"').upTo(1).length).toBe(0);
});
