/** `cairn peer add`: writes another host to the configuration, and the key that it calls with. */
import { quoted, TerminalError } from '@cairn/protocol';
import { exit } from '../exit.ts';
import { jsonLine, safe } from '../render/style.ts';
import type { Terminal } from '../terminal.ts';
import { discoverPeer } from './discovered-peer.ts';
import { type Additions, readPeersFile, writePeers } from './peers-file.ts';

export interface AddPeerFlags {
  readonly config?: string;
  readonly hostId?: string;
  readonly answersForUsers?: boolean;
  readonly keyEnv?: string;
  readonly tenant?: string;
  readonly principal?: string;
  readonly json?: boolean;
}

/** Asks the host for its id, unless it is given. */
export async function addPeer(terminal: Terminal, address: string, flags: AddPeerFlags): Promise<number> {
  const file = readPeersFile(terminal, flags.config);
  const url = plainUrl(address);
  const hostId = flags.hostId ?? (await idOf(url));
  const known = file.config.peers.find((peer) => peer.hostId === hostId);
  const isForKey = known !== undefined && plainUrl(known.url) === url && flags.keyEnv !== undefined;
  if (known !== undefined && !isForKey) throw knownAlready(file.path, hostId, known.url);
  if (hostId === file.config.hostId) throw itself(hostId);
  const added: Additions = {
    peers: isForKey ? [] : [{ hostId, url, ...(flags.answersForUsers === true ? { answersForUsers: true } : {}) }],
    keys: keyOf(hostId, flags),
  };
  writePeers(file, added);
  if (flags.json === true) terminal.print(jsonLine({ file: file.path, hostId, url }));
  else for (const line of doneLines(file.path, hostId, flags)) terminal.print(line);
  return exit.ok;
}

function plainUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url !== null && isPlain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '');
  throw new TerminalError('validation_error', {
    message: `${quoted(text.replace(/\/\/[^/]*@/, '//…@'), 120)} is not the address of a host.`,
    hint: 'Use an http or https URL without a password and query, such as https://beta.example.org.',
  });
}

async function idOf(url: string): Promise<string> {
  const { hostId } = await discoverPeer({ url });
  if (hostId !== null) return hostId;
  throw new TerminalError('identity_unresolved', {
    message: `${url} does not say which host it is: its discovery document has no crossHostCausation.hostId.`,
    hint: 'Ask its operator for the id and pass it with --host-id.',
  });
}

function keyOf(hostId: string, { keyEnv, tenant, principal }: AddPeerFlags): NonNullable<Additions['keys']> {
  if (keyEnv === undefined && tenant === undefined && principal === undefined) return [];
  if (keyEnv === undefined || tenant === undefined) {
    throw new TerminalError('validation_error', {
      message: 'A key of the peer needs --key-env, the variable that holds it, and --tenant, whose runs it may start.',
      hint: 'Pass both, or neither of them.',
    });
  }
  return [{ keyEnv, tenant, peer: hostId, ...(principal === undefined ? {} : { principal }) }];
}

function* doneLines(path: string, hostId: string, { keyEnv }: AddPeerFlags): Generator<string> {
  yield `Added ${safe(hostId)} to ${safe(path)}.`;
  if (keyEnv === undefined)
    yield 'It may not start runs yet: no key is for it. The same command with --key-env and --tenant gives it one.';
  else yield `It calls with the key in ${safe(keyEnv)}. Make one with "cairn key" and give it to its operator.`;
  yield `Restart the host, then try "cairn peer check ${safe(hostId)}".`;
}

const knownAlready = (path: string, hostId: string, url: string): TerminalError =>
  new TerminalError('config_invalid', {
    message: `${path} lists ${quoted(hostId, 140)} already, at ${url}.`,
    hint: 'Change that entry in the file. With --key-env and --tenant, the same address gets a key.',
  });

const itself = (hostId: string): TerminalError =>
  new TerminalError('config_invalid', {
    message: `${quoted(hostId, 140)} is the id of this host itself.`,
    hint: 'Pass the address of another host. No two hosts may have the same id.',
  });
