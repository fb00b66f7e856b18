import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { child, noop, over, send, startEngine, supervised, worker } from './supervised-run.kit.ts';

const nested = worker('mid', { sub: { type: 'core.subWorkflow', config: { workflowId: 'kid' } } });

test.each([
  ['together', {}],
  ['apart', { memoryScopeIsolation: 'isolated' }],
] as const)('workers, and the runs they start, remember %s as their dispatch node says', async (how, config) => {
  const { start, until, of } = await startEngine(supervised([send('mid'), over], config), [nested, noop('kid')]);
  const top = await start();
  await until(top, 'run.completed');
  const scopeOf = async (runId: RunId) => (await of(runId, 'run.started'))[0]?.memoryScope;
  const mid = child(top, 0);
  const scope = how === 'together' ? { runId: top, isolated: false } : { runId: mid, isolated: true };
  expect(await scopeOf(top)).toBeUndefined();
  expect([await scopeOf(mid), await scopeOf(child(mid, 0))]).toEqual([scope, scope]);
});
