import type { RunSnapshot } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { contextsOf } from './contexts.ts';
import { isImage, isText } from './preview.tsx';
import { parseVersions } from './versions.ts';

const run = (fields: Partial<RunSnapshot>): RunSnapshot => ({
  runId: 'run_1',
  workflowId: 'crew',
  contextId: 'ctx_a',
  status: 'completed',
  startedAt: '2026-01-01T00:00:00.000Z',
  ...fields,
});

test('a context is open while any of its runs is, and is told by its root run', () => {
  const found = contextsOf([
    run({ runId: 'run_1' }),
    run({ runId: 'run_1.0', parentRunId: 'run_1', status: 'running' }),
    run({ runId: 'run_2', contextId: 'ctx_b', workflowId: 'agent-run-host-desk' }),
  ]);
  expect(found).toMatchObject([
    { contextId: 'ctx_a', runId: 'run_1', isOpen: true, isTalk: false },
    { contextId: 'ctx_b', isOpen: false, isTalk: true },
  ]);
});

test('versions of an address are whole numbers from 1', () => {
  expect(parseVersions({ version: 2, against: 1 })).toEqual({ version: 2, against: 1 });
  expect(parseVersions({ version: 0, against: '1' })).toEqual({});
});

test('a type is a text, an image, or a download; a drawing that may hold a script is a text', () => {
  expect(['text/html', 'application/json; charset=utf-8', 'image/svg+xml', 'text/csv'].map(isText)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(['image/png', 'application/zip'].map(isText)).toEqual([false, false]);
  expect(['image/png', 'image/svg+xml', 'text/html', null].map(isImage)).toEqual([true, false, false, false]);
});
