/**
 * Copies the demo packs and the pages of the errors into the host's build, because a package contains only files below
 * its folder.
 */
import { cpSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = dirname(import.meta.dirname);
const copies = { packs: 'packs', 'docs/errors': 'errors' };

for (const [source, name] of Object.entries(copies)) {
  const target = join(root, 'packages/host/dist', name);
  rmSync(target, { recursive: true, force: true });
  cpSync(join(root, source), target, { recursive: true });
}
