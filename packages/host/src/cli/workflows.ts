/** `cairn workflows`: lists workflows, shows one, or registers one. */
import type { Client } from '@cairn/client';
import { parseAuthoredWorkflow, type WorkflowDefinition } from '@cairn/protocol';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { readJsonFile } from './inputs.ts';
import { jsonLine, type Style, safe, styleOf } from './render/style.ts';
import { table } from './render/table.ts';
import { ago } from './render/time.ts';
import type { Terminal } from './terminal.ts';

export interface WorkflowFlags extends HostFlags {
  /** The file with a definition to register. */
  readonly add?: string;
}

export function workflows(terminal: Terminal, id: string | undefined, flags: WorkflowFlags): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    if (flags.add !== undefined) await add(terminal, client, flags.add, flags);
    else if (id === undefined) await list(terminal, client, flags);
    else await one(terminal, await client.workflows.get(id), flags);
    return exit.ok;
  });
}

async function list(terminal: Terminal, client: Client, flags: HostFlags): Promise<void> {
  const found = await client.workflows.list();
  if (flags.json === true) {
    terminal.print(jsonLine(found));
    return;
  }
  if (found.workflows.length === 0)
    terminal.tell('No workflow is registered. Add one with: cairn workflows --add FILE');
  else {
    const style = styleOf(terminal.colours.out);
    const rows = found.workflows.map(({ workflowId, version, registeredAt }) => [
      safe(workflowId),
      safe(version),
      ago(Date.parse(registeredAt), terminal.now()),
    ]);
    const header = ['WORKFLOW', 'VERSION', 'REGISTERED'];
    for (const line of table(rows, { header, style, columns: terminal.columns })) terminal.print(line);
  }
}

async function add(terminal: Terminal, client: Client, file: string, flags: HostFlags): Promise<void> {
  const registered = await client.workflows.register(parseAuthoredWorkflow(readJsonFile(terminal, file)));
  if (flags.json === true) terminal.print(jsonLine(registered));
  else terminal.print(`${safe(registered.workflowId)} ${safe(registered.version)} is registered`);
}

async function one(terminal: Terminal, definition: WorkflowDefinition, flags: HostFlags): Promise<void> {
  if (flags.json === true) terminal.print(jsonLine(definition));
  else
    for (const line of page(definition, styleOf(terminal.colours.out, terminal.env), terminal.columns))
      terminal.print(line);
}

function page(definition: WorkflowDefinition, style: Style, columns: number | null): readonly string[] {
  const { id, name, version, description, nodes, variables } = definition;
  const lines = [`${style.bold(safe(id))} ${safe(version)}  ${safe(name)}`];
  if (description !== undefined) lines.push(`  ${safe(description)}`);
  const targets = (from: string) =>
    definition.edges.filter((edge) => edge.sourceNodeId === from).map((edge) => safe(edge.targetNodeId));
  const rows = nodes.map((node, i) => [
    `${style.dim(i === nodes.length - 1 ? '└─' : '├─')} ${safe(node.id)}`,
    style.dim(safe(node.typeId)),
    targets(node.id).length === 0 ? '' : `-> ${targets(node.id).join(', ')}`,
  ]);
  lines.push('', ...table(rows, { style, columns }));
  if (variables.length > 0) {
    const inputs = variables.map(({ name: variable, type, required, defaultValue }) => [
      safe(variable),
      safe(type),
      required === true
        ? 'required'
        : defaultValue === undefined
          ? ''
          : style.dim(`default ${safe(JSON.stringify(defaultValue))}`),
    ]);
    lines.push('', style.dim('inputs'), ...table(inputs, { style, columns, indent: '  ' }));
  }
  const given = variables
    .filter(({ required }) => required === true)
    .map(({ name: variable }) => ` --input ${safe(variable)}=…`);
  return [...lines, '', `run it with: ${style.cairn} run ${safe(id)}${given.join('')}`];
}
