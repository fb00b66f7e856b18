import { expect, test } from 'vitest';
import { type ContextArtifacts, contextsOf } from './contexts.ts';
import { isImage, isText } from './preview.tsx';
import { parseVersions } from './versions.ts';

const context = (fields: Partial<ContextArtifacts>): ContextArtifacts => ({
  contextId: 'ctx_a',
  runId: 'run_1',
  workflowId: 'crew',
  startedAt: '2026-01-01T00:00:00.000Z',
  open: false,
  artifacts: [],
  more: false,
  ...fields,
});

test('a context of two pages is shown once, where it comes first, and told by its oldest run', () => {
  const found = contextsOf([
    context({ runId: 'run_9', title: 'Thanks', open: true }),
    context({ contextId: 'ctx_b', runId: 'run_5' }),
    context({ runId: 'run_1', title: 'Plan a trip' }),
  ]);
  expect(found).toMatchObject([
    { contextId: 'ctx_a', runId: 'run_1', title: 'Plan a trip', open: true },
    { contextId: 'ctx_b', runId: 'run_5' },
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
