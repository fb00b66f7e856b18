/** Copies the demo packs into the host's build, because a package contains only files below its folder. */
import { cpSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = dirname(import.meta.dirname);
const target = join(root, 'packages/host/dist/packs');

rmSync(target, { recursive: true, force: true });
cpSync(join(root, 'packs'), target, { recursive: true });
