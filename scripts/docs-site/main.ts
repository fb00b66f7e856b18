/**
 * `npm run docs:site`: writes the documentation as a static site, into the folder of the first argument or `dist/docs`, and
 * into the package of the host, which serves it at `/docs`. With `--if-stale`, only the latter, and only if a page is newer.
 */
import { cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildSite, buildStaleSite, hostFolder } from './build-site.ts';

const [first] = process.argv.slice(2);
if (first === '--if-stale') await buildStaleSite();
else {
  const folder = first === undefined ? join(import.meta.dirname, '../../dist/docs') : resolve(first);
  const pages = await buildSite(folder);
  rmSync(hostFolder, { recursive: true, force: true });
  cpSync(folder, hostFolder, { recursive: true });
  process.stdout.write(`${pages.length} pages in ${folder}\n`);
}
