/** `cairn init`: writes a small project that runs and has a test. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { exit } from '../exit.ts';
import { jsonLine, safe } from '../render/style.ts';
import type { Terminal } from '../terminal.ts';
import { type CairnPackages, findPackages, isInside } from './cairn-packages.ts';
import { projectFiles } from './project-files.ts';

export interface InitFlags {
  readonly packages?: string;
  readonly json?: boolean;
}

export async function init(terminal: Terminal, name: string, flags: InitFlags): Promise<number> {
  const folder = resolve(terminal.cwd, name);
  const given = flags.packages === undefined ? undefined : resolve(terminal.cwd, flags.packages);
  const packages = findPackages(given);
  refuseFolder(folder, packages);
  const files = projectFiles({ name: packageName(folder), dependencies: packages.dependencies });
  mkdirSync(folder, { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text, { flag: 'wx' });
  if (flags.json === true) {
    terminal.print(jsonLine({ folder, files: Object.keys(files), packages: packages.dependencies }));
    return exit.ok;
  }
  terminal.print(`${safe(folder)}: ${Object.keys(files).join(', ')}`);
  const steps = [
    ...(packages.areThere ? [] : [`npm run pack:local     in ${packages.checkout}: makes the packages of Cairn`]),
    ...(folder === terminal.cwd ? [] : [`cd ${shortest(relative(terminal.cwd, folder), folder)}`]),
    'npm install',
    'npm test',
    'npm run dev',
  ];
  terminal.tell(`Next:\n  ${steps.map(safe).join('\n  ')}`);
  return exit.ok;
}

const shortest = (a: string, b: string): string => (a.length <= b.length ? a : b);

function refuseFolder(folder: string, { checkout }: CairnPackages): void {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new TerminalError('conflict', {
      message: `The folder ${folder} is not empty.`,
      hint: 'Name a folder that does not exist yet, or an empty one.',
    });
  }
  if (checkout === null || !isInside(folder, checkout)) return;
  throw new TerminalError('config_invalid', {
    message: `The folder ${folder} is inside the checkout ${checkout}.`,
    hint: `Name a folder outside of it, such as ${join('..', basename(folder))}: npm would install into the checkout.`,
  });
}

function packageName(folder: string): string {
  const name = basename(folder).toLowerCase();
  // npm installs into a folder of that name, and refuses a package with it.
  if (/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name) && name !== 'node_modules') return name;
  throw new TerminalError('config_invalid', {
    message: `${JSON.stringify(basename(folder))} cannot be the name of a package.`,
    hint: 'Use letters, digits, dots, underscores and hyphens, a letter or digit first; not node_modules.',
  });
}
