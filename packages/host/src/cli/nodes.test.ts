import { expect, test } from 'vitest';
import { servedCli } from './served-cli.kit.ts';

test('nodes lists the types with their purpose, and shows one with settings, outputs and ports', async () => {
  const served = await servedCli();
  const list = await served.cairn(['nodes']);
  expect(list.code).toBe(0);
  expect(list.out).toMatch(/core\.delay +Waits for a time/);
  const gate = await served.cairn(['nodes', 'approvalGate']);
  for (const word of ['core.approvalGate', 'requiredApprovals', 'integer', 'outputs', 'ports', 'rejected']) {
    expect(gate.out).toContain(word);
  }
  const json = await served.cairn(['nodes', 'core.delay', '--json']);
  expect(JSON.parse(json.out)).toMatchObject({
    typeId: 'core.delay',
    summary: expect.stringContaining('Waits'),
    configSchema: { properties: { delayMs: { description: expect.stringContaining('ms') } } },
  });
});

test('nodes names the nearest type', async () => {
  const served = await servedCli();
  const { code, err } = await served.cairn(['nodes', 'core.aprovalGate']);
  expect([code, err]).toEqual([3, expect.stringContaining('Did you mean core.approvalGate?')]);
});
