/** What readers see of forks: at once, at each shared event, and through the pauses of a source. */
import { expect, test } from 'vitest';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { chain } from '../sample-workflows.kit.ts';
import { counting, fetchUntil, fork, ranToEnd, rowsOf, toEnd } from './fork-kit.kit.ts';

test('a fork can be read at once, before anything steps it', async () => {
  const store = inMemoryStore();
  const { host } = await counting(store);
  const source = await ranToEnd(host, 'three');
  store.queue.claim = async () => [];
  for (const fromSeq of [0, 1, 5]) {
    for (const mode of ['replay', 'branch']) {
      const { body } = await fork(host, source, { mode, fromSeq });
      const path = `/v1/runs/${body.runId}`;
      expect(await host.ask('GET', path)).toMatchObject({
        status: 200,
        body: { status: 'running', fork: { sourceRunId: source, fromSeq, mode } },
      });
      expect((await rowsOf(host, String(body.runId)))[0]?.type).toBe('run.started');
      expect((await host.ask('GET', '/v1/runs')).text).toContain(`"runId":"${body.runId}"`);
    }
  }
});

test('a fork shows at each shared event what its source showed there', async () => {
  const { host } = await counting();
  const source = await ranToEnd(host, 'three', { who: 'Ada' });
  const last = (await rowsOf(host, source)).length - 1;
  const replay = String((await fork(host, source, { mode: 'replay', fromSeq: last })).body.runId);
  const branch = String((await fork(host, source, { mode: 'branch', fromSeq: last })).body.runId);
  await toEnd(host, replay);
  const shown = async (runId: string, seq: number) => {
    const { body } = await host.ask('GET', `/v1/runs/${runId}?atSeq=${seq}`);
    const { status, variables, channels, inputs, nodeStates } = body;
    return JSON.stringify({ status, variables, channels, inputs, nodeStates });
  };
  for (let seq = 0; seq < last; seq += 1) {
    const there = await shown(source, seq);
    expect([seq, await shown(replay, seq), await shown(branch, seq)]).toEqual([seq, there, there]);
  }
});

test('a replay goes through the pauses of its source without a wait', async () => {
  const { host } = await counting();
  await host.engine.register('t', chain('sleeps', { typeId: 'core.delay', config: { delayMs: 3_600_000 } }));
  const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId: 'sleeps' } });
  const path = `/v1/runs/${body.runId}`;
  await host.ask('POST', `${path}:pause`, { body: { drainPolicy: 'immediate' } });
  await fetchUntil(host, String(body.runId), 'paused');
  await host.ask('POST', `${path}:resume`, { body: {} });
  await host.ask('POST', `${path}/cancel`);
  await toEnd(host, String(body.runId));
  const source = await rowsOf(host, String(body.runId));
  expect(source.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['run.paused', 'run.resumed', 'run.cancelled']),
  );
  const replay = String((await fork(host, String(body.runId), { mode: 'replay' })).body.runId);
  await toEnd(host, replay);
  const compared = (rows: typeof source) => rows.map(({ type, nodeId, payload }) => ({ type, nodeId, payload }));
  expect(compared(await rowsOf(host, replay))).toEqual(compared(source));
});
