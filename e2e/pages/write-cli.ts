/** `npm run docs:cli`: writes the page of the command line. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliPage } from './cli-page.ts';

writeFileSync(join(import.meta.dirname, '../../docs/reference/cli.md'), await cliPage());
