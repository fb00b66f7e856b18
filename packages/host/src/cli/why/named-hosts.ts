/** The hosts that a user has keys for, from a file: `{ "<hostId>": { "url": "…", "keyEnv": "…" } }`. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Client } from '@cairn/client';
import { TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import { peerClient } from '../peer-client.ts';
import type { Terminal } from '../terminal.ts';
import type { HostNamed } from './walk-causes.ts';

const hostsFile = z.record(
  z.string(),
  z.strictObject({ url: z.url({ protocol: /^https?$/ }), keyEnv: z.string().min(1) }),
);

/** Without a file, no other host is known. A key goes only to the address beside it. */
export function namedHosts(file: string | undefined, { cwd, env }: Pick<Terminal, 'cwd' | 'env'>): HostNamed {
  if (file === undefined) return () => null;
  const hosts = new Map<string, Client>();
  for (const [hostId, { url, keyEnv }] of Object.entries(readHosts(resolve(cwd, file)))) {
    const key = env[keyEnv];
    if (key === undefined || key === '') {
      throw new TerminalError('config_invalid', {
        message: `${file}: the variable ${keyEnv} with the key of ${hostId} is not set.`,
        hint: `Set ${keyEnv}, or remove ${hostId} from the file.`,
      });
    }
    hosts.set(hostId, peerClient({ url, key }));
  }
  return (hostId) => hosts.get(hostId) ?? null;
}

function readHosts(path: string): z.infer<typeof hostsFile> {
  try {
    return hostsFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    throw new TerminalError('config_invalid', {
      message: `${path} does not list hosts: ${error instanceof z.ZodError ? z.prettifyError(error) : String(error)}`,
      hint: 'It looks like { "hosts.example.org/beta": { "url": "https://beta.example.org", "keyEnv": "BETA_KEY" } }.',
      cause: error,
    });
  }
}
