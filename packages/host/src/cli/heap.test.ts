/** A host runs in a heap of bounded size, unless its user says otherwise. */
import { expect, test } from 'vitest';
import { collectors, hostHeapFlags, missingHeapFlags } from '../../bin/heap.mjs';

const large = 4 * 1_073_741_824;

test.each(['start', 'dev'])('cairn %s gets the flags', (command) => {
  const flags = missingHeapFlags({ args: [command, '--port', '0'], nodeFlags: ['--inspect', ''], heapBytes: large });
  expect(flags).toEqual(hostHeapFlags);
});

test('other commands start without them', () => {
  for (const args of [[], ['run', 'start'], ['--help']]) {
    expect(missingHeapFlags({ args, nodeFlags: [], heapBytes: large })).toEqual([]);
  }
});

test('flags of the user win, on the command line and in NODE_OPTIONS', () => {
  for (const flag of ['--max-old-space-size=8000', '--trace-gc --max_semi_space_size=64', ...hostHeapFlags]) {
    expect(missingHeapFlags({ args: ['start'], nodeFlags: [flag], heapBytes: large })).toEqual([]);
  }
});

test('a machine that allows less keeps its own limit', () => {
  expect(missingHeapFlags({ args: ['start'], nodeFlags: [], heapBytes: 600_000_000 })).toEqual([]);
});

test('the threads that collect garbage leave a core to the main thread', () => {
  expect([1, 2, 3, 8].map(collectors)).toEqual([1, 1, 2, 4]);
});
