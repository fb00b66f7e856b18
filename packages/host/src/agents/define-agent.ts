/** Defines an agent in code. It is stored in the same registry and format as an agent of a pack. */
import {
  type AgentManifest,
  agentManifest,
  type JsonObject,
  type ManifestModelClass,
  quoted,
  TerminalError,
} from '@cairn/protocol';
import { z } from 'zod';
import type { AgentDefinition } from '../engine/ports.ts';
import { compileSchema } from '../engine/values/schemas.ts';
import { type OptionNames, refuseUnknownOptions } from '../engine/workflow/known-options.ts';
import { nearest } from '../nearest.ts';
import { listsTool } from './allowlist.ts';
import type { OnInputRequired } from './coordination/input-required.ts';
import { readScript, type Script } from './models/scripted/script.ts';

export interface AgentOptions {
  /** `host:<name>`, local to this host; or `<tier>.<org>.<pack>.<agent>`, like agents of packs. */
  readonly id: string;
  /** The display name. */
  readonly persona: string;
  /** The system prompt. */
  readonly instructions: string;
  /** Selects the configured model. Default `general`. */
  readonly modelClass?: ManifestModelClass;
  /** Default: the persona. */
  readonly label?: string;
  readonly description?: string;
  /** The tools it may call, as ids or results of `defineTool`. Default: none. */
  readonly tools?: readonly (string | { readonly id: string })[];
  /** Schema of a task: a zod schema or a JSON Schema. */
  readonly task?: z.ZodType | JsonObject;
  /** Schema of the result. */
  readonly result?: z.ZodType | JsonObject;
  /** Decisions below this confidence need human review. Default 0.7. */
  readonly confidenceThreshold?: number;
  /** The memories it reads and writes. */
  readonly memory?: AgentManifest['memoryShape'];
  /** A script for the scripted model, to try the agent without a provider. */
  readonly rehearsal?: JsonObject;
  /**
   * Answers questions of the tasks below, before the user is asked, instead of a turn of the model. It gets only questions
   * that any principal may answer: no approvals, no sign-ins, nothing that requires the user.
   */
  readonly onInputRequired?: OnInputRequired;
}

/** An element of `createHost({ agents })`. */
export interface DefinedAgent {
  readonly agentId: string;
  readonly definition: Omit<AgentDefinition, 'packName' | 'packVersion'>;
  readonly onInputRequired?: OnInputRequired;
}

/** Ids with further colons are reserved for agents that the host generates: of peers, of other hosts, of tests. */
const ownId = /^host:[a-zA-Z0-9][a-zA-Z0-9._-]*$/;

const optionNames: OptionNames<AgentOptions> = {
  id: true,
  persona: true,
  instructions: true,
  modelClass: true,
  label: true,
  description: true,
  tools: true,
  task: true,
  result: true,
  confidenceThreshold: true,
  memory: true,
  rehearsal: true,
  onInputRequired: true,
};

/** Throws `config_invalid` for invalid and unknown options. Whether its tools exist is checked at run time. */
export function defineAgent(options: AgentOptions): DefinedAgent {
  const { id: agentId, rehearsal } = options;
  refuseUnknownOptions(`The agent ${quoted(agentId, 120)}`, options, optionNames);
  const taskSchema = schemaOf(agentId, 'task', options.task);
  const returnSchema = schemaOf(agentId, 'result', options.result);
  const manifest = manifestOf(options);
  const read = rehearsal === undefined ? null : readScript(rehearsal);
  if (read !== null && 'problems' in read) {
    throw wrongAgent(agentId, 'rehearsal', `is not a script: ${read.problems.slice(0, 3).join('; ')}`);
  }
  if (read !== null) refuseToolTypos(manifest, read.script);
  return {
    agentId,
    ...(options.onInputRequired === undefined ? {} : { onInputRequired: options.onInputRequired }),
    definition: {
      manifest,
      systemPrompt: options.instructions,
      ...(taskSchema === undefined ? {} : { taskSchema }),
      ...(returnSchema === undefined ? {} : { returnSchema }),
      ...(rehearsal === undefined ? {} : { rehearsal }),
    },
  };
}

/** A rehearsal may call a tool that the agent must not have. A name that is nearly one of its tools is a typo. */
function refuseToolTypos({ agentId, toolAllowlist = [] }: AgentManifest, { turns }: Script): void {
  for (const { call } of turns.flat()) {
    if (call === undefined || listsTool(toolAllowlist, call.tool)) continue;
    const near = nearest(call.tool, toolAllowlist, 1);
    if (near !== null) throw wrongAgent(agentId, 'rehearsal', `calls ${call.tool}; did you mean ${near}?`);
  }
}

function manifestOf(options: AgentOptions): AgentManifest {
  const { id, persona, modelClass = 'general', label, description, tools = [], confidenceThreshold, memory } = options;
  const isOwn = ownId.test(id) && id.length <= 256;
  const parsed = agentManifest.safeParse({
    // The manifest schema rejects `host:` ids, which no pack may use. All other rules apply here too.
    agentId: isOwn ? 'local.host.agent' : id,
    persona,
    modelClass,
    ...(label === undefined ? {} : { label }),
    ...(description === undefined ? {} : { description }),
    systemPrompt: options.instructions,
    toolAllowlist: tools.map((tool) => (typeof tool === 'string' ? tool : tool.id)),
    ...(memory === undefined ? {} : { memoryShape: memory }),
    ...(confidenceThreshold === undefined ? {} : { confidence: { defaultThreshold: confidenceThreshold } }),
  });
  if (parsed.success) return { ...parsed.data, agentId: id };
  const [issue] = parsed.error.issues;
  const field = String(issue?.path[0] ?? '');
  throw wrongAgent(id, optionOf[field] ?? field, field === 'agentId' ? ID_RULE : (issue?.message ?? 'is not valid'));
}

const ID_RULE =
  'must be host:<name>, or <tier>.<org>.<pack>.<agent> where the tier is core, vendor, community, private or local';

/** Maps manifest fields to the option names that differ. */
const optionOf: Readonly<Record<string, string>> = {
  agentId: 'id',
  systemPrompt: 'instructions',
  toolAllowlist: 'tools',
  confidence: 'confidenceThreshold',
  memoryShape: 'memory',
};

function schemaOf(id: string, field: string, schema: z.ZodType | JsonObject | undefined): JsonObject | undefined {
  if (schema === undefined) return undefined;
  try {
    const plain = schema instanceof z.ZodType ? (z.toJSONSchema(schema, { io: 'input' }) as JsonObject) : schema;
    compileSchema(plain);
    return plain;
  } catch (error) {
    throw wrongAgent(id, field, `is not a schema that can be checked: ${(error as Error).message}`);
  }
}

const wrongAgent = (id: string, field: string, problem: string): TerminalError =>
  new TerminalError('config_invalid', {
    message: `The agent ${quoted(id, 120)} cannot be defined: ${field} ${problem}.`,
    hint: 'Correct the options of defineAgent.',
    details: { agentId: id, field },
  });
