/** `cairn pack add`, `list` and `remove`: manage the packs of a host. */
import { createHash } from 'node:crypto';
import type { InstalledPack } from '@cairn/protocol';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { readPack } from './pack-files.ts';
import { jsonLine, safe, styleOf } from './render/style.ts';
import { table } from './render/table.ts';
import { ago } from './render/time.ts';
import type { Terminal } from './terminal.ts';

export async function addPack(terminal: Terminal, name: string, flags: HostFlags): Promise<number> {
  const { tarball } = await readPack(terminal, name);
  const integrity = `sha256-${createHash('sha256').update(tarball).digest('base64')}`;
  return withHost(terminal, flags, async (client) => {
    const pack = await client.packs.install({ tarball: tarball.toString('base64'), integrity });
    if (flags.json === true) terminal.print(jsonLine(pack));
    else for (const line of added(pack, terminal)) terminal.print(line);
    return exit.ok;
  });
}

function added(pack: InstalledPack, terminal: Terminal): readonly string[] {
  const { green, yellow } = styleOf(terminal.colours.out);
  const signed = pack.signedBy === null ? 'unsigned' : `signed by ${safe(pack.signedBy)}`;
  return [
    `${green('✓')} ${safe(pack.name)} ${safe(pack.version)} is installed, ${signed}`,
    ...pack.agents.map(({ agentId }) => `  ${safe(agentId)}`),
    ...(pack.degraded.length === 0
      ? []
      : [yellow(`  degraded: this host does not have ${pack.degraded.map(safe).join(', ')}`)]),
  ];
}

export function listPacks(terminal: Terminal, flags: HostFlags): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    const packs = await client.packs.list();
    if (flags.json === true) terminal.print(jsonLine({ packs }));
    else if (packs.length === 0) terminal.tell('No pack is installed. Add one with: cairn pack add FOLDER');
    else {
      const rows = packs.map((pack) => [
        safe(pack.name),
        safe(pack.version),
        safe(pack.scope),
        pack.signedBy === null ? '-' : safe(pack.signedBy),
        String(pack.agents.length),
        ago(Date.parse(pack.installedAt), terminal.now()),
      ]);
      const header = ['PACK', 'VERSION', 'FOR', 'SIGNED BY', 'AGENTS', 'INSTALLED'];
      const style = styleOf(terminal.colours.out);
      for (const line of table(rows, { header, style, columns: terminal.columns })) terminal.print(line);
    }
    return exit.ok;
  });
}

export function removePack(terminal: Terminal, name: string, flags: HostFlags): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    await client.packs.remove(name);
    if (flags.json === true) terminal.print(jsonLine({ name, removed: true }));
    else terminal.print(`${safe(name)} is removed`);
    return exit.ok;
  });
}
