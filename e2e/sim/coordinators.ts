/** An agent above that answers the questions of child runs: a node that acts as it, and what it gives back when asked. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import type { AgentSource } from '../../packages/host/src/engine/ports.ts';
import { defineNodeType } from '../../packages/host/src/engine/workflow/node-type.ts';
import type { Random } from '../../packages/host/test/kit/random.ts';

const BOSS = 'host:boss';

/** A run in which this node has ended has an agent, which the questions of its later children go to. */
export const bossNode = defineNodeType({
  typeId: 'sim.boss',
  config: z.looseObject({}),
  actsAsAgent: () => true,
  begin: () => ({ kind: 'complete', outputs: {} }),
});

export const drawnBoss = { typeId: bossNode.typeId, agent: { agentId: BOSS } } as const;

const HASH = '0'.repeat(64);

export const agents: AgentSource = {
  pin: async (_tenant, agentIds) =>
    Object.fromEntries(agentIds.map((agentId) => [agentId, { hash: HASH, ref: { agentId } }])),
  definition: async () => ({
    packName: 'sim',
    packVersion: '1',
    manifest: { agentId: BOSS, persona: 'Boss', modelClass: 'general', systemPrompt: 'Decide.' },
    systemPrompt: 'Decide.',
  }),
};

/** An answer that fits, one that does not, or none. A turn of a model costs something. */
export function drawVerdict({ questions }: JsonObject, callId: string, random: Random): Json {
  const [first] = Array.isArray(questions) ? questions : [];
  const id = isJsonObject(first) ? String(first.id) : '';
  const usage = { provider: 'sim', model: 'small', inputTokens: 3, outputTokens: 2 };
  const verdict = random.pick<JsonObject>([
    { answer: { answers: { [id]: `the boss says ${callId}` } } },
    { answer: { answers: { [id]: `the boss says ${callId}` } } },
    { answer: { answers: { none: 7 } } },
    { forward: true },
  ]);
  return random.chance(0.5) ? { ...verdict, usage } : verdict;
}
