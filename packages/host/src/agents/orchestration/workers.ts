/** Briefs a supervisor about its workers: in its system prompt and in the schema of its decision. */
import { type JsonObject, orchestratorDecision } from '@cairn/protocol';
import { z } from 'zod';
import type { Agents } from '../../engine/pins/pinned.ts';
import type { AgentDefinition } from '../../engine/ports.ts';
import type { ConfiguredNode } from '../../engine/workflow/node-type.ts';

/** The workers that a supervisor may dispatch. */
export const workerList = z
  .array(
    z.strictObject({
      /** The id of the workflow to run. */
      id: z.string().min(1).max(256),
      description: z.string().min(1).max(2000),
    }),
  )
  .min(1)
  .max(100)
  .refine((workers) => new Set(workers.map(({ id }) => id)).size === workers.length, 'no worker may be named twice');

type Worker = z.infer<typeof workerList>[number];

export interface WorkersConfig {
  readonly workers?: readonly Worker[] | undefined;
}

type Supervisor = Pick<ConfiguredNode<WorkersConfig>, 'node' | 'config'>;

const schemaOf = (schema: z.ZodType): JsonObject => z.toJSONSchema(schema) as JsonObject;

/** Computed once: the schema never changes. */
const { $schema: _, ...anyDecision } = schemaOf(orchestratorDecision);

interface Brief {
  readonly schema: JsonObject;
  readonly words: string;
}

/** Keyed by config object: a definition is compiled once, so the object is stable. */
const briefs = { asking: new WeakMap<object, Brief>(), silent: new WeakMap<object, Brief>() };

function briefOf(config: WorkersConfig, mayAsk: boolean): Brief {
  const kept = mayAsk ? briefs.asking : briefs.silent;
  const known = kept.get(config);
  if (known !== undefined) return known;
  const { workers = [] } = config;
  const brief = { schema: decisionSchema(workers, mayAsk), words: wordsFor(workers, mayAsk) };
  kept.set(config, brief);
  return brief;
}

/** Restricts worker ids to the listed workers, if any, and leaves `ask-user` out when no question is left. */
function decisionSchema(workers: readonly Worker[], mayAsk: boolean): JsonObject {
  if (workers.length === 0 && mayAsk) return anyDecision;
  const [next, ask, end] = orchestratorDecision.options;
  const ids = workers.length === 0 ? z.string().min(1).max(256) : z.enum(workers.map(({ id }) => id));
  const named = next.extend({ nextWorkerIds: z.array(ids).min(1) });
  const { $schema: __, ...schema } = schemaOf(z.discriminatedUnion('kind', mayAsk ? [named, ask, end] : [named, end]));
  return schema;
}

const wordsFor = (workers: readonly Worker[], mayAsk: boolean): string =>
  [
    'You supervise this run. Each time you are asked, decide what happens next, as one JSON object and nothing else:',
    '- {"kind":"next-worker","nextWorkerIds":["…"]} sends workers out; you are asked again when they are back.',
    mayAsk
      ? '- {"kind":"ask-user","prompt":"…"} asks the person this run works for.'
      : 'You have asked the person as often as you may. Go on with what you know.',
    '- {"kind":"terminate","reason":"…"} ends the run.',
    'With "confidence" from 0 to 1 you say how sure you are of sending workers or of ending the run.',
    ...(workers.length === 0
      ? []
      : ['The workers:', ...workers.map(({ id, description }) => `- ${id}: ${description}`)]),
  ].join('\n');

/**
 * The run's agents as used in a supervisor node. Each must return a decision; the node's own agent also gets the worker
 * list.
 */
export function briefed({ node, config }: Supervisor, agents: Agents, mayAsk = true): Agents {
  const { schema, words } = briefOf(config, mayAsk);
  const told = new Map<string, AgentDefinition>();
  for (const [agentId, definition] of agents) {
    const { systemPrompt } = definition;
    const briefing = agentId === node.agent?.agentId ? `${systemPrompt}\n\n${words}` : systemPrompt;
    told.set(agentId, { ...definition, systemPrompt: briefing, returnSchema: schema });
  }
  return told;
}
