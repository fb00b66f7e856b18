/** Where a new project gets the packages of Cairn from: tarballs of a checkout or of a folder, or npm. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { fieldsOf } from '../render/fields.ts';

export interface CairnPackages {
  /** The value of each package in `dependencies`. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** The folder of the tarballs; null with npm. */
  readonly folder: string | null;
  /** Whether the tarballs are there. In a checkout, `npm run pack:local` makes them. */
  readonly areThere: boolean;
  /** The checkout that this command runs from, if it does. */
  readonly checkout: string | null;
}

const names = ['protocol', 'client', 'host'] as const;
const hostFolder = resolve(import.meta.dirname, '../../..');

/** With `folder`, the tarballs must be there. */
export function findPackages(folder: string | undefined): CairnPackages {
  const checkout = existsSync(join(hostFolder, 'src')) ? resolve(hostFolder, '../..') : null;
  if (folder !== undefined) return { ...ofFolder(folder), checkout, areThere: true };
  if (checkout === null) return { dependencies: { '@cairn/host': version() }, folder: null, areThere: true, checkout };
  const made = join(checkout, 'dist', 'packages');
  const dependencies = entries((name) => join(made, `cairn-${name}-${version()}.tgz`));
  return { dependencies, folder: made, areThere: names.every((name) => existsSync(tarball(made, name))), checkout };
}

/** Whether the folder is inside the checkout. There, npm would install into the checkout. */
export const isInside = (folder: string, checkout: string): boolean => {
  const path = relative(checkout, folder);
  return path === '' || !(path === '..' || path.startsWith(`..${sep}`) || resolve(path) === path);
};

const tarball = (folder: string, name: string): string => join(folder, `cairn-${name}-${version()}.tgz`);

const version = (): string =>
  String(fieldsOf(JSON.parse(readFileSync(join(hostFolder, 'package.json'), 'utf8'))).version);

function ofFolder(folder: string): Pick<CairnPackages, 'dependencies' | 'folder'> {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const dependencies = entries((name) => {
    const found = files.find((file) => new RegExp(`^cairn-${name}-\\d.*\\.tgz$`).test(file));
    if (found !== undefined) return join(folder, found);
    throw new TerminalError('not_found', {
      message: `${folder} has no cairn-${name}-VERSION.tgz.`,
      hint: 'In a checkout, "npm run pack:local" makes the packages in dist/packages.',
    });
  });
  return { dependencies, folder };
}

/** npm needs all three by name: none of them is in its registry. */
const entries = (fileOf: (name: string) => string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [`@cairn/${name}`, `file:${fileOf(name).replaceAll('\\', '/')}`]));
