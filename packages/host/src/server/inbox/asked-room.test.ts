import { type InboxEntry, runId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { AskedRoom } from './asked-room.ts';

const entry: InboxEntry = {
  runId: runId('1'),
  interruptId: 'i',
  nodeId: 'n',
  workflowId: 'w',
  kind: 'clarification',
  title: 'Well?',
  data: { text: 'x'.repeat(16_000) },
  requestedAt: '2026-01-01T00:00:00.000Z',
  path: [],
};

test('a page holds a mebibyte of full questions; further ones are shown without their data', () => {
  const room = new AskedRoom();
  const page = Array.from({ length: 200 }, () => room.fitted(entry));
  const whole = page.filter(({ isCut }) => isCut === undefined);
  expect(whole.length).toBe(65);
  expect(page.at(-1)).toEqual({ ...entry, data: undefined, isCut: true });
  expect(JSON.stringify(page).length).toBeLessThan(1_200_000);
});

test('room that is given back is used again, and a cut question gives none back', () => {
  const room = new AskedRoom();
  const page = Array.from({ length: 100 }, () => room.fitted(entry));
  for (const one of page) room.free(one);
  expect(Array.from({ length: 66 }, () => room.fitted(entry).isCut)).toEqual([...Array(65), true]);
});
