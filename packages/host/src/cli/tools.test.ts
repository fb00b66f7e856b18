import { expect, test } from 'vitest';
import { servedCli } from './served-cli.kit.ts';

test('tools lists what agents can be let call', async () => {
  const { cairn } = await servedCli();
  const { code, out } = await cairn(['tools']);
  expect(code).toBe(0);
  expect(out.split('\n')[0]).toMatch(/^TOOL +SAFETY +DESCRIPTION$/);
  expect(out).toMatch(/^openwop:time +read +\S/m);
  const ids = JSON.parse((await cairn(['tools', '--json'])).out).tools.map(({ toolId }: { toolId: string }) => toolId);
  expect(ids).toContain('openwop:fs.write');
});

test('tools TOOL shows what it takes; a name that is nearly right is told what would be', async () => {
  const { cairn } = await servedCli();
  const { out } = await cairn(['tools', 'openwop:fs.write']);
  expect(out).toMatch(/^openwop:fs\.write {2}\S/);
  expect(out).toMatch(/^ {2}path +string +required/m);
  expect(JSON.parse((await cairn(['tools', 'openwop:time', '--json'])).out).toolId).toBe('openwop:time');
  const unknown = await cairn(['tools', 'fs.write']);
  expect(unknown).toMatchObject({ code: 3, out: '' });
  expect(unknown.err).toContain('Did you mean openwop:fs.write?');
});
