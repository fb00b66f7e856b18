/** `cairn peer check`: calls other hosts of the configuration and shows what works between them and this one. */
import { quoted, TerminalError } from '@cairn/protocol';
import type { Finding } from '../doctor-finding.ts';
import { exit } from '../exit.ts';
import { findingLines } from '../render/findings.ts';
import { jsonLine, safe, styleOf } from '../render/style.ts';
import type { Terminal } from '../terminal.ts';
import { checkPeer, type PeerCheck } from './check-peer.ts';
import { discoverPeer } from './discovered-peer.ts';
import { type PeersFile, readPeersFile } from './peers-file.ts';

export interface CheckPeersFlags {
  readonly config?: string;
  readonly keyEnv?: string;
  readonly workflow?: string;
  readonly json?: boolean;
}

/** Exits with 1 if something does not work. */
export async function checkPeers(
  terminal: Terminal,
  name: string | undefined,
  flags: CheckPeersFlags,
): Promise<number> {
  const file = readPeersFile(terminal, flags.config);
  const peers = chosen(file, name);
  const common = { key: keyIn(terminal, peers.length, flags), workflow: flags.workflow, self: await selfOf(file) };
  const checked: { readonly hostId: string; readonly url: string; readonly findings: readonly Finding[] }[] = [];
  for (const { hostId, url } of peers)
    checked.push({ hostId, url, findings: await checkPeer({ hostId, url, ...common }) });
  if (flags.json === true) terminal.print(jsonLine({ peers: checked }));
  else {
    const style = styleOf(terminal.colours.out);
    for (const { hostId, url, findings } of checked) {
      terminal.print(`${style.bold(safe(hostId))}  ${style.dim(safe(url))}`);
      for (const line of findingLines(findings, style, terminal.columns)) terminal.print(`  ${line}`);
    }
  }
  return checked.some(({ findings }) => findings.some(({ state }) => state === 'bad')) ? exit.failed : exit.ok;
}

function chosen({ path, config: { peers } }: PeersFile, name: string | undefined) {
  if (peers.length === 0) {
    throw new TerminalError('config_invalid', {
      message: `${path} lists no other hosts.`,
      hint: 'Add one with "cairn peer add https://beta.example.org".',
    });
  }
  const found = name === undefined ? peers : peers.filter(({ hostId }) => hostId === name);
  if (found.length > 0) return found;
  throw new TerminalError('not_found', {
    message: `${path} lists no host ${quoted(name ?? '', 140)}.`,
    hint: `It lists ${peers.map(({ hostId }) => hostId).join(', ')}.`,
  });
}

/** A key goes to one host alone: with several, it would be given to all of them. */
function keyIn({ env }: Terminal, count: number, { keyEnv }: CheckPeersFlags): string | undefined {
  if (keyEnv === undefined) return undefined;
  if (count > 1) {
    throw new TerminalError('validation_error', {
      message: `--key-env would send one key to ${count} hosts.`,
      hint: 'Name the host that the key is for.',
    });
  }
  const key = env[keyEnv];
  if (key !== undefined && key !== '') return key;
  throw new TerminalError('config_invalid', {
    message: `The variable ${quoted(keyEnv, 60)} with your key is not set.`,
    hint: 'Set it to the key that the operator of the peer gave you.',
  });
}

/** A generated id is not in the configuration, so the host itself is asked for it. */
async function selfOf({ config: { hostId, publicUrl, bind, port } }: PeersFile): Promise<PeerCheck['self']> {
  const name = bind.includes(':') ? `[${bind}]` : bind;
  const url = (publicUrl ?? `http://${name}:${port}`).replace(/\/+$/, '');
  if (hostId !== undefined) return { hostId, url };
  const asked = await discoverPeer({ url }).catch(() => null);
  return { hostId: asked?.hostId ?? undefined, url };
}
