/** The content of a program: what it defines for a host. `cairn dev` loads one, and `createHost` takes the same keys. */
import { type AuthoredWorkflow, quoted, TerminalError } from '@cairn/protocol';
import type { DefinedAgent } from '../agents/define-agent.ts';
import type { PromptTemplate } from '../agents/prompts/prompt-template.ts';
import type { Tool } from '../agents/tools/tool.ts';
import type { Step } from '../engine/ports.ts';
import { nearest } from '../nearest.ts';

export interface App {
  /** Functions defined with `defineStep` that workflows may name. */
  readonly steps: readonly Step[];
  /** Agents defined with `defineAgent`, for every tenant. */
  readonly agents: readonly DefinedAgent[];
  /** Tools defined with `defineTool` that agents may call, if their manifests list them. */
  readonly tools: readonly Tool[];
  /** Templates that agent nodes may refer to. */
  readonly prompts: readonly PromptTemplate[];
  /** Definitions to register at start, for each tenant of the keys; without keys, for the tenant `local`. */
  readonly workflows: readonly AuthoredWorkflow[];
}

/** For each list: what its elements are, and fields that all of them have. */
const lists: { readonly [Key in keyof App]: { readonly what: string; readonly fields: readonly string[] } } = {
  steps: { what: 'a result of defineStep', fields: ['typeId', 'run'] },
  agents: { what: 'a result of defineAgent', fields: ['agentId', 'definition'] },
  tools: { what: 'a result of defineTool', fields: ['id', 'check', 'run'] },
  prompts: { what: 'a prompt template', fields: ['templateId', 'version'] },
  workflows: { what: 'a result of defineWorkflow', fields: ['id', 'nodes', 'edges'] },
};

const names = Object.keys(lists);

/**
 * Collects what a program defines. Make it the default export of the file for `cairn dev`, or spread it into the options
 * of `createHost`. Throws `config_invalid` for a key or an element that does not belong there.
 */
export function defineApp(app: Partial<App>): App {
  if (!isObject(app))
    throw wrong('it is not an object', `Write { ${names.join(', ')} }; each of them may be left out.`);
  const unknown = Object.keys(app).find((key) => !names.includes(key));
  if (unknown !== undefined) throw unknownKey(unknown);
  for (const [key, elements] of Object.entries(app)) {
    if (elements === undefined) continue;
    if (!Array.isArray(elements)) throw wrong(`${key} is not a list`, `Write ${key}: [...].`);
    const { what, fields } = lists[key as keyof App];
    const index = elements.findIndex((element) => !hasFields(element, fields));
    if (index !== -1) throw wrong(`${key}[${index}] is not ${what}`, `Each element of ${key} is ${what}.`);
  }
  const { steps = [], agents = [], tools = [], prompts = [], workflows = [] } = app;
  refuseTwins(workflows);
  return { steps, agents, tools, prompts, workflows };
}

/** The later one would silently replace the other on a development host. */
function refuseTwins(workflows: App['workflows']): void {
  const seen = new Map<string, number>();
  for (const [index, { id, version }] of workflows.entries()) {
    const name = JSON.stringify([id, version ?? null]);
    const twin = seen.get(name);
    if (twin !== undefined)
      throw wrong(
        `workflows[${twin}] and workflows[${index}] are both ${quoted(id, 80)}`,
        'Give each an id of its own.',
      );
    seen.set(name, index);
  }
}

/** The app in the default export of a program. */
export function appOf(exported: unknown): App {
  if (isObject(exported)) return defineApp(exported);
  throw wrong(
    'the file has no default export that is one',
    'Write export default defineApp({ tools, agents, workflows }).',
  );
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const hasFields = (element: unknown, fields: readonly string[]): boolean =>
  isObject(element) && fields.every((field) => field in element);

function unknownKey(key: string): TerminalError {
  const meant = nearest(key, names);
  const rest = meant === null ? '' : `, which may mean ${meant}`;
  return wrong(`it has the unknown key ${quoted(key, 60)}${rest}`, `An app has ${names.join(', ')}.`);
}

const wrong = (why: string, hint: string): TerminalError =>
  new TerminalError('config_invalid', { message: `The app cannot be used: ${why}.`, hint });
