/** The tools that the loop answers itself: one states a decision, one hands work to a colleague. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import type { ModelTool } from '../../models/turn.ts';
import { loopTools, modelName } from '../../tools/tool-registry.ts';
import type { Agent, Colleague } from '../agent.ts';
import { shownJson, validConfidence } from '../rows.ts';
import { schemaAsPart } from '../schema-part.ts';

const decideName = modelName(loopTools.decide);
const handoffName = modelName(loopTools.handoff);

/** Accepts the name shown to the model, or the tool id, which some models use instead. */
export function loopToolCalled(name: string): string | null {
  if (name === decideName || name === loopTools.decide) return loopTools.decide;
  if (name === handoffName || name === loopTools.handoff) return loopTools.handoff;
  return null;
}

/** The loop tools that an agent is offered. */
export function loopToolsOf(agent: Agent): ModelTool[] {
  const tools: ModelTool[] = [];
  if (mayDecide(agent)) tools.push(decideTool(agent.returnSchema));
  if (mayHandOff(agent)) tools.push(handoffTool(agent.colleagues));
  return tools;
}

export const mayDecide = (agent: Agent): boolean => agent.hasConfidence || lists(agent, loopTools.decide);
export const mayHandOff = (agent: Agent): boolean => agent.colleagues.length > 0 && lists(agent, loopTools.handoff);

/** Loop tools reach nothing outside the run, so only the manifest's allowlist applies. */
const lists = ({ allowlist = [] }: Agent, id: string): boolean =>
  allowlist.some((line) => line === id || line === '*' || line === 'openwop:*');

const decideTool = (returnSchema: JsonObject | undefined): ModelTool => ({
  toolId: loopTools.decide,
  name: decideName,
  description:
    'State your decision; this ends your work. Say in confidence, from 0 to 1, how sure you are that a careful person would decide the same. A person looks at decisions you are not sure of.',
  inputSchema: {
    type: 'object',
    required: ['decision'],
    properties: {
      decision:
        returnSchema === undefined
          ? { description: 'What you decided, in words or as data.' }
          : schemaAsPart(returnSchema, '#/properties/decision'),
      confidence: { type: 'number', minimum: 0, maximum: 1 },
      reasoning: { type: 'string', description: 'Why, in a sentence or two.' },
    },
  },
});

const handoffTool = (colleagues: readonly Colleague[]): ModelTool => ({
  toolId: loopTools.handoff,
  name: handoffName,
  description: `Hand the work to a colleague; this ends your part in it. They see your message and nothing else of what was said. ${colleagues.map(introduction).join(' ')}`,
  inputSchema: {
    type: 'object',
    required: ['agentId', 'message'],
    properties: {
      agentId: { enum: colleagues.map(({ agentId }) => agentId) },
      message: { type: 'string', minLength: 1, description: 'What they are to do, with all that they need to know.' },
      task: { type: 'object', description: 'Data that goes with the message, where they ask for some.' },
      reason: { type: 'string', description: 'Why them.' },
    },
  },
});

const introduction = ({ agentId, persona, description }: Colleague): string =>
  `${agentId} is ${persona}${description === undefined ? '' : `: ${description}`}`;

export interface StatedDecision {
  readonly decision: Json;
  /** As the model stated it; need not be a number when it stated it again after a refusal. */
  readonly confidence: Json | undefined;
  readonly reasoning: string | undefined;
}

export interface HandedOn {
  readonly agentId: string;
  readonly message: string;
  readonly task: JsonObject | undefined;
  readonly reason: string | undefined;
}

export function readDecision(input: Json): StatedDecision | string {
  const { decision, confidence, reasoning } = fieldsOf(input);
  if (decision === undefined) return 'decision is missing';
  return { decision, confidence, reasoning: typeof reasoning === 'string' ? reasoning : undefined };
}

/** Why a stated confidence is none; null for a confidence, and where none is stated. */
export const confidenceProblem = ({ confidence }: StatedDecision): string | null =>
  confidence === undefined || validConfidence(confidence) !== undefined
    ? null
    : `confidence must be a number from 0 to 1, and is ${shownJson(confidence)}`;

export function readHandoff(input: Json, { colleagues }: Agent): HandedOn | string {
  const { agentId, message, task, reason } = fieldsOf(input);
  const to = colleagues.find((colleague) => colleague.agentId === agentId);
  if (to === undefined) {
    return `agentId must be one of ${colleagues.map((colleague) => colleague.agentId).join(', ')}`;
  }
  if (typeof message !== 'string' || message === '') return 'message must be text';
  if (task !== undefined && !isJsonObject(task)) return 'task must be an object';
  return {
    agentId: to.agentId,
    message,
    task,
    reason: typeof reason === 'string' && reason !== '' ? reason : undefined,
  };
}

const fieldsOf = (input: Json): JsonObject => (isJsonObject(input) ? input : {});
