/** `cairn tools`: lists the tools that agents can call, or shows one. */
import { isCairnError, type JsonObject, TerminalError, type ToolDescriptor } from '@cairn/protocol';
import { nearest } from '../nearest.ts';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { fieldsOf } from './render/fields.ts';
import { jsonLine, oneLine, type Style, safe, styleOf } from './render/style.ts';
import { table } from './render/table.ts';
import type { Terminal } from './terminal.ts';

export function tools(terminal: Terminal, toolId: string | undefined, flags: HostFlags): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    const style = styleOf(terminal.colours.out);
    if (toolId === undefined) {
      const found = await client.tools.list();
      if (flags.json === true) terminal.print(jsonLine({ tools: found }));
      else if (found.length === 0)
        terminal.tell('No tools are allowed on this host. See "tools" in the configuration.');
      else {
        const options = { header: HEADER, style, columns: terminal.columns };
        for (const line of table(found.map(row), options)) terminal.print(line);
      }
      return exit.ok;
    }
    try {
      const tool = await client.tools.get(toolId);
      if (flags.json === true) terminal.print(jsonLine(tool));
      else for (const line of page(tool, style, terminal.columns)) terminal.print(line);
      return exit.ok;
    } catch (error) {
      if (!isCairnError(error, 'not_found')) throw error;
      const ids = (await client.tools.list({ view: 'compact' })).map((tool) => tool.toolId);
      const named = ids.filter((id) => id.endsWith(`:${toolId}`));
      const close = named.length === 1 ? named[0] : nearest(toolId, ids);
      const hint = close == null ? '"cairn tools" lists all tools.' : `Did you mean ${close}?`;
      throw new TerminalError('not_found', { message: error.message, hint, cause: error });
    }
  });
}

const HEADER = ['TOOL', 'SAFETY', 'DESCRIPTION'];

const row = (tool: ToolDescriptor): readonly string[] => [
  safe(tool.toolId),
  safetyOf(tool),
  oneLine(tool.description ?? ''),
];

/** The word of `defineTool`: a write that may be repeated is idempotent. */
const safetyOf = ({ safetyTier, replayPolicy }: ToolDescriptor): string =>
  safetyTier === 'write' && replayPolicy === 'idempotent' ? 'idempotent' : safe(safetyTier);

function page(tool: ToolDescriptor, style: Style, columns: number | null): readonly string[] {
  const { toolId, title, description, egress, auth, inputSchema } = tool;
  const facts: [string, string][] = [['safety', safetyOf(tool)]];
  if (egress !== undefined) facts.push(['network', egress === 'none' ? 'none' : safe(egress)]);
  if (auth?.scopes !== undefined && auth.scopes.length > 0) facts.push(['needs', auth.scopes.map(safe).join(', ')]);
  const named = facts.map(([name, value]) => [style.dim(name), value]);
  const inputs = inputRows(inputSchema, style);
  return [
    `${style.bold(safe(toolId))}${title === undefined ? '' : `  ${safe(title)}`}`,
    ...(description === undefined ? [] : [`  ${safe(description)}`]),
    '',
    ...table(named, { style, columns, indent: '  ' }),
    ...(inputs.length === 0 ? [] : ['', style.dim('arguments'), ...table(inputs, { style, columns, indent: '  ' })]),
  ];
}

/** One row for each argument in the schema. */
function inputRows(schema: JsonObject | undefined, style: Style): readonly (readonly string[])[] {
  const required = Array.isArray(schema?.required) ? schema.required : [];
  return Object.entries(fieldsOf(schema?.properties)).map(([name, property]) => {
    const { type, description } = fieldsOf(property);
    const isNeeded = required.includes(name);
    return [
      safe(name),
      oneLine(type ?? '', 30),
      isNeeded ? 'required' : style.dim('optional'),
      oneLine(description ?? ''),
    ];
  });
}
