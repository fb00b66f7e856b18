/**
 * Decides which tools an agent sees and, at each call, whether it may use one. A tool must pass every list: the
 * operator's policy, the host's registry, the agent's manifest, the run's options and the starter's scopes.
 */
import { type JsonObject, quoted } from '@cairn/protocol';
import type { Tool } from './tools/tool.ts';
import type { ToolLookup, ToolRegistry } from './tools/tool-registry.ts';

/** Lines of an allowlist, and its name as users find it in configuration. */
export interface ToolLines {
  readonly name: string;
  readonly lines: readonly string[];
}

/** The operator's policy: a default list, and lists that replace it for single tenants. */
export interface ToolPolicy {
  /** Undefined: every tool of the host. */
  readonly allow: readonly string[] | undefined;
  readonly tenants: Readonly<Record<string, readonly string[]>>;
}

/** The inputs of the decision for one agent in one run. */
export interface ToolAccess {
  /** The tools of the host. */
  readonly registry: ToolLookup;
  /** The operator's list for the tenant: see `permitted`. */
  readonly policy: ToolLines;
  /** `toolAllowlist` of the manifest; undefined means no tools. */
  readonly allowlist: readonly string[] | undefined;
  /** The list from the run's options: see `ceilingOf`. */
  readonly ceiling: readonly string[] | undefined;
  /** `tool:` scopes of the run's starter; undefined when unknown. */
  readonly scopes: readonly string[] | undefined;
}

/** The lines that allowed a tool, or the line that denied it, as text. */
export type ToolRule = string;

export interface ShownTool {
  /** The name shown to the model. */
  readonly name: string;
  readonly tool: Tool;
  readonly rule: ToolRule;
}

export type Authorization =
  | { readonly allowed: true; readonly tool: Tool; readonly rule: ToolRule }
  | {
      readonly allowed: false;
      /** `tool_not_found` when the host has no such tool. */
      readonly code: 'forbidden' | 'tool_not_found';
      /** The id of the tool, or the model's name for an unknown tool. */
      readonly toolId: string;
      readonly message: string;
      /** The line that decided, or the missing one. */
      readonly rule: ToolRule;
      readonly requiredScopes: readonly string[];
    };

/** The key in a run's options that limits its tools. */
const CEILING = 'cairn.tools';

/** The tools an agent sees, sorted by id. */
export function toolSurface(access: ToolAccess): readonly ShownTool[] {
  return access.registry.all.flatMap((tool) => {
    const judged = judge(access, tool);
    return judged.allowed ? [{ name: access.registry.nameOf(tool.id), tool, rule: judged.rule }] : [];
  });
}

/** Checks whether an agent may call the named tool. It does not rely on the tools shown before. */
export function authorize(access: ToolAccess, name: string): Authorization {
  const tool = access.registry.called(name);
  if (tool !== undefined) return judge(access, tool);
  return {
    allowed: false,
    code: 'tool_not_found',
    toolId: name,
    message: `There is no tool ${quoted(name, 80)}.`,
    rule: 'the host offers no such tool',
    requiredScopes: [],
  };
}

/** The operator's list for a tenant: the upper limit for every agent and run. */
export function permitted({ allow, tenants }: ToolPolicy, registry: ToolRegistry, tenant: string): ToolLines {
  const own = Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined;
  if (own !== undefined) return { name: `tools.tenants.${tenant}`, lines: own };
  if (allow !== undefined) return { name: 'tools.allow', lines: allow };
  const scopes = new Set(registry.all.map(({ id }) => id.slice(0, id.indexOf(':'))));
  // Last, so that the places of the others stay those in the rules of older records, whatever MCP servers list.
  const hasPeers = scopes.delete('a2a');
  scopes.delete('mcp');
  scopes.add('client').add('mcp');
  if (hasPeers) scopes.add('a2a');
  return { name: 'tools.allow (default)', lines: [...scopes].map((scope) => `${scope}:*`) };
}

