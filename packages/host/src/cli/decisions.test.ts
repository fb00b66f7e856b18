/** Gates of several approvers and interrupted writes, as people at a terminal meet them. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../agents/define-agent.ts';
import { defineTool } from '../agents/tools/define-tool.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import { bobKey, eveKey, readerKey, servedCli } from './served-cli.kit.ts';

test('a gate shows the votes and who may vote, and who may not is not asked', async () => {
  const { cairn, detached } = await servedCli();
  const runId = await detached('quorum');
  const nobody = () => Promise.reject(new Error('nobody should be asked'));
  const refused = await cairn(['answer', runId], { env: { CAIRN_KEY: eveKey }, person: nobody });
  expect(refused.code).toBe(4);
  expect(refused.err).toContain('eve is not among the approvers of node gate.');
  expect(refused.err).toContain('may vote  ada, bob');
  const reader = await cairn(['answer', runId], { env: { CAIRN_KEY: readerKey }, person: nobody });
  expect([reader.code, reader.err]).toEqual([4, expect.stringContaining('lacks the scope approvals:respond')]);
  const first = await cairn(['answer', runId], { env: { CAIRN_KEY: bobKey }, person: async () => 'yes' });
  expect(first.code).toBe(0);
  expect(first.err).toContain('votes  0 of 2 approved');
  expect(first.out).toBe('? your vote on gate counts, 1 of 2 approved; the run is waiting-approval');
  const again = await cairn(['answer', runId], { env: { CAIRN_KEY: bobKey }, person: nobody });
  expect(again.err).toContain('votes  1 of 2 approved: bob accept');
  expect(again.err).toContain('bob has decided on node gate already');
  const shown = (await cairn(['show', runId], { env: { CAIRN_KEY: eveKey } })).out;
  expect(shown).toContain(
    '    votes  1 of 2 approved: bob accept\n    may vote  ada, bob\n    you cannot answer: eve is not',
  );
  expect(shown).not.toContain('answer with');
  expect((await cairn(['answer', runId, 'approve'])).out).toBe('✓ gate is answered; the run is completed');
});

test('a run that only others can answer ends the command with 5, without a prompt', async () => {
  const { cairn } = await servedCli();
  const nobody = () => Promise.reject(new Error('nobody should be asked'));
  const { code, err } = await cairn(['run', 'quorum'], { env: { CAIRN_KEY: eveKey }, person: nobody });
  expect(code).toBe(5);
  expect(err).toContain('may vote  ada, bob\n    you cannot answer: eve is not among the approvers of node gate.');
});

test('who has voted sees the votes of the others, and the run go on', async () => {
  const { cairn } = await servedCli();
  const { code, err } = await cairn(['run', 'quorum'], {
    person: async () => 'accept',
    onLine: (line) => {
      if (!line.includes('ada: accept  1 of 2 approved')) return;
      void cairn(['inbox', '--json']).then(({ out }) =>
        cairn(['answer', JSON.parse(out).entries[0].runId, 'accept'], { env: { CAIRN_KEY: bobKey } }),
      );
    },
  });
  expect(code).toBe(0);
  expect(err).toMatch(/ada: accept {2}1 of 2 approved[\s\S]*✓ gate[\s\S]*✓ completed/);
});

test('an interrupted write is asked about in words, and yes takes its result', async () => {
  let called = (): void => undefined;
  const isCalled = new Promise<void>((resolve) => {
    called = resolve;
  });
  const refund = defineTool({
    id: 'acme.shop:refund',
    description: 'Pays money back.',
    input: z.object({ order: z.number(), euros: z.number() }),
    safety: 'write',
    run: async (_input, { signal }) => {
      called();
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      return null;
    },
  });
  const turns = [[{ call: { tool: refund.id, input: { order: 4711, euros: 180 } } }], [{ say: 'Paid back.' }]];
  const desk = defineAgent({
    id: 'host:desk',
    persona: 'Desk',
    instructions: 'Do it.',
    tools: [refund.id],
    rehearsal: { turns },
  });
  const { cairn, detached } = await servedCli(inMemoryStore(), { agents: [desk], tools: [refund] });
  const runId = await detached('host:desk', '-i', 'message=please');
  await isCalled;
  await cairn(['pause', runId, '--now']);
  await cairn(['resume', runId]);
  const question = 'Was acme.shop:refund(order=4711, euros=180) carried out?';
  const told = await cairn(['show', runId]);
  expect(told.out).toContain(`${question} retry / use / fail`);
  expect((await cairn(['inbox'])).out).toContain(question);
  const said = ['perhaps', 'yes', '{"id":"r_1"}'];
  const answered = await cairn(['answer', runId], { person: async () => said.shift() ?? null });
  expect(answered).toMatchObject({ code: 0, err: expect.stringContaining('"perhaps" is not a valid action.') });
  const rows = (await cairn(['tail', runId, '--types', 'agent.toolReturned', '--json'])).out;
  expect(JSON.parse(rows).payload).toMatchObject({ outcome: { id: 'r_1' } });
});
