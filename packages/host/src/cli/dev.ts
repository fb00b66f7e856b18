/** `cairn dev`: a host to try things with, in the folder `.cairn`, with a key made on the first start. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { scopes } from '../server/access/auth.ts';
import { readConfig } from '../server/config/config-sources.ts';
import { demoPacks } from './demo-packs.ts';
import { demoWorkflows } from './demo-workflows.ts';
import { removeHostNote, writeHostNote } from './host-file.ts';
import { serve } from './start.ts';
import type { Terminal } from './terminal.ts';

const FOLDER = '.cairn';

export async function dev(terminal: Terminal, flags: Readonly<Record<string, unknown>>): Promise<void> {
  const folder = String(flags.data ?? terminal.env.CAIRN_DATA ?? FOLDER);
  const key = await developerKey(folder);
  const read = await readConfig({
    env: terminal.env,
    flags,
    defaults: {
      data: folder,
      keys: [{ key, tenant: 'dev', principal: 'developer', scopes: [...scopes], toolScopes: ['tool:*'] }],
    },
  });
  const config = { ...read, packs: { ...read.packs, folders: [...read.packs.folders, demoPacks] } };
  const host = await serve(terminal, config, { workflows: demoWorkflows, allowUnsignedPacks: true }, () =>
    removeHostNote(config.data),
  );
  // The other verbs find the host by this note; it goes when the host does.
  if (host.url !== null) writeHostNote(config.data, { url: host.url, key });
  // From elsewhere than this folder, or with another data folder, the other verbs have to be told.
  const told = folder === FOLDER ? '' : `CAIRN_URL=${host.url} CAIRN_KEY=${key} `;
  // Who began with npm start has no cairn on the path.
  const cairn = `${told}${terminal.env.npm_lifecycle_event === 'start' ? 'npx ' : ''}cairn`;
  terminal.tell(`
key      ${key}   (kept in ${join(folder, 'key')})
try it   ${cairn} run hello --input name=Ada     in another terminal${told === '' ? ', in this folder' : ''}
         ${cairn} run review                     a run that asks you something
         ${cairn} run research-crew --input topic="tidal power"     three agents at work
or       curl -s ${host.url}/v1/runs -H 'Authorization: Bearer ${key}' \\
           -H 'Content-Type: application/json' -d '{"workflowId":"hello","inputs":{"name":"Ada"}}'
`);
}

/** Only this user can read the file; it is made once, so that a restart keeps clients working. */
async function developerKey(folder: string): Promise<string> {
  const file = join(folder, 'key');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await writeFile(file, `cairn_dev_${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await chmod(file, 0o600);
  }
  const key = (await readFile(file, 'utf8')).trim();
  if (key.length >= 16) return key;
  throw new TerminalError('config_invalid', {
    message: `${file} does not hold a key of at least 16 characters.`,
    hint: 'Delete the file; the next start makes a new key.',
  });
}