/** The tools that a caller may use through any agent, as the catalogue lists them. */
export const invocable = (access: Pick<ToolAccess, 'registry' | 'policy' | 'scopes'>): readonly Tool[] =>
  access.registry.all.filter(
    (tool) => firstLine(access.policy.lines, tool.id) !== -1 && missingScopes(access, tool).length === 0,
  );

/** The tool list in a run's options. Undefined when absent; empty, which allows no tools, when malformed. */
export function ceilingOf(configurable: JsonObject | null | undefined): readonly string[] | undefined {
  const value = configurable?.[CEILING];
  if (value === undefined) return undefined;
  return Array.isArray(value) && value.every((line) => typeof line === 'string') ? value : [];
}

/** An id, `*`, or a prefix that ends at `:`, `.` or `/`, followed by `*`. */
export const toolLinePattern =
  /^(\*|[a-z0-9][a-z0-9.-]*:([A-Za-z0-9._/-]*[./])?\*|[a-z0-9][a-z0-9.-]*:[A-Za-z0-9._/-]+)$/;

function judge(access: ToolAccess, tool: Tool): Authorization {
  const { id } = tool;
  const { policy, ceiling } = access;
  const listed = allowlistLine(access, id);
  if ('missing' in listed) return denied(tool, listed.missing);
  const permittedBy = firstLine(policy.lines, id);
  if (permittedBy === -1) return denied(tool, lacks(policy, id));
  const passed = [listed.line, lineText(policy, permittedBy)];
  if (ceiling !== undefined) {
    const run = { name: CEILING, lines: ceiling };
    const capped = firstLine(ceiling, id);
    if (capped === -1) return denied(tool, lacks(run, id));
    passed.push(lineText(run, capped));
  }
  const missing = missingScopes(access, tool);
  if (missing.length > 0) return denied(tool, `${id} needs ${missing.join(', ')}, which the starter of the run lacks`);
  return { allowed: true, tool, rule: passed.join('; ') };
}

/** A `*` in a manifest counts only if the operator's list has `*` as well. */
function allowlistLine({ allowlist, policy }: ToolAccess, id: string): { line: string } | { missing: string } {
  if (allowlist === undefined) return { missing: 'toolAllowlist is missing, which means no tools' };
  const list = { name: 'toolAllowlist', lines: allowlist };
  const isOpen = policy.lines.includes('*');
  const found = allowlist.findIndex((line) => matches(line, id) && (line !== '*' || isOpen));
  if (found !== -1) return { line: lineText(list, found) };
  const wish = allowlist.indexOf('*');
  return {
    missing: wish === -1 ? lacks(list, id) : `${lineText(list, wish)} counts only where ${policy.name} has "*"`,
  };
}

function denied(tool: Tool, rule: ToolRule): Authorization {
  const message = `The tool ${tool.id} may not be called here: ${rule}.`;
  return { allowed: false, code: 'forbidden', toolId: tool.id, message, rule, requiredScopes: tool.needs };
}

/** Treats unknown scopes as not held. */
const missingScopes = ({ scopes = [] }: Pick<ToolAccess, 'scopes'>, { needs }: Tool): readonly string[] =>
  scopes.includes('tool:*') ? [] : needs.filter((scope) => !scopes.includes(scope));

/** Whether a list of a manifest has a line for the tool. */
export const listsTool = (lines: readonly string[], id: string): boolean => firstLine(lines, id) !== -1;

const firstLine = (lines: readonly string[], id: string): number => lines.findIndex((line) => matches(line, id));

function matches(line: string, id: string): boolean {
  if (!line.endsWith('*')) return line === id;
  return toolLinePattern.test(line) && id.startsWith(line.slice(0, -1));
}

const lineText = ({ name, lines }: ToolLines, index: number): string =>
  `${name}[${index}] ${quoted(lines[index] ?? '', 80)}`;

const lacks = ({ name, lines }: ToolLines, id: string): string =>
  lines.length === 0 ? `${name} is empty` : `${name} has no line for ${id}`;
