/** Every event of a golden tree of runs is a fork point: the past is shared to the byte, and no effect happens twice. */
import { createClient } from '@cairn/client';
import type { RunId } from '@cairn/protocol';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { typed } from '../../packages/host/src/cli/recording-terminal.kit.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import { openSuiteStore, suiteStoreFlags } from '../../packages/host/src/log/postgres/suite-store.kit.ts';
import { hostVersion } from '../../packages/host/src/server/version.ts';
import { receiver } from '../../packages/host/src/server/webhooks/receiver.kit.ts';
import { GoldenHost, goldenKey } from './golden-host.ts';
import { fileHash, histories } from './histories.ts';
import { newsroom } from './stories/families.ts';

/** What has reached the outside, in this process. */
const effects = vi.hoisted(() => ({ turns: 0, toolCalls: 0, fetches: 0 }));

vi.mock(import('../../packages/host/src/agents/models/scripted/scripted-model.ts'), async (original) => {
  const module = await original();
  return {
    ...module,
    scriptedModel: (options) => {
      const model = module.scriptedModel(options);
      const stream: typeof model.stream = (call) => {
        effects.turns += 1;
        return model.stream(call);
      };
      return { ...model, stream };
    },
  };
});

const app: typeof newsroom.app = {
  ...newsroom.app,
  tools: (newsroom.app.tools ?? []).map((tool) => ({
    ...tool,
    run: (input, context) => {
      effects.toolCalls += 1;
      return tool.run(input, context);
    },
  })),
};

const fetchOfNode = globalThis.fetch;

beforeEach(() => {
  Object.assign(effects, { turns: 0, toolCalls: 0, fetches: 0 });
  globalThis.fetch = (...args) => {
    effects.fetches += 1;
    return fetchOfNode(...args);
  };
});

afterEach(() => {
  globalThis.fetch = fetchOfNode;
});

interface Tree {
  readonly host: GoldenHost;
  /** The run at the top, then those below it. */
  readonly runIds: readonly RunId[];
  /** Everything that the store holds of these runs. */
  readonly kept: () => Promise<unknown>;
}

/** Plays the story. Its export must be the golden history to the byte, so that the forks below are forks of that one. */
async function golden(options: typeof app): Promise<Tree> {
  const host = await GoldenHost.open(newsroom.name, { ...options, openStore: openSuiteStore });
  onTestFinished(() => host.close());
  const top = await newsroom.play(host);
  const name = `v${hostVersion()}/${newsroom.name}.jsonl`;
  const file = `${host.folder}/exported.jsonl`;
  await typed(['export', top, ...suiteStoreFlags(host.folder), '-o', file]);
  expect(fileHash(file)).toBe(histories().find((history) => history.name === name)?.sha256);
  const runIds = ['', '.0', '.0.0'].map((path) => `${top}${path}` as RunId);
  const keptOf = async (runId: RunId) => ({
    head: await host.store.log.head(runId),
    rows: await host.rows(runId),
    interrupts: await host.store.runIndex.interrupts(runId),
  });
  return { host, runIds, kept: () => Promise.all(runIds.map(keptOf)) };
}

/** All that the wire wants equal before the cut: a fork has its own run, context, cursors and task faces. */
const shared = ({ seq, at, type, nodeId, cause, audience, payload, rowHash, hash }: Row) => [
  seq,
  at,
  type,
  nodeId,
  cause,
  audience,
  payload,
  rowHash,
  hash,
];

/** What two replays must agree in. */
const said = ({ type, nodeId, payload }: Row) => [type, nodeId, payload];

test('a replay from any event of any run of the tree writes the same run, and performs nothing', async () => {
  const outside = await receiver();
  const tree = await golden({ ...app, http: true, config: { egress: { allow: [outside.origin] } } });
  const { host, runIds } = tree;
  const client = createClient({ url: host.url, key: goldenKey, fetch: fetchOfNode });
  await client.webhooks.register({
    url: outside.origin,
    events: ['run.started', 'run.completed', 'interrupt.requested'],
  });
  const [before, made, armed] = [await tree.kept(), { ...effects }, host.clock.waiting];
  // What the story itself did, which shows that effects are counted.
  expect(made).toEqual({ turns: 5, toolCalls: 1, fetches: 0 });
  let forks = 0;
  for (const runId of runIds) {
    const source = await host.rows(runId);
    await Promise.all(
      [...source, null].map(async (_, fromSeq) => {
        const replay = await host.fork({ runId, mode: 'replay', fromSeq });
        await host.ended(replay.runId);
        const rows = await host.rows(replay.runId);
        const place = `${runId} at ${fromSeq}`;
        expect(rows.slice(0, fromSeq).map(shared), place).toEqual(source.slice(0, fromSeq).map(shared));
        expect(rows.map(said), place).toEqual(source.map(said));
        forks += 1;
      }),
    );
  }
  expect(forks).toBeGreaterThan(100);
  expect(await tree.kept()).toEqual(before);
  // The clock stood still: every timer fired from the record, and none was set.
  expect([{ ...effects }, host.clock.waiting]).toEqual([made, armed]);
  // Deliveries keep the order of events, so what a replay had sent would have arrived before this.
  const live = await host.start('interview');
  await outside.arrived(1);
  expect(outside.received[0]?.body).toMatchObject({ runId: live });
});

test('a branch at any event of any run of the tree shares what was before it, and leaves its source alone', async () => {
  const tree = await golden(app);
  const { host, runIds } = tree;
  const before = await tree.kept();
  for (const runId of runIds) {
    const source = await host.rows(runId);
    await Promise.all(
      source.slice(1).map(async ({ seq: fromSeq }) => {
        const branch = await host.fork({ runId, mode: 'branch', fromSeq, rules: [{ calls: '*', use: 'reuse' }] });
        await host.cancel(branch.runId, 'Enough.');
        await host.ended(branch.runId);
        const rows = await host.rows(branch.runId);
        const place = `${runId} at ${fromSeq}`;
        expect(rows.slice(0, fromSeq).map(shared), place).toEqual(source.slice(0, fromSeq).map(shared));
        expect(
          rows.map(({ type }) => type),
          place,
        ).toContain('cairn.run.forked');
      }),
    );
  }
  expect(await tree.kept()).toEqual(before);
});
