import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { present } from '../../test/kit/present.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import { creation, row } from '../log/ports/samples.kit.ts';
import { servedCli } from './served-cli.kit.ts';

const agentId = 'core.some.agent';
const decided = (confidence: number) =>
  row('agent.decided', { payload: JSON.stringify({ agentId, decision: 'x', confidence }) });
const held = (interruptId: string, action: string) => [
  row('interrupt.requested', {
    payload: JSON.stringify({ interruptId, kind: 'low-confidence', data: { agentId, threshold: 0.7, observed: 0.42 } }),
  }),
  row('interrupt.resolved', { payload: JSON.stringify({ interruptId, resumeValue: { action } }) }),
];

test('calibration shows each tenth of confidence with how often people agreed', async () => {
  const store = inMemoryStore();
  const { cairn } = await servedCli(store);
  expect(await cairn(['calibration'])).toEqual({
    code: 0,
    out: '',
    err: 'No agent has stated a confidence yet.',
  });
  const runId = 'run_a' as RunId;
  const { create, rows } = creation(runId);
  await store.log.append({ runId, rows, create: { ...present(create), tenant: 'dev' } });
  await store.log.append({
    runId,
    rows: [decided(0.42), ...held('i1', 'approve'), ...held('i2', 'reject'), decided(0.9)],
  });
  const lines = (await cairn(['calibration'])).out.split('\n');
  expect(lines[0]).toMatch(/^AGENT +CONFIDENCE +STATED +HELD +APPROVED +EDITED +REJECTED +AGREED$/);
  expect(lines[1]).toMatch(/^core\.some\.agent +0\.4 to 0\.5 +1 +2 +1 +0 +1 +50 %$/);
  expect(lines[2]).toMatch(/^ +0\.9 to 1\.0 +1 +0 +0 +0 +0 +-$/);
  expect(JSON.parse((await cairn(['calibration', '--json'])).out)).toMatchObject({ complete: true });
});
