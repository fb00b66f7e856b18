/** Prompt templates of the host as prompts of MCP. */
import { isJsonObject, type Json } from '@cairn/protocol';
import { filledPrompt, slotsOf } from '../../agents/prompts/filled-prompt.ts';
import type { PromptRegistry } from '../../agents/prompts/prompt-registry.ts';
import type { PromptTemplate } from '../../agents/prompts/prompt-template.ts';
import type { Redactor } from '../../engine/ports.ts';
import type { HostExtension } from '../host-extension.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import type { Call } from '../http/routes.ts';
import type { McpRequest } from './inbound.ts';
import { replyOf } from './questions.ts';
import { McpError } from './rpc.ts';

export interface PromptPorts {
  readonly prompts: PromptRegistry;
  readonly cursors: PageCursors;
  /** Hides what a template holds by mistake. */
  readonly redactor: Redactor | null;
  readonly extension: Pick<HostExtension, 'mcpResources' | 'mcpPrompts'>;
}

/** Prompts in one page of the list. */
const PAGE = 100;

/** Only these are for people: the others tell models how to behave. */
const offered = ({ prompts }: PromptPorts): readonly PromptTemplate[] => prompts.newest('user');

/** By name, the newest version of each. */
export function listedPrompts({ caller: { tenant } }: Call, ports: PromptPorts, cursor: string | undefined) {
  const after = ports.cursors.placeOf(tenant, cursor);
  const from = after === undefined ? 0 : Number(after);
  const all = offered(ports);
  const nextCursor = ports.cursors.shown(tenant, from + PAGE < all.length ? String(from + PAGE) : null);
  const more = cursor === undefined ? (ports.extension.mcpPrompts?.listed ?? []) : [];
  return { prompts: [...more, ...all.slice(from, from + PAGE).map(shown)], ...(nextCursor !== null && { nextCursor }) };
}

const shown = (template: PromptTemplate) => ({
  name: template.templateId,
  ...(template.name !== undefined && { title: template.name }),
  description: template.description ?? `The prompt template ${template.templateId}.`,
  arguments: slotsOf(template).map(({ name, description, required }) => ({
    name,
    ...(description !== undefined && { description }),
    required,
  })),
});

/** The prompt, or a form for what is missing if the client can show one. */
export function gotPrompt(request: McpRequest, ports: PromptPorts): object {
  const { name, arguments: given = {} } = request.params;
  const added = ports.extension.mcpPrompts?.get(String(name), given) ?? null;
  if (added !== null) return added;
  const template = promptNamed(name, ports);
  const texts = { ...textsOf(given), ...formTexts(request) };
  const missing = slotsOf(template).filter((slot) => slot.required && !Object.hasOwn(texts, slot.name));
  if (missing.length > 0 && asksFor(request)) return inputRequired(template, missing);
  const filled = filledPrompt(template, texts);
  if ('problem' in filled) throw new McpError('params', `The prompt cannot be filled: ${filled.problem}.`);
  const text = ports.redactor?.text(filled.text) ?? filled.text;
  return {
    ...(template.description !== undefined && { description: template.description }),
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}

export function promptNamed(name: Json | undefined, ports: PromptPorts): PromptTemplate {
  const template = offered(ports).find(({ templateId }) => templateId === name);
  if (template !== undefined) return template;
  throw new McpError('params', 'There is no such prompt. prompts/list names those of the host.');
}

/** The name of the form that asks for arguments. */
const FORM = 'arguments';

/** Not again after the client has answered. */
const asksFor = ({ isModern, session, params }: McpRequest): boolean =>
  isModern && session.canElicit && params.inputResponses === undefined;

function inputRequired({ templateId, name = templateId }: PromptTemplate, missing: ReturnType<typeof slotsOf>): object {
  const fields = missing.map(({ name: field, description }) => [
    field,
    { type: 'string', title: field, ...(description !== undefined && { description }) },
  ]);
  const requestedSchema = {
    type: 'object',
    properties: Object.fromEntries(fields),
    required: missing.map(({ name: field }) => field),
  };
  const params = { mode: 'form', message: `The prompt ${name} needs arguments.`, requestedSchema };
  return { resultType: 'input_required', inputRequests: { [FORM]: { method: 'elicitation/create', params } } };
}

/** Nothing is kept between the two requests: the answers are arguments, and are checked as such. */
function formTexts({ isModern, params: { inputResponses } }: McpRequest): Readonly<Record<string, string>> {
  if (!isModern || !isJsonObject(inputResponses)) return {};
  const reply = replyOf(inputResponses[FORM]);
  return reply?.action === 'accept' ? textsOf(reply.content) : {};
}

function textsOf(given: Json): Readonly<Record<string, string>> {
  const values = isJsonObject(given) ? Object.entries(given) : null;
  if (values === null || !values.every((entry): entry is [string, string] => typeof entry[1] === 'string')) {
    throw new McpError('params', 'arguments must be an object of texts.');
  }
  return Object.fromEntries(values);
}
