/** Workflows as skills: which there are, and how a message becomes the inputs of one. */
import { isCairnError, type JsonObject, type WorkflowDefinition } from '@cairn/protocol';
import type { Engine } from '../../engine/engine.ts';
import type { Definitions } from '../../log/ports/definitions.ts';
import type { WorkflowFace, WorkflowFaces } from '../catalogue/workflow-faces.ts';
import type { InboundMessage } from './inbound.ts';
import { RpcError } from './rpc.ts';

export interface WorkflowPorts {
  readonly engine: Pick<Engine, 'workflow'>;
  readonly definitions: Pick<Definitions, 'workflow' | 'workflows'>;
  readonly faces: WorkflowFaces;
}

/** No id of an agent has this form. */
const workflowId = /^[a-z][a-z0-9_-]{0,127}$/;

export const isWorkflowId = (skillId: string): boolean => workflowId.test(skillId);

/** Workflows on one card, the first by id. */
const MAX_ON_CARD = 200;

export async function listedWorkflows(tenant: string, ports: WorkflowPorts): Promise<readonly WorkflowFace[]> {
  const found: WorkflowFace[] = [];
  for (const record of (await ports.definitions.workflows(tenant)).slice(0, MAX_ON_CARD)) {
    found.push(await ports.faces.of(record));
  }
  return found;
}

/** What is shown of one of them. */
export async function workflowFace(tenant: string, id: string, ports: WorkflowPorts): Promise<WorkflowFace> {
  const record = await ports.definitions.workflow(tenant, id);
  if (record === null) throw new RpcError('params', 'There is no such agent or workflow.', 'not_found');
  return ports.faces.of(record);
}

export async function workflowNamed(tenant: string, id: string, ports: WorkflowPorts): Promise<WorkflowDefinition> {
  try {
    return await ports.engine.workflow(tenant, id);
  } catch (error) {
    if (!isCairnError(error, 'not_found')) throw error;
    throw new RpcError('params', 'There is no such agent or workflow.', error.code);
  }
}

/**
 * Data parts hold the inputs by name. Text is the input that is called `message`, or else the only text that the
 * workflow requires and the data leaves open.
 */
export function inputsIn({ text, data }: InboundMessage, { variables, channels = {} }: WorkflowDefinition): JsonObject {
  const given: JsonObject = Object.fromEntries(data.flatMap((part) => Object.entries(part)));
  if (text === '') return given;
  const open = variables.filter(
    ({ name, type }) => type === 'string' && !Object.hasOwn(channels, name) && !Object.hasOwn(given, name),
  );
  const required = open.filter(({ required: isRequired }) => isRequired === true);
  const taker = open.find(({ name }) => name === 'message') ?? (required.length === 1 ? required[0] : undefined);
  if (taker !== undefined) return { ...given, [taker.name]: text };
  const names = variables.map(({ name }) => name).slice(0, 20);
  throw new RpcError(
    'params',
    `No input of the workflow takes the text. Send a data part with its inputs: ${names.join(', ') || 'it has none'}.`,
  );
}
