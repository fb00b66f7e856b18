/**
 * The one place that decides which tools an agent is shown, and again, at the call, whether it may use one: what the
 * operator permits the tenant, what the host offers, what the agent's manifest lists, what the run's starter allows and
 * what the starter may do, all together.
 */
import { type JsonObject, quoted } from '@cairn/protocol';
import type { Tool } from './tools/tool.ts';
import type { ToolRegistry } from './tools/tool-registry.ts';

/** Lines of a list, and what the list is called where somebody would look for it. */
export interface ToolLines {
  readonly name: string;
  readonly lines: readonly string[];
}

/** What the operator permits: one list for all, and lists that take its place for single tenants. */
export interface ToolPolicy {
  /** Undefined: every tool that the host offers. */
  readonly allow: readonly string[] | undefined;
  readonly tenants: Readonly<Record<string, readonly string[]>>;
}

/** All that decides about the tools of one agent in one run. */
export interface ToolAccess {
  /** What the host offers. */
  readonly registry: ToolRegistry;
  /** What the operator permits the tenant: see `permitted`. */
  readonly policy: ToolLines;
  /** `toolAllowlist` of the manifest; left out means none. */
  readonly allowlist: readonly string[] | undefined;
  /** What the run's starter allows: see `ceilingOf`. */
  readonly ceiling: readonly string[] | undefined;
  /** `tool:` scopes of the run's starter; undefined when they are not known. */
  readonly scopes: readonly string[] | undefined;
}

/** Which lines let a tool pass, or which one stopped it, in words. */
export type ToolRule = string;

export interface ShownTool {
  /** What the model calls it. */
  readonly name: string;
  readonly tool: Tool;
  readonly rule: ToolRule;
}

export type Authorization =
  | { readonly allowed: true; readonly tool: Tool; readonly rule: ToolRule }
  | {
      readonly allowed: false;
      /** `tool_not_found` for what nobody here has. */
      readonly code: 'forbidden' | 'tool_not_found';
      /** The tool's id; the name as the model wrote it when nobody has such a tool. */
      readonly toolId: string;
      readonly message: string;
      /** The line, or the lack of one, that decided. */
      readonly rule: ToolRule;
      readonly requiredScopes: readonly string[];
    };

/** The key of a run's options by which its starter says what tools it may use. */
const CEILING = 'cairn.tools';

/** The tools an agent is shown, by id. */
export function toolSurface(access: ToolAccess): readonly ShownTool[] {
  return access.registry.all.flatMap((tool) => {
    const judged = judge(access, tool);
    return judged.allowed ? [{ name: access.registry.nameOf(tool.id), tool, rule: judged.rule }] : [];
  });
}

/** Whether an agent may call what its model named; what was shown is not believed. */
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

/** What a tenant may be permitted at most, whoever asks for it. */
export function permitted({ allow, tenants }: ToolPolicy, registry: ToolRegistry, tenant: string): ToolLines {
  const own = Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined;
  if (own !== undefined) return { name: `tools.tenants.${tenant}`, lines: own };
  if (allow !== undefined) return { name: 'tools.allow', lines: allow };
  const scopes = new Set(registry.all.map(({ id }) => id.slice(0, id.indexOf(':'))));
  return { name: 'tools.allow (default)', lines: [...scopes].map((scope) => `${scope}:*`) };
}

/** The tools that a caller may have called for it, whichever agent calls: what the catalogue lists. */
export const invocable = (access: Pick<ToolAccess, 'registry' | 'policy' | 'scopes'>): readonly Tool[] =>
  access.registry.all.filter(
    (tool) => firstLine(access.policy.lines, tool.id) !== -1 && missingScopes(access, tool).length === 0,
  );

/** What a run's options say of its tools; undefined when they say nothing, and nothing at all when they say it wrongly. */
export function ceilingOf(configurable: JsonObject | null | undefined): readonly string[] | undefined {
  const value = configurable?.[CEILING];
  if (value === undefined) return undefined;
  return Array.isArray(value) && value.every((line) => typeof line === 'string') ? value : [];
}

/** An id, `*`, or a beginning that ends at a `:` or `.`, followed by `*`. */
export const toolLinePattern = /^(\*|[a-z0-9][a-z0-9.-]*:([A-Za-z0-9._-]*\.)?\*|[a-z0-9][a-z0-9.-]*:[A-Za-z0-9._-]+)$/;

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

/** A `*` of a manifest is a wish for everything, and counts only where the operator has said `*` as well. */
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

/** Scopes that are not known are not held. */
const missingScopes = ({ scopes = [] }: Pick<ToolAccess, 'scopes'>, { needs }: Tool): readonly string[] =>
  scopes.includes('tool:*') ? [] : needs.filter((scope) => !scopes.includes(scope));

const firstLine = (lines: readonly string[], id: string): number => lines.findIndex((line) => matches(line, id));

function matches(line: string, id: string): boolean {
  if (!line.endsWith('*')) return line === id;
  return toolLinePattern.test(line) && id.startsWith(line.slice(0, -1));
}

const lineText = ({ name, lines }: ToolLines, index: number): string =>
  `${name}[${index}] ${quoted(lines[index] ?? '', 80)}`;

const lacks = ({ name, lines }: ToolLines, id: string): string =>
  lines.length === 0 ? `${name} is empty` : `${name} has no line for ${id}`;
