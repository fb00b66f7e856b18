/** `cairn agents`: lists agents, or shows one. */
import { type AgentInventoryEntry, isCairnError, TerminalError } from '@cairn/protocol';
import { nearest } from '../nearest.ts';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { jsonLine, type Style, safe, styleOf } from './render/style.ts';
import { table } from './render/table.ts';
import type { Terminal } from './terminal.ts';

export function agents(terminal: Terminal, agentId: string | undefined, flags: HostFlags): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    const style = styleOf(terminal.colours.out, terminal.env);
    const options = { style, columns: terminal.columns };
    if (agentId === undefined) {
      const found = await client.agents.list();
      if (flags.json === true) terminal.print(jsonLine({ agents: found }));
      else if (found.length === 0)
        terminal.tell(`There are no agents. Install a pack with: ${style.cairn} pack add FOLDER`);
      else for (const line of table(found.map(row), { ...options, header: HEADER })) terminal.print(line);
      return exit.ok;
    }
    try {
      const agent = await client.agents.get(agentId);
      if (flags.json === true) terminal.print(jsonLine(agent));
      else for (const line of page(agent, style, terminal.columns)) terminal.print(line);
      return exit.ok;
    } catch (error) {
      if (!isCairnError(error, 'not_found')) throw error;
      const ids = (await client.agents.list()).map((agent) => agent.agentId);
      const named = ids.filter((id) => id.endsWith(`.${agentId}`));
      const close = named.length === 1 ? named[0] : nearest(agentId, ids);
      const hint = close == null ? '"cairn agents" lists all agents.' : `Did you mean ${close}?`;
      throw new TerminalError('not_found', { message: error.message, hint, cause: error });
    }
  });
}

const HEADER = ['AGENT', 'PERSONA', 'CLASS', 'TOOLS', 'PACK'];

const row = (agent: AgentInventoryEntry): readonly string[] => [
  safe(agent.agentId),
  safe(agent.persona),
  safe(agent.modelClass),
  String(agent.toolAllowlist.length),
  `${safe(agent.packName)} ${safe(agent.packVersion)}`,
];

function page(agent: AgentInventoryEntry, style: Style, columns: number | null): readonly string[] {
  const { agentId, persona, label, description, modelClass, packName, packVersion, toolAllowlist } = agent;
  const memory = Object.entries(agent.memoryShape ?? {}).filter(([, has]) => has === true);
  const facts: [string, string][] = [
    ['persona', label === persona ? safe(persona) : `${safe(persona)} (${safe(label)})`],
    ['model class', safe(modelClass)],
    ['pack', `${safe(packName)} ${safe(packVersion)}`],
    ['tools', toolAllowlist.length === 0 ? 'none' : toolAllowlist.map(safe).join(', ')],
  ];
  if (memory.length > 0) facts.push(['memory', memory.map(([name]) => safe(name)).join(', ')]);
  if (agent.confidenceThreshold !== undefined) {
    facts.push(['human review', `below a confidence of ${agent.confidenceThreshold}`]);
  }
  if (agent.degraded !== undefined && agent.degraded.length > 0) {
    facts.push(['degraded', style.yellow(agent.degraded.map(safe).join(', '))]);
  }
  return [
    style.bold(safe(agentId)),
    ...(description === undefined ? [] : [`  ${safe(description)}`]),
    '',
    ...table(
      facts.map(([name, value]) => [style.dim(name), value]),
      { style, columns, indent: '  ' },
    ),
    '',
    // The inventory does not contain the task schema.
    `run it with: ${style.cairn} run ${safe(agentId)} --input ${agent.hasHandoffSchemas ? 'NAME=…' : 'message=…'}`,
  ];
}
