/** A copy of the repository in which a defect can be planted without touching the original. */
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const copied = [
  'packages',
  'e2e',
  'package.json',
  'vitest.config.ts',
  'tsconfig.base.json',
  'tsconfig.check.json',
  'tsconfig.json',
];
const left = new Set(['node_modules', 'dist', 'coverage', '.cairn']);

export interface Workbench extends AsyncDisposable {
  readonly root: string;
}

export async function openWorkbench(repository: string): Promise<Workbench> {
  const root = await mkdtemp(join(tmpdir(), 'cairn-planted-'));
  const filter = (source: string): boolean => !left.has(basename(source));
  for (const name of copied) await cp(join(repository, name), join(root, name), { recursive: true, filter });
  await linkModules(join(repository, 'node_modules'), root);
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

/** Links shared dependencies. Our own packages must be the copies, or a defect in them would go unnoticed. */
async function linkModules(modules: string, root: string): Promise<void> {
  await mkdir(join(root, 'node_modules', '@cairn'), { recursive: true });
  for (const name of await readdir(modules)) {
    if (name === '@cairn' || name.startsWith('.vite')) continue;
    await symlink(join(modules, name), join(root, 'node_modules', name));
  }
  for (const name of await readdir(join(root, 'packages'))) {
    await symlink(join(root, 'packages', name), join(root, 'node_modules', '@cairn', name));
  }
}
