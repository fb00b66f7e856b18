/** `cairn peer list`: the other hosts of a configuration, and what they may do here. */
import { exit } from '../exit.ts';
import { jsonLine, safe, styleOf } from '../render/style.ts';
import { table } from '../render/table.ts';
import type { Terminal } from '../terminal.ts';
import { readPeersFile } from './peers-file.ts';

export interface ListPeersFlags {
  readonly config?: string;
  readonly json?: boolean;
}

export async function listPeers(terminal: Terminal, flags: ListPeersFlags): Promise<number> {
  const { path, config } = readPeersFile(terminal, flags.config);
  const peers = config.peers.map(({ hostId, url, answersForUsers }) => ({
    hostId,
    url,
    answersForUsers,
    // Keys are secrets. Only whose runs they may start is shown.
    tenants: [...new Set(config.keys.flatMap(({ peer, tenant }) => (peer === hostId ? [tenant] : [])))],
  }));
  if (flags.json === true) {
    terminal.print(jsonLine({ file: path, peers }));
    return exit.ok;
  }
  if (peers.length === 0) {
    terminal.tell(`${safe(path)} lists no other hosts. Add one with "cairn peer add https://beta.example.org".`);
    return exit.ok;
  }
  const rows = peers.map(({ hostId, url, answersForUsers, tenants }) => [
    safe(hostId),
    safe(url),
    tenants.length === 0 ? 'nobody' : safe(tenants.join(', ')),
    answersForUsers ? 'yes' : 'no',
  ]);
  const header = ['HOST', 'ADDRESS', 'STARTS RUNS OF', 'ANSWERS FOR USERS'];
  for (const line of table(rows, { header, style: styleOf(terminal.colours.out), columns: terminal.columns }))
    terminal.print(line);
  return exit.ok;
}
