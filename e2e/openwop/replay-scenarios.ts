/** Fixtures about replay: forks repeat the record event by event, and a branch calls its model again. */
import type { JsonObject, RunEventDoc } from '@cairn/protocol';
import { expect } from 'vitest';
import type { Scenario, Scenarios } from './scenario.ts';
import type { Run, RunView, WireHost } from './wire-host.ts';

/** What two replays of one run must agree on, event by event. */
export const comparedFields = ({ events }: Pick<RunView, 'events'>): readonly unknown[] =>
  events.map(({ type, nodeId, payload }) => [type, nodeId, payload]);

/** Stands in for the model of a run. */
const standIn = (text: string, finishReason: string): JsonObject => ({
  configurable: { mockProvider: { id: 'stream-text', config: { tokens: [text], finishReason } } },
});

const valid = standIn('{"valid":true}', 'stop');
const refusing = standIn('I will not.', 'content_filter');

const seqOf = ({ events }: RunView, type: string): number => events.find((event) => event.type === type)?.sequence ?? 0;

const replayTypes = ({ types }: RunView): readonly string[] => types.filter((type) => type.startsWith('replay.'));

async function source(host: WireHost, workflowId: string, options: JsonObject): Promise<[Run, RunView]> {
  const run = await host.start(workflowId, options);
  return [run, await run.ended()];
}

const upToTool = ({ events }: RunView): readonly RunEventDoc[] =>
  events.slice(0, events.findIndex(({ type, nodeId }) => type === 'node.completed' && nodeId === 'nondet-tool') + 1);

const nondeterministic: Scenario = {
  name: 'repeats its observable sequence in each replay, up to the end of the tool and after it',
  async run(host) {
    const [run, original] = await source(host, 'conformance-phase4-nondet-tool', valid);
    expect(original.status).toBe('completed');
    expect(upToTool(original).map(({ type }) => type)).toContain('node.completed');
    const replays: RunView[] = [];
    for (let i = 0; i < 2; i += 1) replays.push(await (await host.fork(run, { mode: 'replay' })).ended());
    for (const replay of replays) {
      expect(comparedFields({ events: upToTool(replay) })).toEqual(comparedFields({ events: upToTool(original) }));
      expect(comparedFields(replay)).toEqual(comparedFields(original));
      expect(replay.snapshot).toMatchObject({ status: 'completed', variables: original.snapshot.variables });
    }
  },
};

const staysValid: Scenario = {
  name: 'takes the recorded turn: a replay of a valid turn is valid and reports no divergence',
  async run(host) {
    const [run, original] = await source(host, 'conformance-phase4-replay-divergence', valid);
    const replayed = await host.fork(run, { mode: 'replay' });
    const replay = await replayed.ended();
    expect([original.status, replay.status, replayTypes(replay)]).toEqual(['completed', 'completed', []]);
    expect(await host.diff(run, replayed)).toMatchObject({ divergedAtSeq: null, eventDiffs: [] });
  },
};

const refusesLive: Scenario = {
  name: 'asks the model again in a branch, whose refusal fails the run and is no divergence of a replay',
  async run(host) {
    const [run, original] = await source(host, 'conformance-phase4-replay-divergence', valid);
    const fromSeq = seqOf(original, 'node.started');
    const branch = await host.fork(run, { mode: 'branch', fromSeq, runOptionsOverlay: refusing });
    const refused = await branch.ended();
    expect(refused.snapshot).toMatchObject({ status: 'failed', error: { code: 'model_refused' } });
    expect(replayTypes(refused)).toEqual([]);
    const replay = await (await host.fork(branch, { mode: 'replay' })).ended();
    expect(replay.snapshot).toMatchObject({ status: 'failed', error: { code: 'model_refused' } });
    expect(replayTypes(replay)).toEqual([]);
    expect(await host.diff(run, branch)).toMatchObject({
      divergedAtSeq: fromSeq,
      stateDiff: { status: { a: 'completed', b: 'failed' } },
    });
  },
};

/** The channels of a conversation, with the order of their keys. */
const channelsOf = ({ snapshot }: RunView): string => JSON.stringify(snapshot.channels);

export const replaysConversation: Scenario = {
  name: 'has the same channel, byte by byte, in a replay of the whole run and of its rest',
  async run(host) {
    const [run, original] = await source(host, 'conformance-conversation-replay', {});
    for (const fromSeq of [0, seqOf(original, 'conversation.exchanged'), original.events.length]) {
      const replay = await (await host.fork(run, { mode: 'replay', fromSeq })).ended();
      expect(channelsOf(replay)).toBe(channelsOf(original));
      expect(comparedFields(replay)).toEqual(comparedFields(original));
    }
  },
};

export const replayScenarios: Scenarios = {
  'conformance-phase4-nondet-tool': [nondeterministic],
  'conformance-phase4-replay-divergence': [staysValid, refusesLive],
};
