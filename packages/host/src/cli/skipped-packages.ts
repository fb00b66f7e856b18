/** Optional packages that are not installed, and why: npm skips one without a word if its Node or platform does not fit. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import semver from 'semver';
import { upward } from './find-host.ts';
import { fieldsOf } from './render/fields.ts';

export interface SkippedPackage {
  readonly name: string;
  /** What works only with it. */
  readonly purpose: string;
  readonly reason: string;
}

/** By the beginning of their names. */
const purposes: readonly (readonly [prefix: string, purpose: string])[] = [
  ['@ai-sdk/anthropic', 'models of Anthropic'],
  ['@ai-sdk/google', 'models of Google'],
  ['@ai-sdk/openai', 'models of OpenAI'],
  ['@opentelemetry/', 'export of telemetry'],
];

export interface Installed {
  /** The package.json of the host. */
  readonly packageFile: string;
  /** The folder whose package-lock.json, or that of a parent folder, says what npm knew. */
  readonly cwd: string;
  /** `npm_config_user_agent`: the npm that started this command, and the Node it runs on. */
  readonly userAgent: string | undefined;
}

export const ownPackageFile: string = join(import.meta.dirname, '../../package.json');

/** The optional dependencies of the host that cannot be imported. */
export function skippedPackages({ packageFile, cwd, userAgent }: Installed): readonly SkippedPackage[] {
  const wanted = fieldsOf(fieldsOf(readJson(packageFile)).optionalDependencies);
  const missing = Object.keys(wanted).filter((name) => !isInstalled(name, packageFile));
  if (missing.length === 0) return [];
  const known = lockedPackages(cwd);
  return missing.map((name) => ({
    name,
    purpose: purposes.find(([prefix]) => name.startsWith(prefix))?.[1] ?? 'optional features',
    reason: reasonOf(fieldsOf(known[`node_modules/${name}`]), userAgent),
  }));
}

/** Looks for the folder: an import of a package may refuse its package.json. */
function isInstalled(name: string, packageFile: string): boolean {
  const folders = createRequire(packageFile).resolve.paths(name) ?? [];
  return folders.some((folder) => existsSync(join(folder, name, 'package.json')));
}

function reasonOf(locked: Readonly<Record<string, unknown>>, userAgent: string | undefined): string {
  const range = fieldsOf(locked.engines).node;
  const running = /\bnode\/v?(\d\S*)/.exec(userAgent ?? '')?.[1];
  if (typeof range === 'string' && running !== undefined && !semver.satisfies(running, range)) {
    return `it needs Node ${range}, and npm runs on Node ${running}`;
  }
  const platforms = [locked.os, locked.cpu].flat().filter((value) => typeof value === 'string');
  if (platforms.length > 0)
    return `it is for ${platforms.join(', ')}, and this is ${process.platform}, ${process.arch}`;
  if (typeof range === 'string') return `it needs Node ${range}; npm skips it if npm itself runs on another one`;
  return 'npm did not install it, perhaps because of --omit=optional';
}

/** npm writes there what it knew of each package, also of those it skipped. */
function lockedPackages(cwd: string): Readonly<Record<string, unknown>> {
  for (const folder of upward(cwd)) {
    const file = join(folder, 'package-lock.json');
    if (existsSync(file)) return fieldsOf(fieldsOf(readJson(file)).packages);
  }
  return {};
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

/** How to install them: npm on the Node of the project, which scripts find first. */
export const INSTALL_SKIPPED = 'To install them, run npm on Node 24.16 or later: npx -c "npm install"';
