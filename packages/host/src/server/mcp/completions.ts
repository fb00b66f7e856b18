/** `completion/complete`: what an argument of a prompt, or a part of the address of a resource, may be. */
import { isJsonObject, type JsonObject } from '@cairn/protocol';
import { slotsOf } from '../../agents/prompts/filled-prompt.ts';
import { requireScope } from '../access/auth.ts';
import type { Call } from '../http/routes.ts';
import { type PromptPorts, promptNamed } from './prompts.ts';
import { ARTIFACT, type ResourcePorts, RUN, templatesOf } from './resources.ts';
import { McpError } from './rpc.ts';

type CompletionPorts = PromptPorts & ResourcePorts;

/** Values in one response: as many as the protocol allows. They are sought among as many runs. */
const MAX_VALUES = 100;

export async function completed(call: Call, params: JsonObject, ports: CompletionPorts): Promise<object> {
  const { ref, argument } = params;
  const { name, value } = isJsonObject(argument) ? argument : {};
  if (!isJsonObject(ref) || typeof name !== 'string' || typeof value !== 'string') {
    throw new McpError('params', 'completion/complete needs a ref, and an argument with a name and a value.');
  }
  const all = await candidates(call, { ref, name }, ports);
  const values = [...new Set(all)].filter((one) => one.startsWith(value)).slice(0, MAX_VALUES);
  return { completion: { values, hasMore: false } };
}

interface Sought {
  readonly ref: JsonObject;
  readonly name: string;
}

async function candidates(call: Call, { ref, name }: Sought, ports: CompletionPorts): Promise<readonly string[]> {
  if (ref.type === 'ref/prompt') {
    requireScope(call.caller, 'manifest:read');
    const known = ports.extension.mcpPrompts?.listed ?? [];
    if (known.some((one) => 'name' in one && one.name === ref.name)) return [];
    return slotValues(promptNamed(ref.name, ports), name);
  }
  const isKnown = templatesOf(ports).some((one) => 'uriTemplate' in one && one.uriTemplate === ref.uri);
  if (ref.type !== 'ref/resource' || !isKnown) {
    throw new McpError('params', 'ref names no prompt and no resource template of this host.');
  }
  const { runs } = await ports.runIndex.list({ tenant: call.caller.tenant, limit: MAX_VALUES, cursor: undefined });
  if (ref.uri === RUN && name === 'runId') return runs.map(({ runId }) => runId);
  return ref.uri === ARTIFACT && name === 'contextId' ? runs.map(({ contextId }) => contextId) : [];
}

/** What a template says about a value: its default, or both of two. */
function slotValues(template: ReturnType<typeof promptNamed>, name: string): readonly string[] {
  const slot = slotsOf(template).find((one) => one.name === name);
  if (slot === undefined) throw new McpError('params', 'The prompt has no such argument.');
  if (slot.type === 'boolean') return ['true', 'false'];
  return typeof slot.defaultValue === 'string' ? [slot.defaultValue] : [];
}
