/** `cairn dev`: a development host in the folder `.cairn`, with a key generated on the first start. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient } from '@cairn/client';
import { TerminalError, thrownText } from '@cairn/protocol';
import { scopes } from '../server/access/auth.ts';
import type { HostConfig } from '../server/config/config.ts';
import { readConfig } from '../server/config/config-sources.ts';
import type { App } from '../server/define-app.ts';
import { appGreeting, type Greeting, sampleGreeting } from './app/dev-greeting.ts';
import { DEVELOPER, personKey } from './app/dev-people.ts';
import { LiveApp } from './app/live-app.ts';
import { RunLines } from './app/run-lines.ts';
import { DEMO_AGENT, demoPacks } from './demo-packs.ts';
import { startDemo } from './demo-runs.ts';
import { demoWorkflows } from './demo-workflows.ts';
import { type ModelFlags, modelConfig } from './dev-model.ts';
import { hasErrorCode } from './error-text.ts';
import { removeHostNote, writeHostNote } from './host-file.ts';
import { commandIn } from './render/style.ts';
import { INSTALL_SKIPPED, ownPackageFile, skippedPackages } from './skipped-packages.ts';
import { serve } from './start.ts';
import type { Terminal } from './terminal.ts';

const FOLDER = '.cairn';

export interface DevFlags extends ModelFlags {
  /** False with `--no-demo`. */
  readonly demo?: boolean;
  readonly port?: number;
  readonly bind?: string;
  readonly data?: string;
  readonly people?: readonly string[];
}

/** With a file, the host runs what the file defines, and follows its changes. Without one, it runs samples. */
export async function dev(terminal: Terminal, file: string | undefined, given: DevFlags): Promise<void> {
  const { people = [], demo = true, model, modelUrl, ...flags } = given;
  const chosen = modelConfig({ model, modelUrl });
  const folder = flags.data ?? terminal.env.CAIRN_DATA ?? FOLDER;
  const program = file === undefined ? null : new LiveApp(terminal, file);
  const key = await developerKey(folder);
  const keys = Object.fromEntries(people.map((person) => [person, personKey(key, person)]));
  const read = await readConfig({
    env: terminal.env,
    flags: { ...flags, ...chosen },
    defaults: { data: folder, keys: [[DEVELOPER, key] as const, ...Object.entries(keys)].map(keyOf) },
  });
  const config = program === null ? withDemoPacks(read) : read;
  const lines = new RunLines(terminal);
  const start = (app: Partial<App>) =>
    serve(terminal, config, { ...app, allowUnsignedPacks: true, dev: true, onRun: lines.print }, () => {
      program?.close();
      removeHostNote(config.data);
    });
  const host = await (program === null ? start({ workflows: demoWorkflows }) : program.start(start));
  const url = host.url ?? '';
  // Other commands find the host through this file. The host removes it when it stops.
  writeHostNote(config.data, { pid: process.pid, url, key, people: keys });
  const client = createClient({ url, key });
  const hasDemo = program === null && demo && (await lines.without(() => demoRuns(terminal, client)));
  const link = await client.session.createLink();
  const greeting: Greeting = {
    url,
    studio: link.url,
    people,
    keyFile: join(folder, 'key'),
    isDefaultFolder: folder === FOLDER,
    hasDemo,
    hasModel: Object.keys(config.models.providers).length > 0,
    cairn: commandIn(terminal.env),
  };
  terminal.tell(program === null ? sampleGreeting(greeting) : appGreeting(greeting, program.app));
  tellSkippedPackages(terminal);
}

/** A provider or an exporter that fails at its first use would be a surprise. */
function tellSkippedPackages({ cwd, env, tell }: Terminal): void {
  const skipped = skippedPackages({ packageFile: ownPackageFile, cwd, userAgent: env.npm_config_user_agent });
  for (const { name, purpose, reason } of skipped) tell(`${name} is not installed (${purpose}): ${reason}.`);
  if (skipped.length > 0) tell(`${INSTALL_SKIPPED}\n`);
}

const keyOf = ([principal, key]: readonly [string, string]) => ({
  key,
  tenant: 'dev',
  principal,
  scopes: [...scopes],
  toolScopes: ['tool:*'],
});

const withDemoPacks = (config: HostConfig): HostConfig => ({
  ...config,
  defaultAgent: config.defaultAgent ?? DEMO_AGENT,
  packs: { ...config.packs, folders: [...config.packs.folders, demoPacks] },
});

/** A host without its demo is still a host. */
async function demoRuns(terminal: Terminal, client: Client): Promise<readonly string[]> {
  try {
    return await startDemo(client);
  } catch (error) {
    terminal.tell(`The demo runs did not start: ${thrownText(error)}`);
    return [];
  }
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
