/** Prompt and model fixtures: what is resolved, composed, refused and streamed. */
import type { JsonObject } from '@cairn/protocol';
import { expect } from 'vitest';
import { objects } from '../../packages/host/test/kit/json-fields.ts';
import type { Scenario, Scenarios } from './scenario.ts';

const promptTypes = ['agent.promptResolved', 'prompt.composed'];
const bodies = ['composed', 'systemPrompt', 'userPrompt', 'variableBindings'];

/** Each kind is resolved, then composed. The log holds references and hashes. */
const composes = (workflowId: string, refs: readonly (readonly [kind: string, ref: string])[]): Scenario => ({
  name: 'resolves each reference and composes it, in hashes and without a word of it',
  async run(host) {
    const view = await (await host.start(workflowId)).ended();
    expect(view.status).toBe('completed');
    expect(view.types.filter((type) => promptTypes.includes(type))).toEqual(refs.flatMap(() => promptTypes));
    const resolved = view.payloads('agent.promptResolved');
    expect(resolved.map(({ kind, resolved: ref }) => [kind, ref]).sort()).toEqual([...refs].sort());
    for (const { chain, resolved: ref } of resolved) {
      const layers = objects(chain);
      expect(layers.filter(({ applied }) => applied)).toMatchObject([{ layer: 'node', source: String(ref) }]);
    }
    for (const composed of view.payloads('prompt.composed')) {
      expect(composed.hash).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(composed.variableHashes).toBeDefined();
      for (const body of bodies) expect(composed).not.toHaveProperty(body);
    }
    const { body } = await host.call('GET', '/.well-known/openwop');
    expect(body.prompts).toMatchObject({ supported: true, observability: 'hashed' });
  },
});

const insufficient: Scenario = {
  name: 'is refused before its node fails, with what the model lacks',
  async run(host) {
    const view = await (await host.start('conformance-model-capability-insufficient')).ended();
    expect(view.snapshot).toMatchObject({ status: 'failed', error: { code: 'capability_not_provided' } });
    const order = ['model.capability.insufficient', 'node.failed'];
    expect(view.types.filter((type) => order.includes(type))).toEqual(order);
    expect(view.payloads('model.capability.insufficient')).toMatchObject([
      { nodeId: 'insufficient-node', missingCapabilities: ['nonexistent-capability-9b3f'] },
    ]);
    // Hosts that do not advertise this capability must not write such rows.
    const { body } = await host.call('GET', '/.well-known/openwop');
    expect(body.modelCapabilities).toEqual({ supported: true });
  },
};

const mock = (config: JsonObject): JsonObject => ({ configurable: { mockProvider: { id: 'stream-text', config } } });

const streams: Scenario = {
  name: 'streams one piece for each token of the stand-in, the last one closes the text',
  async run(host) {
    const run = await host.start('conformance-stream-text', mock({ tokens: ['Hel', 'lo', '!'], finishReason: 'stop' }));
    const view = await run.ended();
    expect(view.status).toBe('completed');
    const chunks = view.payloads('output.chunk');
    expect(chunks.map(({ chunk }) => chunk).join('')).toBe('Hello!');
    expect(chunks.map(({ isLast }) => isLast)).toEqual([...chunks.slice(1).map(() => false), true]);
    expect(chunks.at(-1)).toMatchObject({ meta: { finishReason: 'stop' } });
    const messages = await host.text(`/v1/runs/${run.runId}/events?streamMode=messages`, {
      accept: 'text/event-stream',
    });
    expect(messages.match(/^event: ai\.message\.chunk$/gm)).toHaveLength(chunks.length);
    expect(view.payloads('provider.usage')).toHaveLength(1);
  },
};

const unknownMock: Scenario = {
  name: 'refuses a stand-in that there is none of',
  async run(host) {
    const { status, body } = await host.create({
      workflowId: 'conformance-stream-text',
      configurable: { mockProvider: { id: 'crystal-ball' } },
    });
    expect([status, body.error]).toEqual([400, 'unsupported_mock_provider']);
  },
};

const prompt = (kind: string, name: string) => [kind, `prompt:conformance.prompt.${name}@1.0.0`] as const;

export const promptScenarios: Scenarios = {
  'conformance-prompt-end-to-end': [composes('conformance-prompt-end-to-end', [prompt('system', 'writer-system')])],
  'conformance-prompt-all-four-kinds': [
    composes('conformance-prompt-all-four-kinds', [
      prompt('system', 'writer-system'),
      prompt('user', 'writer-user'),
      prompt('schema-hint', 'schema-hint'),
      prompt('few-shot', 'few-shot'),
      prompt('few-shot', 'few-shot-2'),
    ]),
  ],
  'conformance-model-capability-insufficient': [insufficient],
  'conformance-stream-text': [streams, unknownMock],
};
