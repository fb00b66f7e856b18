/** `cairn doctor`: checks everything a host needs and suggests fixes. With --rebuild it repairs index and task view. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isCairnError } from '@cairn/protocol';
import { compactFolder } from '../log/sqlite/folder/backup.ts';
import { openSqliteStore } from '../log/sqlite/folder/open.ts';
import type { HostConfig } from '../server/config/config.ts';
import { readConfig } from '../server/config/config-sources.ts';
import { dataFindings } from './doctor-data.ts';
import { databaseFindings } from './doctor-database.ts';
import { check, type Finding } from './doctor-finding.ts';
import { portFinding } from './doctor-port.ts';
import { rebuiltFaces, rebuiltIndex } from './doctor-rebuilds.ts';
import { exit } from './exit.ts';
import { type StoreFlags, storePlace } from './offline-store.ts';
import { findingLines } from './render/findings.ts';
import { jsonLine, styleOf } from './render/style.ts';
import { INSTALL_SKIPPED, ownPackageFile, skippedPackages } from './skipped-packages.ts';
import type { Terminal } from './terminal.ts';

export interface DoctorFlags extends StoreFlags {
  readonly rebuild?: boolean;
  readonly compact?: boolean;
  readonly json?: boolean;
}

export async function doctor(terminal: Terminal, flags: DoctorFlags): Promise<number> {
  const findings: Finding[] = [nodeFinding(), ...packageFindings(terminal)];
  let config: HostConfig | null = null;
  const file = resolve(terminal.cwd, flags.config ?? 'cairn.json');
  if (flags.config !== undefined || existsSync(file)) {
    const readAndCheck = async () => {
      config = await readConfig({ file, env: terminal.env });
      return configFinding(file, config);
    };
    findings.push(await check('configuration', readAndCheck));
  }
  findings.push(...(await folderFindings(terminal, flags, config)));
  if (config !== null) findings.push(await portFinding(config));
  if (flags.json === true) terminal.print(jsonLine({ findings }));
  else for (const line of findingLines(findings, styleOf(terminal.colours.out), terminal.columns)) terminal.print(line);
  return findings.some(({ state }) => state === 'bad') ? exit.failed : exit.ok;
}

function nodeFinding(): Finding {
  const subject = 'Node';
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 24 || (major === 24 && minor >= 16)) return { subject, state: 'good', text: process.version };
  return {
    subject,
    state: 'bad',
    text: `${process.version}; 24.16 or newer is required`,
    hint: 'Install a newer Node.',
  };
}

/** Nothing to say if every optional package is there. */
function packageFindings({ cwd, env }: Terminal): readonly Finding[] {
  const skipped = skippedPackages({ packageFile: ownPackageFile, cwd, userAgent: env.npm_config_user_agent });
  return skipped.map(({ name, purpose, reason }) => ({
    subject: 'package',
    state: 'doubtful',
    text: `${name} is not installed (${purpose}): ${reason}`,
    hint: INSTALL_SKIPPED,
  }));
}

function configFinding(file: string, { unused, keys }: HostConfig): Finding {
  const subject = 'configuration';
  if (keys.length === 0) {
    const hint = 'Add "keys": [{ "keyEnv": "CAIRN_KEY", "tenant": "…" }].';
    return { subject, state: 'doubtful', text: `${file} has no keys: nobody can call the host`, hint };
  }
  if (unused.length === 0) return { subject, state: 'good', text: file };
  return { subject, state: 'doubtful', text: `${file}: this version does not use ${unused.join(', ')}` };
}

/** The --data option overrides the configuration. */
async function folderFindings(
  terminal: Terminal,
  flags: DoctorFlags,
  config: HostConfig | null,
): Promise<readonly Finding[]> {
  let folder: string;
  try {
    const place = await storePlace(terminal, flags);
    const { rebuild = false, compact = false } = flags;
    if (place.kind === 'postgres')
      return await databaseFindings({ url: place.url, now: terminal.now(), rebuild, compact });
    const configured = flags.data === undefined && flags.config !== undefined ? config?.data : undefined;
    folder = configured ?? place.folder;
  } catch (error) {
    if (!isCairnError(error) || error.code === 'validation_error') throw error;
    return [{ subject: 'data folder', state: 'doubtful', text: error.message, hint: error.hint }];
  }
  const found = await dataFindings(folder);
  if (flags.compact === true) return [...found, await check('space', () => compacted(folder))];
  if (flags.rebuild !== true) return found;
  const open = () => openSqliteStore({ folder });
  const rebuilds = [await check('index', () => rebuiltIndex(open)), await check('task view', () => rebuiltFaces(open))];
  return [...found, ...rebuilds];
}

/** Opening the store first makes sure that no host uses the folder, and migrates it. */
async function compacted(folder: string): Promise<Finding> {
  await (await openSqliteStore({ folder })).close();
  const { before, after } = compactFolder(folder);
  return { subject: 'space', state: 'good', text: `${before} bytes before, ${after} bytes now` };
}
