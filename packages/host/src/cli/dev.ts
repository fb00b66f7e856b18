/** `cairn dev`: a development host in the folder `.cairn`, with a key generated on the first start. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { scopes } from '../server/access/auth.ts';
import { readConfig } from '../server/config/config-sources.ts';
import { demoPacks } from './demo-packs.ts';
import { demoWorkflows } from './demo-workflows.ts';
import { hasErrorCode } from './error-text.ts';
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
  const host = await serve(terminal, config, { workflows: demoWorkflows, allowUnsignedPacks: true, dev: true }, () =>
    removeHostNote(config.data),
  );
  // Other commands find the host through this file. The host removes it when it stops.
  if (host.url !== null) writeHostNote(config.data, { url: host.url, key });
  // With another data folder, other commands cannot find the host by themselves.
  const variables = folder === FOLDER ? '' : `CAIRN_URL=${host.url} CAIRN_KEY=${key} `;
  // After `npm start`, `cairn` is not in PATH.
  const cairn = `${variables}${terminal.env.npm_lifecycle_event === 'start' ? 'npx ' : ''}cairn`;
  terminal.tell(`
key      ${key}   (stored in ${join(folder, 'key')})
try it   ${cairn} run hello --input name=Ada     in another terminal${variables === '' ? ', in this folder' : ''}
         ${cairn} run review                     a run that asks you a question
         ${cairn} run research-crew --input topic="tidal power"     three agents at work
or       curl -s ${host.url}/v1/runs -H 'Authorization: Bearer ${key}' \\
           -H 'Content-Type: application/json' -d '{"workflowId":"hello","inputs":{"name":"Ada"}}'
`);
}

/** Only this user can read the file. It is created once, so clients keep working after a restart. */
async function developerKey(folder: string): Promise<string> {
  const file = join(folder, 'key');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await writeFile(file, `cairn_dev_${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error;
    await chmod(file, 0o600);
  }
  const key = (await readFile(file, 'utf8')).trim();
  if (key.length >= 16) return key;
  throw new TerminalError('config_invalid', {
    message: `${file} does not contain a key of at least 16 characters.`,
    hint: 'Delete the file. The next start generates a new key.',
  });
}
